"""`vjp`: structures, layouts, arguments that the function writes to, complex numbers, wrong use."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import numbad as nd

Point = namedtuple("Point", "x y n")


@njit
def product(x, y):
    return x * x * y


@njit
def outer(a, s):
    out = np.empty((a.size, 2))
    for i in range(a.size):
        out[i, 0] = s * a[i]
        out[i, 1] = a[i] * a[i]
    return out


@njit
def mixed(p, a, weights, count):
    out = np.zeros(count)
    for i in range(count):
        out[i] = weights[0] * math.exp(a[i] * p.x) + weights[1][0] * p.y
    return out, a[0] * p.x, count, "label"


@njit
def rhs(t, y, dy, p):
    dy[0] = p[0] * y[0] * y[1]
    dy[1] = t * p[1] * y[1]


outer_pull = nd.vjp(outer)


def test_the_cotangents_of_scalars():
    assert nd.vjp(product)((3.0, 2.0), 1.0) == (18.0, (12.0, 9.0))
    assert nd.vjp(product, argnums=1)((3.0, 2.0), 2.0) == (18.0, (18.0,))
    assert nd.vjp(product, argnums=(1, 0))((3.0, 2.0), 1) == (18.0, (9.0, 12.0))
    assert nd.vjp(lambda x, y: (x * y, x + y))((2.0, 3.0), (1.0, 10.0)) == (
        (6.0, 5.0),
        (13.0, 12.0),
    )


def test_every_structure():
    a, p, weights = np.array([0.5, -1.0, 2.0]), Point(0.3, 1.2, 3), (1.5, (0.2,))
    c = np.array([1.0, -2.0, 0.5])
    value, cotangents = nd.vjp(mixed)((p, a, weights, 3), (c, 2.0, None, None))
    e = np.exp(0.3 * a)
    np.testing.assert_allclose(value[0], 1.5 * e + 0.24, rtol=1e-15)
    assert value[1:] == (0.15, 3, "label")
    by_p, by_a, by_weights, by_count = cotangents
    assert type(by_p) is Point
    assert by_p == pytest.approx(Point(np.sum(c * 1.5 * a * e) + 1.0, 0.2 * c.sum(), 0), rel=1e-14)
    np.testing.assert_allclose(by_a, c * 1.5 * 0.3 * e + 2.0 * np.array([0.3, 0, 0]), rtol=1e-14)
    assert by_weights[0] == pytest.approx(np.sum(c * e), rel=1e-14)
    assert by_weights[1] == pytest.approx((1.2 * c.sum(),), rel=1e-14)
    assert by_count == 0
    assert type(by_count) is int


def test_constants_have_cotangents_of_their_own_type():
    @njit
    def constants(x, k, flag, label, ids):
        return x * k if flag else x

    _, found = nd.vjp(constants)((2.0, 3, True, "s", np.arange(2)), 1.0)
    assert found[:4] == (3.0, 0, False, None)
    assert type(found[2]) is bool
    assert found[4].dtype == np.int64
    np.testing.assert_array_equal(found[4], [0, 0])


def test_defaults_take_part():
    def power(x, scale=2.0, n=3):
        return x**n * scale

    assert nd.vjp(power)((2.0,), 1.0) == (16.0, (24.0, 8.0, 0))
    assert nd.vjp(power, argnums=1)((2.0, 5.0), 1.0) == (40.0, (8.0,))


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "ints", "read-only"])
def test_cotangents_of_any_layout_are_read_only(layout):
    c = np.arange(1.0, 7.0).reshape(3, 2)
    c = {
        "C": c,
        "F": np.asfortranarray(c),
        "strided": np.repeat(c, 2, axis=1)[:, ::2],
        "reversed": c[::-1].copy()[::-1],
        "ints": c.astype(np.int64),
        "read-only": c.copy(),
    }[layout]
    c.setflags(write=layout != "read-only")
    before, a = c.copy(), np.array([1.0, 2.0, 3.0])
    value, (by_a, by_s) = outer_pull((a, 5.0), c)
    np.testing.assert_array_equal(value, np.stack([5 * a, a * a], axis=1))
    np.testing.assert_array_equal(by_a, 5.0 * c[:, 0] + 2 * a * c[:, 1])
    assert by_s == a @ c[:, 0]
    np.testing.assert_array_equal(c, before)


def test_nothing_aliases():
    @njit
    def same(a):
        return a

    a, c = np.ones(3), np.array([1.0, 2.0, 3.0])
    _, (found,) = nd.vjp(same)((a,), c)
    np.testing.assert_array_equal(found, c)
    for array in (a, c):
        assert not np.shares_memory(found, array)
    found[:] = 7.0
    np.testing.assert_array_equal(c, [1.0, 2.0, 3.0])

    @njit
    def twice(a):
        return a, a

    _, (found,) = nd.vjp(twice)((a,), (c, c))
    np.testing.assert_array_equal(found, 2 * c)


def test_an_argument_that_holds_the_result():
    y, p, dy = np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.full(2, np.nan)
    w = np.array([1.0, 10.0])
    value, (by_t, by_y, by_dy, by_p) = nd.vjp(rhs, out=2)((2.0, y, dy, p), w)
    np.testing.assert_array_equal(value, [6.0, 16.0])
    np.testing.assert_array_equal(dy, [6.0, 16.0])
    assert by_t == 80.0
    np.testing.assert_array_equal(by_y, [6.0, 83.0])
    np.testing.assert_array_equal(by_dy, [0.0, 0.0])  # what was there before plays no part
    np.testing.assert_array_equal(by_p, [2.0, 40.0])
    _, (by_y,) = nd.vjp(rhs, argnums=1, out=2)((2.0, y, dy, p), w)
    np.testing.assert_array_equal(by_y, [6.0, 83.0])
    np.testing.assert_array_equal(w, [1.0, 10.0])

    @njit
    def accumulate(x, total):
        total[0] += x * x
        total[1] *= x

    _, (by_x, by_total) = nd.vjp(accumulate, out=1)((3.0, np.array([5.0, 7.0])), np.ones(2))
    assert by_x == 13.0
    np.testing.assert_array_equal(by_total, [1.0, 3.0])


def test_an_argument_that_the_function_changes():
    @njit
    def accumulate(x):
        for i in range(1, x.size):
            x[i] = 0.5 * x[i - 1] + x[i] * x[i]
        return x[-1]

    start = np.linspace(1.0, 2.0, 5)
    plain, given = start.copy(), start.copy()
    accumulate(plain)
    value, (found,) = nd.vjp(accumulate)((given,), 1.0)
    assert value == plain[-1]
    np.testing.assert_array_equal(given, plain)
    np.testing.assert_allclose(
        found, [0.5**4, *(2 * start[i] * 0.5 ** (4 - i) for i in range(1, 5))]
    )


def test_a_work_array_that_is_not_differentiated_by():
    @njit
    def through(x, work):
        work[0] = x * x
        work[1] = work[0] * x
        return work[1] + work[0]

    work = np.zeros(2)
    assert nd.grad(through, mode="reverse")(2.0, work) == 16.0
    np.testing.assert_array_equal(work, [4.0, 8.0])
    assert nd.vjp(through, argnums=0)((2.0, work), 1.0) == (12.0, (16.0,))


def test_complex_numbers_follow_the_convention_of_jax():
    z, w = 0.3 + 0.4j, 1.5 - 0.5j

    @njit
    def holomorphic(z):
        return z * z * z

    value, (found,) = nd.vjp(holomorphic)((z,), w)
    assert value == pytest.approx(z**3)
    assert found == pytest.approx(w * 3 * z**2, rel=1e-15)

    @njit
    def squared_modulus(z):
        return z.real * z.real + z.imag * z.imag

    # df/dx - i df/dy of x^2 + y^2
    assert nd.grad(squared_modulus)(z) == pytest.approx(2 * z.conjugate(), rel=1e-15)

    @njit
    def of_a_float(x):
        return (x + 2.0j) * x

    _, (found,) = nd.vjp(of_a_float)((1.5,), w)
    assert type(found) is float
    assert found == pytest.approx((w * (3.0 + 2.0j)).real, rel=1e-15)


def test_float32_stays_float32():
    a = np.array([1.5, 2.5], dtype=np.float32)
    value, (found, by_s) = nd.vjp(outer)((a, np.float32(2.0)), np.ones((2, 2)))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, 2.0 + 2.0 * a)
    assert by_s == 4.0
    gradient = nd.grad(lambda a: a[0] * a[1], mode="reverse")(a)
    assert gradient.dtype == np.float32


def test_empty_arrays():
    value, (by_a, by_s) = outer_pull((np.zeros(0), 5.0), np.zeros((0, 2)))
    assert value.shape == (0, 2)
    assert by_a.shape == (0,)
    assert by_s == 0.0


@pytest.mark.parametrize(
    "cotangent",
    [1.0, np.ones(3), (np.ones((3, 2)),), "text", np.ones((3, 2)) * 1j],
    ids=["float", "vector", "tuple", "text", "complex"],
)
def test_a_cotangent_of_another_structure(cotangent):
    with pytest.raises(nd.ArgumentError, match="must have the structure of the result of outer"):
        outer_pull((np.ones(3), 2.0), cotangent)


@pytest.mark.parametrize("shape", [(2, 2), (4, 2), (3, 1), (0, 2), (3, 3)])
def test_a_cotangent_of_another_shape(shape):
    with pytest.raises(nd.ArgumentError, match="must have the shape of the result"):
        outer_pull((np.ones(3), 2.0), np.ones(shape))
    y = np.ones(2)
    with pytest.raises(nd.ArgumentError, match="shape of the argument that out= names"):
        nd.vjp(rhs, out=2)((2.0, y, y.copy(), y.copy()), np.ones(3))


def test_primals_that_do_not_fit():
    with pytest.raises(nd.ArgumentError, match="primals is the tuple of all arguments"):
        nd.vjp(product)(3.0, 1.0)
    with pytest.raises(nd.ArgumentError, match="no value for argument 'y'"):
        nd.vjp(product)((3.0,), 1.0)
    with pytest.raises(nd.ArgumentError, match="3 primals for a function of x, y"):
        nd.vjp(product)((3.0, 2.0, 1.0), 1.0)
    with pytest.raises(nd.ArgumentError, match="argument 'x', which is an int"):
        nd.vjp(product, argnums=0)((3, 2.0), 1.0)
    with pytest.raises(nd.ArgumentError, match="returns numbers.*out="):
        nd.vjp(rhs)((2.0, np.ones(2), np.ones(2), np.ones(2)), 1.0)
    with pytest.raises(nd.ArgumentError, match="out=0 names 't', which is no array"):
        nd.vjp(rhs, out=0)((2.0, np.ones(2), np.ones(2), np.ones(2)), np.ones(2))
    with pytest.raises(nd.ArgumentError, match="has 2 argument"):
        nd.vjp(product, argnums=2)


def test_arguments_that_share_memory():
    def changes_first(a, b):
        a[0] = 2.0 * a[1] + b[1]
        return a[0] * b[0]

    x = np.array([1.0, 3.0, 2.0])
    with pytest.raises(nd.ArgumentError, match="'a' and 'b', which share memory"):
        nd.vjp(changes_first)((x[:2], x[1:]), 1.0)
    np.testing.assert_array_equal(x, [1.0, 3.0, 2.0])
