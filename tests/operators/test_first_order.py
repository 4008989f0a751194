"""Gradients and Jacobians in both modes: every structure, any layout, functions with effects."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit
from numba.typed import List

import numbad as nd
from numbad.testing import GradientError

Point = namedtuple("Point", "x y")
Mixed = namedtuple("Mixed", "rate count label")
both = pytest.mark.parametrize("mode", ["forward", "reverse"])
INPUTS = 40


pytestmark = pytest.mark.usefixtures("compiled_anew")


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
def outer(v, s):
    out = np.zeros((v.size, 2))
    for i in range(v.size):
        out[i, 0] = s * v[i]
        out[i, 1] = v[i] * v[i]
    return out


@both
def test_gradients_of_scalars(mode):
    assert nd.grad(product, mode=mode)(3.0, 2.0) == 12.0
    assert nd.grad(product, (1, 0), mode)(3.0, 2.0) == (9.0, 12.0)
    assert nd.grad(product, argnums=(1,), mode=mode)(3.0, 2.0) == (9.0,)
    assert nd.value_and_grad(product, (0, 1), mode)(3.0, 2.0) == (18.0, (12.0, 9.0))
    assert nd.hessian(product, (0, 1), mode)(3.0, 2.0) == ((4.0, 6.0), (6.0, 0.0))


@both
def test_gradients_keep_the_structure_of_the_argument(mode):
    @njit
    def norm(p):
        return math.hypot(p.x, p.y)

    gradient = nd.grad(norm, mode=mode)(Point(3.0, 4.0))
    assert type(gradient) is Point
    assert gradient == pytest.approx(Point(0.6, 0.8))

    @njit
    def mixed(m, nested):
        total = 0.0
        for w in nested[1]:
            total += w
        return m.rate**m.count * nested[0][0] * total

    weights = np.array([1.0, 2.0])
    args = Mixed(2.0, 3, "hare"), ((5.0,), weights)
    by_m, by_nested = nd.grad(mixed, (0, 1), mode)(*args)
    assert by_m == Mixed(12.0 * 5.0 * 3.0, 0, None)
    assert type(by_m) is Mixed
    assert type(by_m.count) is int
    assert by_nested[0] == (24.0,)
    np.testing.assert_array_equal(by_nested[1], [40.0, 40.0])
    second = nd.hessian(mixed, mode=mode)(*args)
    assert second.rate.rate == pytest.approx(6 * 2.0 * 5.0 * 3.0)
    assert second.count is not None
    assert second.label is None


@pytest.mark.deep(but=["F-*", "reversed-*", "strided-reverse", "empty-forward"])
@both
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "read-only", "empty"])
def test_arrays_of_any_layout(mode, layout):
    @njit
    def entries(m):
        total = 0.0
        for i in range(m.shape[0]):
            for j in range(m.shape[1]):
                total += m[i, j] * m[i, j]
        return total

    m = np.arange(12.0).reshape(3, 4)
    m = {
        "C": m,
        "F": np.asfortranarray(m),
        "strided": m[:, ::2],
        "reversed": m[::-1],
        "read-only": m,
        "empty": np.zeros((0, 3)),
    }[layout]
    m.setflags(write=layout != "read-only")
    before = m.copy()
    np.testing.assert_array_equal(nd.grad(entries, mode=mode)(m), 2 * m)
    np.testing.assert_array_equal(m, before)


@both
def test_jacobians(mode):
    v = np.array([1.0, 2.0, 3.0])
    by_v, by_s = nd.jacobian(outer, (0, 1), mode)(v, 5.0)
    assert by_v.shape == (3, 2, 3)
    assert by_s.shape == (3, 2)
    np.testing.assert_array_equal(by_v[:, 0], 5.0 * np.eye(3))
    np.testing.assert_array_equal(by_v[:, 1], np.diag(2 * v))
    np.testing.assert_array_equal(by_s, np.stack([v, 0 * v], axis=1))
    value, (by_v,) = nd.value_and_jacobian(outer, (0,), mode)(v, 5.0)
    np.testing.assert_array_equal(value, np.stack([5.0 * v, v * v], axis=1))
    np.testing.assert_array_equal(by_v[:, 0], 5.0 * np.eye(3))
    assert nd.jacobian(outer, mode=mode)(np.zeros(0), 5.0).shape == (0, 2, 0)


@both
def test_jacobians_of_tuples(mode):
    @njit
    def several(x, a, n):
        out = np.empty(2)
        out[0] = x * a[0]
        out[1] = a[1] * a[2]
        return x**n, (out, n), "label", np.arange(2)

    a = np.array([2.0, 3.0, 5.0])
    value, found = nd.value_and_jacobian(several, (0, 1), mode)(2.0, a, 3)
    assert value[0] == 8.0
    np.testing.assert_array_equal(value[1][0], [4.0, 15.0])
    assert value[2] == "label"
    (x_by_x, x_by_a), ((out_by_x, out_by_a), n), label, ints = found
    assert x_by_x == 12.0
    np.testing.assert_array_equal(x_by_a, np.zeros(3))
    np.testing.assert_array_equal(out_by_x, [2.0, 0.0])
    np.testing.assert_array_equal(out_by_a, [[2.0, 0.0, 0.0], [0.0, 5.0, 3.0]])
    assert n[0] == 0.0
    np.testing.assert_array_equal(n[1], np.zeros(3))
    assert label is None
    np.testing.assert_array_equal(ints[0], [0.0, 0.0])
    np.testing.assert_array_equal(ints[1], np.zeros((2, 3)))


@both
def test_jacobians_of_what_is_written_into_an_argument(mode):
    @njit
    def rhs(t, y, dy, p):
        dy[0] = p[0] * y[0] * y[1]
        dy[1] = t * p[1] * y[1]

    y, p = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    buffer = np.full(2, np.nan)
    jacobian = nd.jacobian(rhs, 1, mode, out=2)(2.0, y, buffer, p)
    np.testing.assert_array_equal(jacobian, [[6.0, 3.0], [0.0, 8.0]])
    np.testing.assert_array_equal(buffer, [6.0, 16.0])
    value, (by_t, by_p) = nd.value_and_jacobian(rhs, (0, 3), mode, out=2)(2.0, y, buffer, p)
    np.testing.assert_array_equal(value, [6.0, 16.0])
    np.testing.assert_array_equal(by_t, [0.0, 8.0])
    np.testing.assert_array_equal(by_p, [[2.0, 0.0], [0.0, 4.0]])


def test_a_function_with_effects_is_run_once_as_far_as_anyone_can_tell():
    @njit
    def noisy(x, calls):
        calls[0] += 1.0
        out = np.empty(3)
        for i in range(3):
            x[i] = 2.0 * x[i]
            out[i] = x[i] * np.random.rand() * calls[0]
        return out

    @njit
    def seed(k):
        np.random.seed(k)

    @njit
    def draw():
        return np.random.rand()

    seed(7)
    plain, calls = np.array([1.0, 2.0, 3.0]), np.zeros(1)
    value, afterwards = noisy(plain, calls), draw()
    seed(7)
    x, calls = np.array([1.0, 2.0, 3.0]), np.zeros(1)
    found, jacobian = nd.value_and_jacobian(noisy, mode="reverse")(x, calls)
    np.testing.assert_array_equal(found, value)
    np.testing.assert_allclose(jacobian, np.diag(value / [1.0, 2.0, 3.0]), rtol=1e-15)
    np.testing.assert_array_equal(x, plain)
    assert calls[0] == 1.0
    assert draw() == afterwards


def test_a_result_that_does_not_depend_on_the_argument():
    assert nd.grad(lambda x: 7.0, mode="reverse")(1.0) == 0.0
    np.testing.assert_array_equal(nd.grad(lambda a: 1.0, mode="reverse")(np.ones(3)), np.zeros(3))
    value, gradient = nd.value_and_jacobian(lambda a: a.size, mode="reverse")(np.ones(3))
    assert value == 3
    assert type(value) is int
    np.testing.assert_array_equal(gradient, np.zeros(3))


def test_a_list_that_grows_needs_no_second_call():
    @njit
    def growing(x, kept):
        kept.append(1.0)
        total = 0.0
        for v in x:
            total += v
        return total * len(kept)

    kept = List([1.0])
    np.testing.assert_array_equal(nd.grad(growing)(np.ones(INPUTS), kept), np.full(INPUTS, 2.0))
    assert len(kept) == 2


def test_functions_as_arguments_and_star_arguments():
    @njit
    def square(x):
        return x * x

    @njit
    def apply(f, a):
        return f(a[0]) * a[1]

    a = np.array([3.0, 2.0])
    np.testing.assert_array_equal(nd.grad(apply, 1, "reverse")(square, a), [12.0, 9.0])
    np.testing.assert_array_equal(nd.hessian(apply, 1)(square, a), [[4.0, 6.0], [6.0, 0.0]])

    def combined(f, r, *start):
        return f * r * start[0] + start[1]

    assert nd.grad(combined, (0, 1), "reverse")(2.0, 3.0, 4.0, 5.0) == (12.0, 8.0)


# The checker in reverse.


@njit
def tilted(x):
    return x * x


nd.rule(tilted, vjp=(lambda x: (x * x, x), lambda x, w: (2.0 * x * w * 1.0005,)))


@pytest.mark.parametrize("x", [0.7, -3.1, 250.0])
def test_a_reverse_rule_wrong_by_half_a_thousandth_fails(x):
    f = njit(lambda x: tilted(x) + 1.0)
    with pytest.raises(GradientError, match="in reverse mode.*differences of the function give"):
        nd.check_grads(f, (x,), modes=("reverse",), order=1)
    nd.check_grads(lambda x: x * x + 1.0, (x,), modes=("reverse",))


def test_one_wrong_entry_among_many_fails():
    @njit
    def last_is_wrong(a):
        return cubes(a) + tilted(a[-1])

    a = np.linspace(0.5, 1.5, 40)
    nd.check_grads(cubes, (a,), modes=("reverse",), order=1)
    with pytest.raises(GradientError):
        nd.check_grads(last_is_wrong, (a,), modes=("reverse",), order=1)


def test_a_wrong_second_derivative_in_reverse_fails():
    @njit
    def flat(x):
        return math.sin(x)

    nd.rule(
        flat,
        vjp=(
            lambda x: (math.sin(x), x),
            lambda x, w: (math.cos(nd.stop_gradient(x)) * w,),
        ),
    )
    nd.check_grads(flat, (0.4,), modes=("reverse",), order=1)
    with pytest.raises(GradientError, match="second derivative in reverse mode"):
        nd.check_grads(flat, (0.4,), modes=("reverse",))
