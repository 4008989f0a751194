"""Code that calls SciPy's C functions, by the addresses of one process, kept on disk for the next."""

import subprocess
import sys
from pathlib import Path

import pytest
import scipy.special as sp
from mpmath import mp

from tests.compilation.processes import environment, run

PROGRAM = Path(__file__).with_name("program.py")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    return [run(PROGRAM, folder) for _ in range(2)]


def several(x):
    return mp.erf(x) * mp.besselj(0.5, x) + mp.polygamma(1, x)


def test_values_are_the_same_in_both(runs):
    expected = {
        "gradient": float(mp.diff(several, 0.5)),
        "second": float(mp.diff(several, 0.5, 2)),
        "kept": sp.airy(0.5)[0] + sp.spherical_jn(2, 0.5),
    }
    for results in runs:
        found = {name: value for name, (value, *_) in results.items()}
        assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("name", ["gradient", "second", "kept"])
def test_the_second_process_compiles_nothing(runs, name):
    (_, lowered, optimised), (_, *again) = (results[name] for results in runs)
    assert lowered, "the counters count nothing"
    assert optimised, "the counters count nothing"
    assert again == [[], []]


NUMBAS_CACHE = """
import numba
import numbad as nd

@numba.njit(cache=True)
def f(x):
    return nd.special.erf(x)

print(f(0.5))
"""


@pytest.mark.dear
def test_numbas_own_cache_declines(tmp_path):
    """It would load the code in a process that knows no address for it."""
    program = tmp_path / "program.py"
    program.write_text(NUMBAS_CACHE, encoding="utf-8")
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(program)],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=True,
        )
        assert float(done.stdout) == sp.erf(0.5)
        assert "Cannot cache compiled function" in done.stderr
