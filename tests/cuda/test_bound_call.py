"""Calls of device operators that do not fit."""

import pytest
from numba import njit, types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")
import numbad.cuda as device

from .test_gradient import A, F, N, _compile, recurrence

pytestmark = pytest.mark.usefixtures("no_gpu")


@njit
def complex_valued(x):
    return x * 1j


@pytest.mark.parametrize(
    ("operator", "argtypes", "message"),
    [
        (device.grad(recurrence, 1), (F, A, N), "takes 4 arguments here.*gradient by 'p'.*3 are"),
        (device.grad(recurrence), (F, A, N, F), "takes 3 arguments here.*4 are given"),
        (device.grad(recurrence, 2), (F, A, N), "'n', which is an int"),
        (device.grad(recurrence, 1), (F, A, N, types.float32[::1]), "into an array of float64"),
        (device.grad(recurrence, 1), (F, A, N, F), "into an array of float64 with 1 axes; float64"),
        (device.grad(recurrence, tape=None), (F, A, N, types.float64[:]), "contiguous array"),
        (device.grad(complex_valued), (F,), "returns complex128"),
    ],
)
def test_calls_that_do_not_fit_are_refused(operator, argtypes, message):
    names = ", ".join("abcde"[: len(argtypes)])
    code = eval(f"lambda {names}: operator({names})", {"operator": operator})
    with pytest.raises(Exception, match=f"(?s){message}"):
        _compile(code, argtypes)
