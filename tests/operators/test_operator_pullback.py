"""Operators inside functions that are differentiated in reverse: each has a pullback of its own.

Two oracles: closed forms, and the adjoint identity <c, J v> = <J^T c, v>, whose left side is
forward mode's.
"""

import math

import numpy as np
import pytest
from numba import float64, njit
from numba.experimental import jitclass

import numbad as nd

REVERSE = "reverse"
RNG = np.random.default_rng(11)
A, S = np.array([0.3, -0.7, 1.1]), 0.8


@njit
def scalar(a, s):
    total = 0.0
    for i in range(a.size):
        total += a[i] ** 3 * s * s + math.sin(a[0] * a[i])
    return total


@njit
def several(a, s):
    out = np.empty((a.size, 2))
    for i in range(a.size):
        out[i, 0] = s * s * a[i] * a[0]
        out[i, 1] = math.exp(a[i] * s)
    return out, s * a[0] * a[1]


def random_like(x):
    if isinstance(x, tuple):
        return tuple(random_like(member) for member in x)
    if isinstance(x, np.ndarray):
        return RNG.standard_normal(x.shape)
    return float(RNG.standard_normal())


def dot(x, y):
    if isinstance(x, tuple):
        return sum(dot(p, q) for p, q in zip(x, y, strict=True))
    return float(np.sum(np.asarray(x) * np.asarray(y)))


def sizes(x):
    return sum(map(sizes, x)) if isinstance(x, tuple) else np.sum(np.abs(x))


C = random_like((np.zeros((3, 2)), 0.0))
RESULTS = {
    "grad": (nd.grad(scalar, (0, 1), REVERSE), (A, S)),
    "grad of one": (nd.grad(scalar, 1, REVERSE), (A, S)),
    "value_and_grad": (nd.value_and_grad(scalar, 0, REVERSE), (A, S)),
    "value_and_grad, forward": (nd.value_and_grad(scalar, 0, "forward"), (A, S)),
    "jvp": (nd.jvp(several), ((A, S), random_like((A, S)))),
    "jvp of one": (nd.jvp(several, 1), ((A, S), (0.3,))),
    "vjp": (nd.vjp(several), ((A, S), C)),
    "vjp of one": (nd.vjp(several, 0), ((A, S), C)),
    "derivative": (nd.derivative(several, 1), (A, S)),
    "hvp": (nd.hvp(scalar), ((A, S), random_like((A, S)))),
    "grad_and_hvp": (nd.grad_and_hvp(scalar, 0), ((A, S), random_like((A,)))),
    "jacobian": (nd.jacobian(several, (0, 1)), (A, S)),
    "jacobian by one": (nd.jacobian(several, 0), (A, S)),
    "value_and_jacobian": (nd.value_and_jacobian(several, (1, 0), REVERSE), (A, S)),
    "hessian": (nd.hessian(scalar, (0, 1)), (A, S)),
}


@pytest.mark.deep(but=["grad"])
@pytest.mark.parametrize("name", RESULTS)
def test_the_pullback_of_every_operator_is_the_adjoint_of_its_tangent(name):
    operator, args = RESULTS[name]
    direction = random_like(args)
    value, tangent = nd.jvp(operator)(args, direction)
    cotangent = random_like(value)
    found, cotangents = nd.vjp(operator)(args, cotangent)
    plain = operator(*args)
    assert dot(found, cotangent) == pytest.approx(dot(plain, cotangent), rel=1e-13)
    assert sizes(tangent) > 0.1
    assert sizes(cotangents) > 0.1
    assert dot(cotangents, direction) == pytest.approx(dot(cotangent, tangent), rel=1e-11)


@njit
def fifth(x):
    return x**5


@pytest.mark.deep
@pytest.mark.parametrize("modes", [(a, b, c) for a in "fr" for b in "fr" for c in "fr"])
def test_third_derivatives_in_every_mix_of_modes(modes):
    inner, middle, outer = ({"f": "forward", "r": "reverse"}[m] for m in modes)
    third = nd.grad(nd.grad(nd.grad(fifth, 0, inner), 0, middle), 0, outer)
    assert third(1.5) == pytest.approx(60.0 * 1.5**2, rel=1e-14)


