"""Ensembles that do not fit the memory of a GPU at once: what is free there is what a test says."""

import io
import sys

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device
from numbad.cuda.trajectories.portions import portion, portions
from numbad.errors import DeviceError
from tests.cuda.trajectories.test_ensemble_call import explosion
from tests.cuda.trajectories.test_sde_march import KEY, brownian_solver
from tests.cuda.twin_device import Resident, TwinDevice

COUNT = 150
STARTS = np.linspace(0.5, 2.0, COUNT)
decay = nd.ode.solver(lambda t, y, k: -k * y, rtol=1e-8)
# A trajectory with one partial and two outputs: ys, slopes, stopped, status, and its row of y0s.
EACH = 8 * 2 + 8 * 2 + 8 + 4 + 8


def with_memory(monkeypatch, count, each=EACH):
    """Let so many trajectories fit, and not one more."""
    monkeypatch.setattr(TwinDevice, "memory", int((each * count + 1) / 0.9))


def test_as_many_as_fit():
    assert portion(1e9, 1000, 0, 8) == 1000
    assert portion(10_000, 1000, 0, 10) == 900 - 900 % 32  # a tenth is left free
    assert portion(10_000, 1000, 3000, 10) == 576
    assert portion(1000, 20, 0, 45) == 20
    assert portions(10, 4) == [(0, 4), (4, 4), (8, 2)]
    assert portions(4, 4) == [(0, 4)]


def test_what_does_not_fit_is_told_in_a_sentence():
    with pytest.raises(DeviceError, match=r"3\.2 MB .* for 32 traj.* 1\.0 MB are free.*fewer"):
        portion(1e6, 1000, 0, 1e5)
    with pytest.raises(DeviceError, match=r"for 1000 traj.*because"):
        portion(1e6, 1000, 0, 1e4, "because")
    with pytest.raises(DeviceError, match=r"5 bytes .* 0 bytes are free"):
        portion(0, 1, 0, 5)


@pytest.mark.parametrize("fits", [32, 64, 149, 150])
def test_portions_are_the_whole(fits, monkeypatch, twin):
    whole = device.ensemble(decay, STARTS, (0.0, 1.0), STARTS[::-1], derivatives="args")
    launches = len(twin)
    with_memory(monkeypatch, fits, EACH + 8)
    found = device.ensemble(decay, STARTS, (0.0, 1.0), STARTS[::-1], derivatives="args")
    count = len(portions(COUNT, fits - fits % 32 if fits < COUNT else fits))
    assert len(twin) - launches == 2 * count
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.ys.dtype == whole.ys.dtype
    np.testing.assert_allclose(found.ys[:, 1, 0], STARTS * np.exp(-STARTS[::-1]), rtol=1e-7)


@pytest.mark.dear
def test_a_path_keeps_its_number():
    """Of one key, path i is path i in whatever portion it is."""
    solve = brownian_solver("EulerMaruyama", 0.25)
    whole = device.ensemble(solve, 1.0, (0.0, 1.0), (STARTS, 0.4), KEY)
    found = device.ensemble(solve, 1.0, (0.0, 1.0), (STARTS, 0.4), KEY, block=40)
    np.testing.assert_array_equal(found.ys, whole.ys)
    for i in (0, 39, 40, 149):
        alone = solve(1.0, (0.0, 1.0), (STARTS[i], 0.4), (KEY, i))
        np.testing.assert_allclose(found.ys[i], alone, rtol=1e-12)


def test_means_over_portions():
    solve = brownian_solver("EulerMaruyama", 0.25)
    given = solve, STARTS, (0.0, 1.0), (0.1, 0.4), KEY
    whole = device.ensemble(*given, derivatives="args", reduce="mean")
    found = device.ensemble(*given, derivatives="args", reduce="mean", block=64)
    for one, other in zip(found[:3], whole[:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
    assert found[3:] == whole[3:] == (COUNT, -1)
    again = device.ensemble(*given, derivatives="args", reduce="mean", block=64)
    assert (found.mean == again.mean).all()


def test_failures_are_counted_over_portions():
    y0s = np.full(100, 0.5)
    y0s[[41, 90]] = 1.6, 3.0
    with pytest.warns(nd.NumbadWarning, match=r"2 of 100.*first is number 41: .* at t = 0\.62"):
        found = device.ensemble(explosion, y0s, (0.0, 1.0), block=40)
    assert np.flatnonzero(found.status).tolist() == [41, 90]
    y0s[:40] = 2.0  # a whole portion that fails leaves nothing to average there
    with pytest.warns(nd.NumbadWarning, match="42 of 100"):
        found = device.ensemble(explosion, y0s, (0.0, 1.0), reduce="mean", block=40)
    assert (found.paths, found.failed) == (58, 0)
    np.testing.assert_allclose(found.mean[:, 0], [0.5, 1.0], rtol=1e-5)
    np.testing.assert_allclose(found.error[:, 0], 0.0, atol=1e-12)


def test_all_that_fail_raise_after_the_last_portion():
    with pytest.raises(nd.IntegrationError, match=r"70 of 70 .* number 0"):
        device.ensemble(explosion, np.full(70, 2.0), (0.0, 1.0), block=32)


def test_arrays_on_the_gpu_come_back_whole(monkeypatch):
    with_memory(monkeypatch, 149, 8 * 2 + 8 + 4)
    with pytest.raises(DeviceError, match="for 150 trajectories.*y0s and args as NumPy"):
        device.ensemble(decay, Resident(STARTS), (0.0, 1.0), 1.0)
    # Reduced, they go in portions: rows are read where they lie.
    monkeypatch.setattr(TwinDevice, "memory", 10**9)
    found = device.ensemble(decay, Resident(STARTS), (0.0, 1.0), 1.0, reduce="mean", block=64)
    np.testing.assert_allclose(found.mean[1], STARTS.mean() * np.exp(-1.0), rtol=1e-7)


def test_quantiles_need_all_at_once(monkeypatch):
    with_memory(monkeypatch, 100)
    with pytest.raises(DeviceError, match="for 150 trajectories.*Quantiles need all"):
        device.ensemble(decay, STARTS, (0.0, 1.0), 1.0, reduce=device.quantiles(0.5))


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("options", "shown"), [({}, True), ({"progress": False}, False)])
def test_progress_is_shown_of_several_portions(options, shown, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    device.ensemble(decay, STARTS, (0.0, 1.0), 1.0)
    assert sys.stderr.getvalue() == ""
    device.ensemble(decay, STARTS, (0.0, 1.0), 1.0, block=64, **options)
    assert ("150/150" in sys.stderr.getvalue()) is shown


def test_a_block_is_not_made_smaller(monkeypatch):
    """The bits of a mean depend on it."""
    with_memory(monkeypatch, 50, 8 * 2 + 8 + 4 + 8)
    with pytest.raises(DeviceError, match="for 64 trajectories.*smaller block"):
        device.ensemble(decay, STARTS, (0.0, 1.0), 1.0, block=64)


@pytest.mark.parametrize("block", [0, 1.5, True])
def test_a_block_is_a_number_of_trajectories(block):
    with pytest.raises(nd.ArgumentError, match="number of trajectories"):
        device.ensemble(decay, STARTS, (0.0, 1.0), 1.0, block=block)
