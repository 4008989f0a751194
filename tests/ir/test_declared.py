"""Types of variables that `njit(locals=...)` declares."""

import numpy as np
import pytest
from numba import njit

import numbad as nd


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_types_of_locals_are_kept(mode):
    import numba

    @njit(
        locals={"y": numba.float32, "k": numba.int32, "part": numba.float64[:], "x": numba.float64}
    )
    def f(x, a):
        y = x * 1.1
        k = x * 2.0
        part = a
        for i in range(part.size):
            y += part[i] * k
        return y * x

    a, x = np.array([0.25, 0.5]), 1.7
    value, (by_x, by_a) = nd.value_and_grad(f, (0, 1), mode=mode)(x, a)
    assert value == f(x, a)
    assert value != f.py_func(x, a)  # single precision, and k is 3
    assert by_x == pytest.approx(2 * 1.1 * x + 3 * 0.75, rel=1e-6)
    np.testing.assert_allclose(by_a, 3 * x, rtol=1e-6)
