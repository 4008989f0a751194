"""Arrays that are assigned to fields of records as a whole."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

PULSE = np.dtype([("data", "f8", (3,)), ("m", "f8", (2, 2))])
A = np.array([0.3, 0.7, 1.1])


def array_within(a):
    r, table = np.zeros(2, PULSE), np.zeros((2, 2))
    r[0]["data"] = a * a
    r[1]["data"] = r[0].data[::-1].copy()
    r[0]["data"] = a
    table[1, 0] = a[1]
    r[1]["m"] = table
    table[1, 0] = 7.0
    return r[0].data[0] * r[1].data[0] * r[1].m.sum()


def longer(a):
    r = np.zeros(1, PULSE)
    r[0]["data"] = np.append(a, a)
    return r[0].data[0]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gradients(mode):
    expected = A[0] * A[1] * A[2] ** 2
    assert njit(array_within)(A) == pytest.approx(expected, rel=1e-14)
    found = nd.grad(array_within, mode=mode)(A)
    np.testing.assert_allclose(found, expected * np.array([1, 1, 2]) / A, rtol=1e-14)


def test_another_shape_is_told():
    with pytest.raises(ValueError, match="have different shapes"):
        nd.grad(longer, mode="reverse")(A)
