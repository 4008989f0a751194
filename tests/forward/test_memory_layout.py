"""What a program learns of how its arrays lie in memory: as the primal, or refused."""

import cmath

import numba
import numpy as np
import pytest

import numbad as nd


def facts(a, m, b):
    """Sizes, strides, types and texts, each with a weight of its own."""
    r = 1.0 * a.itemsize + 10.0 * a.nbytes + 100.0 * m.strides[0] + 1e4 * m.T.strides[0]
    r += 1e6 * m[::2, 1:].strides[0] + 1e8 * (a.dtype == b.dtype)
    r += 4e8 * np.isscalar(a[0]) + 1e9 * len(str(a[0])) + 1e10 * len(repr(a[0]))
    return r * a[1] * a[1]


@pytest.mark.deep(but=["other0"])
@pytest.mark.parametrize("other", [np.ones(2), np.ones(2, np.float32), np.ones(2, np.int64)])
def test_facts_are_those_of_the_primal(other):
    a, m = np.array([0.5, 1.5]), np.ones((3, 4))
    value, gradient = nd.value_and_grad(facts, mode="forward")(a, m, other)
    expected = numba.njit(facts)(a, m, other)
    assert value == expected
    np.testing.assert_allclose(gradient, [0.0, 2.0 * expected / a[1]], rtol=1e-14)


def test_facts_are_those_of_the_primal_in_second_order():
    a, m = np.array([0.5, 1.5]), np.ones((3, 4))
    inner = nd.grad(facts, mode="forward")
    second = nd.jacobian(inner, mode="forward")(a, m, a)
    expected = 2.0 * numba.njit(facts)(a, m, a) / a[1] ** 2
    np.testing.assert_allclose(second, [[0.0, 0.0], [0.0, expected]], rtol=1e-14)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: a[0] * a.view(np.int64)[1],
        lambda a: a[0] * a.tobytes()[1],
        lambda a: a[0] * np.frombuffer(a, np.float64)[1],
        lambda a: a[0] * np.lib.stride_tricks.as_strided(a, (3, 2), (8, 8))[1, 1],
        lambda a: a[0] * (a.ctypes.data % 8),
    ],
    ids=["view", "tobytes", "frombuffer", "as_strided", "ctypes"],
)
def test_the_memory_of_a_differentiated_array_is_not_read(f):
    with pytest.raises(nd.UnsupportedError, match=r"array\(differentiated float64"):
        nd.grad(f, mode="forward")(np.array([0.9, 2.1, 0.4, 1.7]))


def of_constants(x, data):
    whole = np.lib.stride_tricks.as_strided(data, shape=(3, 2), strides=data.strides + data.strides)
    ints = np.frombuffer(data, dtype=np.int64).view(np.float64)
    return x * (whole[1, 1] + ints[3] + data.tobytes()[7] + (data.ctypes.data > 0))


def test_the_memory_of_constants_is():
    data = np.array([0.9, 2.1, 0.4, 1.7])
    constant = 0.4 + 1.7 + data.tobytes()[7] + 1
    assert nd.value_and_grad(of_constants, mode="forward")(2.0, data) == pytest.approx(
        (2.0 * constant, constant), rel=1e-15
    )


def complex_parts(x):
    r, phi = cmath.polar(complex(x, 0.4))
    z = cmath.rect(x, x * x)
    quotient, rest = np.divmod(7.0 * x, 1.9)
    return (r, phi, z.real, z.imag, quotient, rest)


def test_polar_rect_and_divmod_of_numpy():
    x = 0.7
    found = nd.derivative(complex_parts)(x)
    square = x * x + 0.16
    rotated = cmath.exp(1j * x * x) * (1.0 + 2j * x * x)  # d/dx of x exp(i x^2)
    expected = (x / square**0.5, -0.4 / square, rotated.real, rotated.imag, 0.0, 7.0)
    assert found == pytest.approx(expected, rel=1e-14)
