"""`type(x)` of numbers and of elements, where they may be dual numbers."""

import numba
import numpy as np
import pytest

import numbad as nd
from tests.forward.test_given_code import MODES


@numba.njit
def by_class(x, a):
    T, U = type(x), a.dtype.type
    b = np.zeros(2, T)
    b[0] = T(2) / T(a[0])
    return T(x) * b[0] + T(1) + type(a[1])(a[1]) * U(0.5)


@pytest.mark.deep(but=["float32-*"])
@MODES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_class_of_a_number(mode, dtype):
    x, a = dtype(1.5), np.array([2.0, 3.0], dtype)
    value, (dx, da) = nd.value_and_grad(by_class, argnums=(0, 1), mode=mode)(x, a)
    assert value == by_class(x, a)
    assert dx == pytest.approx(1.0)
    assert da == pytest.approx([-0.75, 0.5])
    assert da.dtype == dtype
