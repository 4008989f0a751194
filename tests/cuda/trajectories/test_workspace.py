"""Losses of trajectories in a workspace of limited size: bit for bit those of one without limits."""

import math

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device
from numbad.cuda.trajectories import losses, workspace
from numbad.errors import DeviceError
from tests.cuda.trajectories.test_ensemble_call import END
from tests.cuda.twin_device import TwinDevice

from .test_losses import BOTH, RATES, assert_close, decay, decayed, end_squared

# Some trajectories take a handful of steps, some dozens.
SPREAD = np.geomspace(1e-3, 8.0, 70)


@pytest.mark.parametrize(("room", "bytes_at_once"), [(3, 2**30), (16, 16_000)])
@pytest.mark.dear
def test_trajectories_of_more_steps_than_there_is_room_for_go_again(
    room, bytes_at_once, monkeypatch, twin
):
    given, options = (decay, 2.0, END, SPREAD), {"derivatives": BOTH, "loss": end_squared}
    monkeypatch.setattr(losses, "STEPS", 2000)
    whole = device.ensemble(*given, **options)
    assert len(twin) == 4  # there, the loss, back, what failed
    monkeypatch.setattr(losses, "STEPS", room)
    monkeypatch.setattr(workspace, "LARGEST", bytes_at_once)
    found = device.ensemble(*given, **options)
    assert len(twin) > 4 + 4
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(one, other)
    assert_close(found, *decayed(np.full(70, 2.0), SPREAD), 1e-5)


def test_a_sample_says_how_many_steps_there_is_room_for(monkeypatch, twin):
    given, options = (decay, 2.0, END, SPREAD), {"derivatives": BOTH, "loss": end_squared}
    whole = device.ensemble(*given, **options)
    asked = []
    monkeypatch.setattr(
        workspace.Workspace, "reserve", watched(workspace.Workspace.reserve, asked.append)
    )
    monkeypatch.setattr(losses, "STEPS", 4)
    monkeypatch.setattr(losses, "SAMPLE", 35)
    twin.clear()
    found = device.ensemble(*given, **options)
    (first, *_), *_, (room, slots) = asked
    assert first == 4
    assert slots == 70
    assert 64 < room < 256  # as many as the longest takes, no power of four
    samples = len(asked) - 1
    assert len(twin) == samples + 4  # there, the loss, back, what failed, each once
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_sample_in_which_every_trajectory_raises_is_told(monkeypatch):
    def raising(t, y, k):
        if k > 0.0:
            raise ValueError("no rate")
        return -k * y

    monkeypatch.setattr(losses, "SAMPLE", 35)
    with pytest.raises(nd.IntegrationError, match="70 of 70 .*fun raised an exception"):
        device.ensemble(
            nd.ode.solver(raising), 2.0, END, SPREAD, derivatives=BOTH, loss=end_squared
        )


def watched(method, told):
    """A method that tells of what it is called with."""

    def call(self, *given):
        told(given)
        return method(self, *given)

    return call


def test_what_never_fits_is_told(monkeypatch):
    """Those of few steps are right."""
    monkeypatch.setattr(losses, "STEPS", 12)
    monkeypatch.setattr(losses, "MORE", 10**6)
    monkeypatch.setattr(workspace, "LARGEST", 50_000)
    with pytest.warns(nd.NumbadWarning, match=r"\d+ of 70 .*steps need more memory .*derivatives="):
        found = device.ensemble(decay, 2.0, END, SPREAD, derivatives=BOTH, loss=end_squared)
    fits = found.status == 0
    assert 5 < fits.sum() < 65
    assert fits[0]
    assert not fits[-1]
    assert np.isnan(found.values[~fits]).all()
    assert np.isnan(found.gradients[~fits]).all()
    values, gradients = decayed(np.full(70, 2.0), SPREAD)
    np.testing.assert_allclose(found.values[fits], values[fits], rtol=1e-6)
    np.testing.assert_allclose(found.gradients[fits], gradients[fits], rtol=1e-6)


@pytest.mark.dear
@pytest.mark.parametrize("method", ["RK4", "Tsit5"])
def test_a_small_workspace_and_portions_change_no_bit(method, monkeypatch, twin):
    step = {"first_step": 0.03} if method == "RK4" else {}
    solve = nd.ode.solver(lambda t, y, k: -k * y * math.cos(t), method=method, **step)
    given = solve, RATES[::-1], END, RATES
    whole = device.ensemble(*given, derivatives=BOTH, loss=end_squared)
    before = len(twin)
    monkeypatch.setattr(workspace, "LARGEST", 12_000 if method == "RK4" else 120_000)
    found = device.ensemble(*given, derivatives=BOTH, loss=end_squared, block=64)
    assert len(twin) - before > 2 * before
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_no_room_for_a_few_is_told_in_a_sentence(monkeypatch):
    solve = nd.ode.solver(lambda t, y, k: -k * y, method="RK4", first_step=1e-5)
    monkeypatch.setattr(TwinDevice, "memory", 10**6)
    with pytest.raises(
        DeviceError, match=r"keeps 100001 steps .*400\.1 KB.* has 500\.0 KB.*float32"
    ):
        device.ensemble(solve, 1.0, END, RATES, derivatives=BOTH, loss=end_squared)
