"""Shapes and structures of every operator's result, against closed forms."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import numbad as nd

Point = namedtuple("Point", "x y")
Mixed = namedtuple("Mixed", "rate count label")


@njit
def product(x, y):
    return x * x * y


@njit
def cubes(a):
    total = 0.0
    for i in range(a.size):
        total += a[i] ** 3
    return total


@njit
def squares(a):
    return a * a


@njit
def entries(m):
    return (m * m).sum()


def test_argnums_give_a_float_or_a_tuple():
    assert nd.grad(product)(3.0, 2.0) == 12.0
    assert nd.grad(product, argnums=1)(3.0, 2.0) == 9.0
    assert nd.grad(product, argnums=-1)(3.0, 2.0) == 9.0
    assert nd.grad(product, argnums=(1, 0))(3.0, 2.0) == (9.0, 12.0)
    assert nd.grad(product, argnums=(1,))(3.0, 2.0) == (9.0,)
    assert nd.value_and_grad(product, argnums=(0, 1))(3.0, 2.0) == (18.0, (12.0, 9.0))


@pytest.mark.parametrize("size", [0, 1, 2, 15, 16, 17, 32, 33])
def test_gradients_at_the_borders_of_passes(size):
    a = np.linspace(-1.0, 2.0, size)
    value, gradient = nd.value_and_grad(cubes)(a)
    np.testing.assert_allclose(value, (a**3).sum(), atol=1e-13)
    np.testing.assert_allclose(gradient, 3 * a**2, rtol=1e-14)
    np.testing.assert_allclose(nd.jacobian(squares)(a), np.diag(2 * a), rtol=1e-14)


@pytest.mark.parametrize("chunk", [1, 3, 7])
def test_chunks_do_not_change_the_result(chunk):
    a = np.linspace(-1.0, 2.0, 10)
    np.testing.assert_allclose(nd.grad(cubes, chunk=chunk)(a), 3 * a**2, rtol=1e-14)
    np.testing.assert_allclose(nd.jacobian(squares, chunk=chunk)(a), np.diag(2 * a))


def test_more_scalars_than_travel_in_one_pass():
    @njit
    def weighted(t):
        total = 0.0
        for i in range(20):
            total += (i + 1) * t[i] ** 2
        return total

    t = tuple(0.1 * i for i in range(20))
    expected = [2 * (i + 1) * t[i] for i in range(20)]
    np.testing.assert_allclose(nd.grad(weighted)(t), expected, rtol=1e-14)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed"])
def test_arrays_of_any_layout(layout):
    m = np.arange(12.0).reshape(3, 4)
    m = {"C": m, "F": np.asfortranarray(m), "strided": m[:, ::2], "reversed": m[::-1]}[layout]
    before = m.copy()
    np.testing.assert_array_equal(nd.grad(entries)(m), 2 * m)
    np.testing.assert_array_equal(m, before)


def test_a_jacobian_has_the_axes_of_result_and_argument():
    @njit
    def outer(v, s):
        out = np.zeros((v.size, 2))
        for i in range(v.size):
            out[i, 0] = s * v[i]
            out[i, 1] = v[i] * v[i]
        return out

    v = np.array([1.0, 2.0, 3.0])
    by_v, by_s = nd.jacobian(outer, argnums=(0, 1))(v, 5.0)
    assert by_v.shape == (3, 2, 3)
    assert by_s.shape == (3, 2)
    np.testing.assert_array_equal(by_v[:, 0], 5.0 * np.eye(3))
    np.testing.assert_array_equal(by_v[:, 1], np.diag(2 * v))
    np.testing.assert_array_equal(by_s, np.stack([v, 0 * v], axis=1))


def test_tuples_and_namedtuples_keep_their_structure():
    @njit
    def norm(p):
        return math.hypot(p.x, p.y)

    gradient = nd.grad(norm)(Point(3.0, 4.0))
    assert type(gradient) is Point
    assert gradient == pytest.approx(Point(0.6, 0.8))

    @njit
    def mixed(m, nested):
        return m.rate**m.count * nested[0][0] * nested[1].sum()

    weights = np.array([1.0, 2.0])
    by_m, by_nested = nd.grad(mixed, argnums=(0, 1))(Mixed(2.0, 3, "hare"), ((5.0,), weights))
    assert by_m == Mixed(12.0 * 5.0 * 3.0, 0, None)
    assert type(by_m.count) is int
    assert by_nested[0] == (24.0,)
    np.testing.assert_array_equal(by_nested[1], [40.0, 40.0])


def test_results_in_tuples():
    @njit
    def several(x, n):
        return x**n, (np.array([x, 2 * x]), n), "label"

    derivative = nd.derivative(several)(2.0, 3)
    assert derivative[0] == 12.0
    np.testing.assert_array_equal(derivative[1][0], [1.0, 2.0])
    assert derivative[1][1] == 0.0
    assert derivative[2] is None
    value, jacobian = nd.value_and_jacobian(several)(2.0, 3)
    assert value[0] == 8.0
    assert value[2] == "label"
    assert jacobian[0] == 12.0


@njit
def of_pair(p, s):
    """`p.x` is an array, `p.y` a float."""
    return Point(p.x[0] * p.y, (s * p.x, 7, np.outer(p.x, p.x)))


@njit
def sum_of_parts(jacobian):
    by_p, by_s = jacobian.y[0]
    return by_p.x.sum() + by_p.y.sum() + by_s.sum() + jacobian.x[0].y


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_the_structure_of_the_result_holds_that_of_the_arguments(mode):
    jacobian = nd.jacobian(of_pair, argnums=(0, 1), mode=mode)
    x, y, s = np.array([2.0, 3.0]), 5.0, 7.0
    first = 2.0  # of x
    found = jacobian(Point(x, y), s)
    eye, zeros = np.eye(2), np.zeros(2)
    by_outer = np.einsum("ik,j->ijk", eye, x) + np.einsum("jk,i->ijk", eye, x)
    expected = Point(
        (Point(np.array([y, 0.0]), first), 0.0),
        (
            (Point(s * eye, zeros), x),
            (Point(zeros, 0.0), 0.0),
            (Point(by_outer, np.zeros((2, 2))), np.zeros((2, 2))),
        ),
    )
    assert_same_structure(found, expected)

    @njit
    def total(p, s):
        return sum_of_parts(jacobian(p, s))

    assert total(Point(x, y), s) == 2 * s + x.sum() + first


def assert_same_structure(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_same_structure(one, other)
    else:
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_of_tuples_differentiated_again(mode):
    @njit
    def several(v, s):
        return v[0] * v[1] * s, (s * s * v,)

    first = nd.jacobian(several, argnums=(0, 1), mode=mode)
    ((by_vv, by_vs), (by_sv, by_ss)), (((d_vv, d_vs), (d_sv, d_ss)),) = nd.jacobian(
        first, argnums=(0, 1), mode=mode
    )(np.array([2.0, 3.0]), 5.0)
    np.testing.assert_array_equal(by_vv, [[0.0, 5.0], [5.0, 0.0]])
    np.testing.assert_array_equal(by_vs, [3.0, 2.0])
    np.testing.assert_array_equal(by_sv, [3.0, 2.0])
    assert by_ss == 0.0
    np.testing.assert_array_equal(d_vv, np.zeros((2, 2, 2)))
    np.testing.assert_array_equal(d_vs, 10.0 * np.eye(2))
    np.testing.assert_array_equal(d_sv, 10.0 * np.eye(2))
    np.testing.assert_array_equal(d_ss, [4.0, 6.0])


def test_a_sparse_jacobian_of_a_tuple_is_one_matrix():
    def several(v):
        return v[0] * v[1], 3.0 * v

    found = nd.jacobian(several, sparsity="detect")(np.array([2.0, 5.0]))
    np.testing.assert_array_equal(found.toarray(), [[5.0, 2.0], [3.0, 0.0], [0.0, 3.0]])


def test_a_constant_function_has_a_zero_gradient_of_the_right_shape():
    np.testing.assert_array_equal(nd.grad(lambda a: 1.0)(np.ones(3)), np.zeros(3))
    np.testing.assert_array_equal(nd.jacobian(lambda a: np.ones(2))(np.ones(3)), np.zeros((2, 3)))
    assert nd.grad(lambda x: 7.0)(1.0) == 0.0


@pytest.mark.parametrize("chunk", [None, 1, 2])
def test_results_of_integers_have_zeros_of_the_full_shape(chunk):
    @njit
    def integers(x, a):
        return x * a[0], np.full(4, 3), a > 0.0, 7

    jacobian = nd.jacobian(integers, (0, 1), chunk=chunk)(0.5, np.array([2.0, 3.0]))
    for by_both, shape in zip(jacobian[1:], [(4,), (2,), ()], strict=True):
        for by_one, inner in zip(by_both, [(), (2,)], strict=True):
            np.testing.assert_array_equal(by_one, np.zeros(shape + inner), strict=True)


def test_float32_stays_float32():
    @njit
    def scaled(a):
        return (a * a).sum()

    gradient = nd.grad(scaled)(np.array([1.5, 2.5], dtype=np.float32))
    assert gradient.dtype == np.float32
    np.testing.assert_array_equal(gradient, np.array([3.0, 5.0], dtype=np.float32))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_gradient_has_the_precision_of_its_argument(mode):
    def squares(a, s):
        total = 0.0  # a float64, and so is the sum
        for x in a:
            total += s * x * x
        return total

    a = np.array([1.5, 2.5], dtype=np.float32)
    by_a, by_s = nd.grad(squares, (0, 1), mode=mode)(a, np.array([2.0]).sum())
    np.testing.assert_array_equal(by_a, np.array([6.0, 10.0], dtype=np.float32), strict=True)
    assert by_s == 8.5
    assert nd.grad(squares, mode=mode)(a.astype(np.float64), 2.0).dtype == np.float64


@pytest.mark.deep(but=["*-<lambda>0", "reverse-<lambda>3"])
@pytest.mark.parametrize(
    "f",
    [
        lambda a: 2 * a + 1,
        lambda a: a * np.arange(2) / a.size,
        lambda a: (3 * a - 1).sum(),
        lambda a: np.where(a > 0, a, 0),
        lambda a: a * np.float64(2.0),
        lambda a: np.linalg.norm(a),
    ],
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_precision_is_that_of_the_function(f, mode):
    f, a = njit(f), np.array([1.5, 2.5], dtype=np.float32)
    f(a)
    plain = f.nopython_signatures[0].return_type
    operator = nd.value_and_jacobian(f, mode=mode)
    operator(a)
    value, jacobian = operator.nopython_signatures[0].return_type
    assert value == plain
    assert jacobian.dtype == getattr(plain, "dtype", plain)


def test_second_order_structures():
    np.testing.assert_array_equal(nd.hessian(cubes)(np.array([1.0, 2.0])), np.diag([6.0, 12.0]))
    assert nd.hessian(product, argnums=(0, 1))(3.0, 2.0) == ((4.0, 6.0), (6.0, 0.0))
    a, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    (along,) = nd.hvp(cubes)((a,), (v,))
    np.testing.assert_array_equal(along, 6 * a * v)
    value, (gradient,), (along,) = nd.grad_and_hvp(cubes)((a,), (v,))
    assert value == 9.0
    np.testing.assert_array_equal(gradient, 3 * a**2)
    np.testing.assert_array_equal(along, 6 * a * v)
    assert nd.hvp(product, argnums=1)((3.0, 2.0), (1.0,)) == (0.0,)


def test_jvp_ignores_the_tangents_of_constants():
    @njit
    def power(x, n):
        return x**n

    assert nd.jvp(power)((2.0, 3), (1.0, None)) == (8.0, 12.0)
    assert nd.jvp(power, argnums=0)((2.0, 3), (0.5,)) == (8.0, 6.0)
    value, tangent = nd.jvp(squares)((np.array([1.0, 2.0]),), (np.array([1.0, 1.0]),))
    np.testing.assert_array_equal(value, [1.0, 4.0])
    np.testing.assert_array_equal(tangent, [2.0, 4.0])


@pytest.mark.dear
def test_results_written_into_an_argument():
    @njit
    def rhs(t, y, dy, p):
        dy[0] = p[0] * y[0] * y[1]
        dy[1] = t * p[1] * y[1]

    y, p = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    buffer = np.full(2, np.nan)
    jacobian = nd.jacobian(rhs, argnums=1, out=2)(2.0, y, buffer, p)
    np.testing.assert_array_equal(jacobian, [[6.0, 3.0], [0.0, 8.0]])
    np.testing.assert_array_equal(buffer, [6.0, 16.0])
    by_t, by_p = nd.jacobian(rhs, argnums=(0, 3), out=2)(2.0, y, buffer, p)
    np.testing.assert_array_equal(by_t, [0.0, 8.0])
    np.testing.assert_array_equal(by_p, [[2.0, 0.0], [0.0, 4.0]])
    buffer[:] = np.nan
    tangents = (0.0, np.array([1.0, 0.0]), np.zeros(2), np.zeros(2))
    value, tangent = nd.jvp(rhs, out=2)((2.0, y, buffer, p), tangents)
    np.testing.assert_array_equal(value, [6.0, 16.0])
    np.testing.assert_array_equal(buffer, [6.0, 16.0])
    np.testing.assert_array_equal(tangent, [6.0, 0.0])


def test_complex_derivatives_of_holomorphic_functions():
    z = 0.3 + 0.4j
    found = nd.derivative(lambda z: np.exp(z) * z)(z)
    assert found == pytest.approx(np.exp(z) * (1 + z), rel=1e-15)
    modulus = nd.derivative(lambda t: abs((1.0 + 2.0j) * t))(1.0)
    assert modulus == pytest.approx(math.sqrt(5.0))
