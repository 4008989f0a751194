"""What `nd.cuda.grad` returns, called from Python and from `@njit` code, as docs/cuda.md says."""

import math

import numpy as np
import pytest
from numba import njit

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device


def energy(x, k):
    return k * (x[0] * x[1] + math.sin(x[2]))


X = np.array([1.0, 2.0, 0.0])
VALUE, BY_X, BY_K = 6.0, [6.0, 3.0, 3.0], 2.0
both, valued = device.grad(energy, (0, 1)), device.value_and_grad(energy, 1)


def test_calls_from_python_and_from_compiled_code():
    place = np.empty(3)
    for call in both, njit(lambda *args: both(*args)):
        by_x, by_k = call(X, 3.0, place)
        assert by_x.tolist() == BY_X
        assert by_k == BY_K
        assert place.tolist() == BY_X
        place[:] = 0.0
    assert valued(X, 3.0) == (VALUE, BY_K)
    assert device.grad(energy, tape=None)(X, 3.0, place, np.empty(100)).tolist() == BY_X
    assert device.grad(lambda p: p[0] * p[1])((2.0, 3.0)) == (3.0, 2.0)
    with nd.debug():
        assert device.grad(energy)(X, 3.0, place).tolist() == BY_X


def test_what_does_not_fit_is_refused():
    with pytest.raises(nd.ArgumentError, match="3 arguments here.*gradient by 'x'; 2 are given"):
        device.grad(energy)(X, 3.0)
    room = np.full(3, -1.0)
    with pytest.raises(nd.ArgumentError, match="gradient by 'x' must have its shape"):
        device.grad(energy)(X, 3.0, room[:2])
    assert room.tolist() == [-1.0] * 3
