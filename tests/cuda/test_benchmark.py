"""The table that is printed on a GPU: a row that fails says why; all of it runs on the CPU, too."""

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

from asv_bench.benchmarks import cuda as benchmark
from asv_bench.benchmarks import cuda_peers

from .on_cpu import CAPABILITY
from .twin_device import Resident

pytestmark = pytest.mark.usefixtures("twin")


def test_rows_tell_what_failed_and_go_on(capsys):
    table = benchmark.Table()
    table.time("one", lambda: lambda: None, 1e9)
    table.time("other", lambda: 1 / 0)
    table.ratio("one over the other", "one", "other")
    table.ratio("one over itself", "one", "one", 2.0)
    table.row("few", lambda: 3.0, 4.0, at_least=True)
    first, second, third, fourth = capsys.readouterr().out.splitlines()
    assert first.startswith("one, ms")
    assert "failed: ZeroDivisionError: division by zero" in second
    assert third.endswith("must be at most 2")
    assert fourth.endswith("must be at least 4   MISSED")
    assert table.missed == 2


@pytest.mark.deep
@pytest.mark.parametrize("name", ["fixed", "adaptive"])
def test_jax_integrates_the_same(name):
    pytest.importorskip("jax")
    rhos = np.linspace(0.0, 21.0, 5)
    found = cuda_peers.by_jax(name, "float64", rhos)()
    solve = benchmark.solvers()[name]
    exact = [solve((1.0, 0.0, 0.0), (0.0, 1.0), (10.0, r, 8.0 / 3.0))[-1] for r in rhos]
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-8)


@pytest.mark.deep
@pytest.mark.skipif(
    cuda.is_available(), reason="there is a GPU, on which the benchmark itself runs"
)
def test_every_row_but_those_of_the_driver(monkeypatch, capsys):
    """The kernel written by hand alone needs a GPU."""
    card = type("Card", (), {"name": b"Twin", "compute_capability": CAPABILITY})
    monkeypatch.setattr(cuda, "get_current_device", lambda: card)
    monkeypatch.setattr(cuda, "to_device", Resident)
    monkeypatch.setattr(benchmark, "TRAJECTORIES", 6400)
    monkeypatch.setattr(benchmark, "PATHS", 12800)
    monkeypatch.setattr(benchmark, "REPEATS", 1)
    assert benchmark.timings(quick=True) == 0
    printed = capsys.readouterr().out
    failed = [line for line in printed.splitlines() if "failed:" in line]
    assert all(line.startswith("by hand") for line in failed)
    assert "relative distance from the CPU" in printed
    assert "MISSED" not in "".join(x for x in printed.splitlines() if "distance" in x)
