"""The tape of a gradient on a GPU: what fits, what does not, and where it is."""

import numpy as np
import pytest
from numba import types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")
import numbad.cuda as device
from numbad.errors import ArgumentError, TapeLimitError

from .test_gradient import P, X, exact, recurrence, recurrence_on_cpu

pytestmark = pytest.mark.usefixtures("no_gpu")


# -- the tape ---------------------------------------------------------------------------------


def test_a_full_tape_gives_nan_throughout():
    run = recurrence_on_cpu(tape=1600)
    dp = np.zeros(2)
    assert not np.isnan(run(X, P, 3, dp)[1]).any()
    assert not np.isnan(dp).any()
    code, found = run(X, P, 1000, dp)
    assert code == 0
    assert np.isnan([*found, *dp]).all()
    code, found = run(X, P, 3, dp)  # nothing of it stays
    np.testing.assert_allclose([*found, *dp], exact(recurrence, (X, P, 3), (0, 1)), rtol=1e-12)


def test_a_tape_holds_exactly_as_many_iterations_as_fit():
    run, dp = recurrence_on_cpu(tape=1600), np.zeros(2)
    full = [n for n in range(300) if np.isnan(run(X, P, n, dp)[1]).any()]
    assert full == list(range(full[0], 300))
    assert 8 <= 1600 / (full[0] - 1) < 40  # bytes an iteration


def test_a_full_tape_raises_in_debug_mode():
    run = recurrence_on_cpu(tape=1600, debug=True)
    assert run(X, P, 3, np.zeros(2))[0] == 0
    code, _ = run(X, P, 1000, np.zeros(2))
    raised, (message,), _ = run.exceptions[code]
    assert raised is TapeLimitError
    assert "tape=" in message


@pytest.mark.parametrize("dtype", [types.uint8, types.float64])
def test_the_tape_may_be_a_slice_of_a_workspace(dtype):
    run = recurrence_on_cpu(None, workspace=dtype[::1])
    memory = np.zeros(20_000 // dtype.bitwidth * 8, f"{dtype}")
    dp = np.zeros(2)
    before, room, after = memory[:3], memory[3:-3], memory[-3:]
    _, found = run(X, P, 100, dp, room)
    np.testing.assert_allclose([*found, *dp], exact(recurrence, (X, P, 100), (0, 1)), rtol=1e-12)
    for size in (0, 1, 90):
        assert np.isnan(run(X, P, 100, dp, room[:size])[1]).all()
    run(X, P, 10_000, dp, room)
    assert not before.any()
    assert not after.any()
    skipped = -room.ctypes.data % 8  # a GPU reads aligned words only
    assert not room[:skipped].any()


@pytest.mark.parametrize("tape", [0, -8, 1.5, True, "16K"])
def test_wrong_sizes_of_tapes_are_refused(tape):
    with pytest.raises(ArgumentError, match="expected bytes"):
        device.grad(recurrence, tape=tape)