@pytest.mark.deep
def test_the_hessian_of_a_gradient_in_reverse_of_reverse():
    f = njit(lambda a: a[0] ** 3 * a[1] ** 2 + math.exp(a[2] * a[0]))
    gradient = nd.grad(f, 0, REVERSE)
    hessian = nd.jacobian(gradient, 0, REVERSE)
    third = nd.jacobian(hessian, 0, REVERSE)
    a = np.array([0.7, 1.3, -0.4])
    x, y, z = a
    e = math.exp(x * z)
    expected = [
        [6 * x * y * y + z * z * e, 6 * x * x * y, (1 + x * z) * e],
        [6 * x * x * y, 2 * x**3, 0.0],
        [(1 + x * z) * e, 0.0, x * x * e],
    ]
    np.testing.assert_allclose(hessian(a), expected, rtol=1e-13, atol=1e-15)
    cube = third(a)
    assert cube[0, 0, 0] == pytest.approx(6 * y * y + z**3 * e, rel=1e-13)
    for i, j, k, found in [
        (0, 0, 1, 12 * x * y),
        (0, 1, 1, 6 * x * x),
        (1, 1, 1, 0.0),
        (0, 2, 2, (2 * x + x * x * z) * e),
        (2, 2, 2, x**3 * e),
    ]:
        for index in {(i, j, k), (k, j, i), (j, i, k)}:
            assert cube[index] == pytest.approx(found, rel=1e-13, abs=1e-14)


# Perturbation confusion, with a reverse sweep on either side.


@njit
def add(y, x):
    return x + y


@njit
def multiply(y, x):
    return x * y


@pytest.mark.parametrize("inner", ["forward", "reverse"])
@pytest.mark.parametrize("outer", ["forward", "reverse"])
def test_no_confusion_of_inner_and_outer_variables(inner, outer):
    add_slope = nd.grad(add, 0, inner)
    multiply_slope = nd.grad(multiply, 0, inner)
    square = nd.grad(njit(lambda y, x: x * y * y), 0, inner)
    assert nd.grad(lambda x: x * add_slope(1.0, x), 0, outer)(1.0) == 1.0
    assert nd.grad(lambda x: x * multiply_slope(2.0, x), 0, outer)(3.0) == 6.0
    assert nd.grad(lambda x: x * square(x, x), 0, outer)(2.0) == 24.0


def test_a_gradient_in_a_loop_is_differentiated_in_reverse():
    slope = nd.grad(njit(lambda x, a: x * x * x - a), 0, REVERSE)

    @njit
    def cube_root(a):
        x = 1.0
        for _ in range(60):
            x = x - (x * x * x - a) / slope(x, a)
        return x

    assert nd.grad(cube_root, 0, REVERSE)(8.0) == pytest.approx(1 / 12, rel=1e-14)
    second = nd.grad(nd.grad(cube_root, 0, REVERSE), 0, REVERSE)
    assert second(8.0) == pytest.approx(-1 / 144, rel=1e-13)


def test_a_jacobian_inside_a_gradient():
    @njit
    def rotated(v, angle):
        c, s = math.cos(angle), math.sin(angle)
        out = np.empty(2)
        out[0] = c * v[0] - s * v[1]
        out[1] = s * v[0] + c * v[1]
        return out

    jacobian = nd.jacobian(rotated)

    @njit
    def entry(angle):
        return jacobian(np.array([1.0, 2.0]), angle)[1, 0]  # sin(angle)

    assert nd.grad(entry, 0, REVERSE)(0.3) == pytest.approx(math.cos(0.3), rel=1e-15)


def test_tuples_inside():
    f = njit(lambda p, n: p[0] ** n * p[1])
    gradient = nd.grad(f, 0, REVERSE)

    @njit
    def norm(x, y):
        g = gradient((x, y), 3)
        return g[0] * g[0] + g[1]

    x, y = 1.2, 0.7  # g = (3 x^2 y, x^3)
    found = nd.grad(norm, (0, 1), REVERSE)(x, y)
    assert found == pytest.approx((36 * x**3 * y * y + 3 * x * x, 18 * x**4 * y), rel=1e-14)


def test_an_operator_on_a_function_with_effects_is_refused_inside():
    @njit
    def noisy(x):
        return x * np.random.rand()

    slope = nd.grad(noisy)
    with pytest.raises(nd.UnsupportedError, match="draws random numbers"):
        nd.grad(lambda x: slope(x) * x, 0, REVERSE)(1.0)

    @njit
    def writes(a):
        a[0] = a[0] * a[1]
        return a[0] * a[0]

    gradient = nd.grad(writes)
    with pytest.raises(nd.UnsupportedError, match="may change its arguments"):
        nd.grad(lambda a: gradient(a)[0], 0, REVERSE)(np.ones(2))


@pytest.mark.deep
@pytest.mark.parametrize("mode", ["forward", REVERSE])
def test_methods_of_arrays_change_nothing(mode):
    """A gradient within a function that is differentiated again, in reverse, calls its function twice."""
    inner = nd.grad(lambda a: (a * a).sum() * a.mean() + a.max() * a.min() * a.std(), mode=mode)
    found = nd.grad(lambda a: (inner(a) * a).sum(), mode=REVERSE)(A)

    def euler(a):  # all terms are of the third degree: a . f'(a) = 3 f(a)
        return 3.0 * ((a * a).sum() * a.mean() + a.max() * a.min() * a.std())

    steps = np.eye(3) * 1e-5
    expected = [(euler(A + h) - euler(A - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@njit
def with_default(x, a, b=2.0):
    return x * x * a - a * b


def test_arguments_left_to_their_defaults():
    """With a = 3 and b = 2, of which b is left out, within reverse mode."""
    gradient, along, pulled = nd.grad(with_default), nd.jvp(with_default), nd.vjp(with_default)

    @njit
    def f(x):
        value, (by_x, by_a, by_b) = pulled((x, 3.0), x)
        return (gradient(x, 3.0), along((x, 3.0), (x, 1.0))[1], value + by_x + 3.0 * by_a + by_b)

    # 6x; 6x^2 + x^2 - 2; 3x^2 - 6 + 6x^2 + 3(x^3 - 2x) - 3x
    slopes = nd.jacobian(f, mode=REVERSE)(1.0)
    np.testing.assert_allclose(slopes, (6.0, 14.0, 18.0), rtol=1e-13)


def test_tangents_of_arguments_left_to_their_defaults_count():
    assert nd.jvp(with_default, (0, 2))((1.0, 3.0), (0.5, 1.0)) == (-3.0, 0.0)
    assert nd.jvp(with_default)((1.0, 3.0), (0.5, 1.0, 2.0)) == (-3.0, -4.0)


def test_a_function_that_picks_its_array_changes_nothing():
    @njit
    def picks(x, a, b, first):
        chosen = a if first else b
        total = 0.0
        for i in range(chosen.size):
            total += chosen[i] * x * x
        return total

    slope = nd.grad(lambda x, a: nd.derivative(picks)(x, a, 2.0 * a, x > 0.0), (0, 1), REVERSE)
    by_x, by_a = slope(-3.0, np.ones(2))
    assert by_x == 8.0
    np.testing.assert_array_equal(by_a, [-12.0, -12.0])


@njit
def scaled_cube(t, y, a):
    return t * a * y * y * y


JVP, VJP, HVP = (operator(scaled_cube, 1) for operator in (nd.jvp, nd.vjp, nd.hvp))
AT_A_CONSTANT = {
    "jvp": lambda y, s, a: JVP((0.5, y, a), (s,))[1],
    "vjp": lambda y, s, a: VJP((0.5, y, a), s)[1][0],
    "hvp": lambda y, s, a: HVP((0.5, y, a), (s,))[0],
}


@pytest.mark.parametrize("name", ["jvp", pytest.param("vjp", marks=pytest.mark.deep), "hvp"])
def test_forward_around_reverse_around_an_operator_beside_constants(name):
    """Of 3/2 a s y**2, and of 3 a s y: a plain number among dual ones stays as it is."""
    gradient = nd.grad(AT_A_CONSTANT[name], argnums=(0, 1, 2), mode="reverse")
    y, s, a = 1.0, 2.0, 3.0
    value, along = nd.jvp(gradient)((y, s, a), (1.0, 1.0, 1.0))
    if name == "hvp":
        expected = (3 * a * s, 3 * a * y, 3 * s * y)
        changes = (3 * (a + s), 3 * (a + y), 3 * (s + y))
    else:
        expected = (3 * a * s * y, 1.5 * a * y**2, 1.5 * s * y**2)
        changes = (3 * (a * s + (a + s) * y), 1.5 * (y**2 + 2 * a * y), 1.5 * (y**2 + 2 * s * y))
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    np.testing.assert_allclose(along, changes, rtol=1e-14)


@njit
def counting(x, work):
    work[0] += 1.0
    return x * x * x


def test_a_call_that_changes_an_array_beside_is_not_taken_for_one_that_does_not():
    slope = nd.grad(counting, 0, mode=REVERSE)

    def f(p, work):
        total = 0.0
        for _ in range(3):
            total += work[0] * p * p
            slope(1.0, work)
        return total

    with pytest.raises(nd.UnsupportedError, match="may change its arguments"):
        nd.grad(f, 0, mode=REVERSE)(2.0, np.ones(1))


@njit
def lagrangian(q, v):
    return 0.5 * (1.0 + q[0] ** 2) * (v[0] * v[0] + v[1] ** 2) - 9.8 * q[1]


@njit
def momentum(q, v):
    return nd.grad(lagrangian, 1)(q, v)


@pytest.mark.parametrize("mode", ["forward", REVERSE])
def test_a_jacobian_of_a_function_that_makes_a_gradient(mode):
    """The gradient is no name in the function, but what a call has returned."""

    def rate(q, v):
        return np.sum(nd.jacobian(momentum, 0)(q, v) @ v)

    q, v = np.array([0.3, 0.4]), np.array([0.5, 0.7])
    expected = [2.0 * v[0] * (v[0] + v[1]) * 1.0, 0.0]  # of 2 q0 v0 (v0 + v1), by q0
    np.testing.assert_allclose(nd.grad(rate, mode=mode)(q, v), expected, rtol=1e-14)


@pytest.mark.dear
def test_what_no_operator_changes_is_not_copied_at_each_step():
    slope = nd.grad(scalar, 0, mode=REVERSE)

    def descent(s, a):
        x = np.ones(a.size)
        for _ in range(3):
            x = x - 0.1 * s * slope(a, s)
        return x.sum()

    assert "copy(a)" not in nd.inspect_adjoint(descent, S, A)
    by_s = nd.grad(descent, 0, mode=REVERSE)(S, A)
    assert by_s == pytest.approx(nd.grad(descent, 0, mode="forward")(S, A), rel=1e-13)


@njit
def _by_first_alone(x, ignored, scale, more):
    return scale * x**3 + math.sin(more[0] * x)


def test_arguments_that_a_function_ignores():
    """They have no adjoint from within, and those that it reads have theirs."""

    @njit
    def outer(x, weights, scale, more):
        slope = nd.jvp(_by_first_alone, (0,))((x, weights, scale, more), (2.0,))[1]
        return slope + (weights * weights).sum()

    at = 0.7, np.array([1.0, 3.0]), 1.3, np.array([0.4])
    x, weights, scale, (a,) = at
    by_x, by_weights, by_scale, by_more = nd.grad(outer, (0, 1, 2, 3), mode="reverse")(*at)
    assert by_x == pytest.approx(2.0 * (6.0 * scale * x - a * a * math.sin(a * x)), rel=1e-12)
    np.testing.assert_allclose(by_weights, 2.0 * weights, rtol=1e-14)
    assert by_scale == pytest.approx(6.0 * x**2, rel=1e-12)
    np.testing.assert_allclose(
        by_more, 2.0 * (math.cos(a * x) - a * x * math.sin(a * x)), rtol=1e-12
    )


@njit
def taken_from(p):
    s = p[0]
    s -= p[1] * p[1] * p[2]  # a number: nothing is written to `p`
    return s


def test_a_number_that_is_updated_changes_no_argument():
    found = nd.jacobian(nd.grad(taken_from, mode=REVERSE), mode=REVERSE)(np.array([0.7, 1.1, 0.9]))
    np.testing.assert_allclose(found, [[0, 0, 0], [0, -1.8, -2.2], [0, -2.2, 0]], atol=1e-14)


@jitclass([("x", float64)])
class Held:
    def __init__(self, x):
        self.x = x


@njit
def held_for_a_while(p):
    held = Held(p[0])
    return held.x * p[0]


TANGENT_OF_HELD = nd.jvp(held_for_a_while, 0)


def test_an_instance_made_on_the_way_changes_no_argument():
    def along(p, v):
        return TANGENT_OF_HELD((p,), (v,))[1]

    p, v = np.array([2.0, 1.0]), np.array([1.5, 0.0])
    np.testing.assert_array_equal(nd.grad(along, (0, 1), mode="reverse")(p, v), [[3, 0], [4, 0]])
