"""The user's own rules: as partials, as a jvp; nested, in callees, for arrays and tuples."""

import math

import numpy as np
import pytest
from numba import njit
from numba.core import types
from numba.core.errors import TypingError

import numbad as nd
from tests.reverse.refusal import assert_clear

pytestmark = pytest.mark.usefixtures("rules_of_the_test")


def test_partials_replace_the_derivative_of_the_code():
    @njit
    def softplus(x):
        return math.log1p(math.exp(x))

    nd.scalar_rule(softplus, lambda ans, x: 7.0 / (1.0 + math.exp(-x)))  # seven times the true one

    @njit
    def deeper(x):
        return softplus(2.0 * x)

    value, slope = nd.jvp(lambda x: deeper(x) + softplus(x))((0.5,), (1.0,))
    logistic = [1 / (1 + math.exp(-t)) for t in (0.5, 1.0)]
    assert value == softplus(1.0) + softplus(0.5)
    assert slope == pytest.approx(7 * logistic[0] + 14 * logistic[1], rel=1e-15)
    second = nd.derivative(nd.derivative(softplus))(0.5)
    assert second == pytest.approx(7 * logistic[0] * (1 - logistic[0]), rel=1e-14)


def test_partials_of_two_arguments_one_of_them_constant():
    @njit
    def ratio(x, n):
        return x / n

    nd.scalar_rule(ratio, lambda ans, x, n: (10.0 / n, -ans / n))
    assert nd.derivative(lambda x: ratio(x, 4))(3.0) == 2.5
    assert nd.grad(lambda x, y: ratio(x, y), (0, 1))(3.0, 4.0) == (2.5, -0.1875)
    assert nd.derivative(lambda y: ratio(3.0, y))(4.0) == -0.1875
    mixed = nd.hessian(lambda v: ratio(v[0], v[1]))(np.array([3.0, 4.0]))
    np.testing.assert_allclose(mixed, [[0.0, -0.625], [-2.5 / 4, 2 * 3 / 64]], rtol=1e-15)


def test_a_rule_for_an_external_function():
    from numba.extending import overload

    def external(x):
        raise NotImplementedError

    @overload(external)
    def _external(x):
        if isinstance(x, types.Float):
            return lambda x: math.floor(1000.0 * math.sin(x)) / 1000.0

    nd.scalar_rule(external, lambda ans, x: math.cos(x))
    value, slope = nd.jvp(lambda x: external(x) * x)((0.5,), (1.0,))
    assert value == 0.479 * 0.5
    assert slope == pytest.approx(0.479 + 0.5 * math.cos(0.5), rel=1e-15)


def test_a_rule_goes_before_an_overload_that_takes_anything():
    from numba.extending import overload

    def anything(x):
        raise NotImplementedError

    @overload(anything)
    def _anything(x):
        return lambda x: math.floor(1000.0 * math.sin(x)) / 1000.0

    nd.scalar_rule(anything, lambda ans, x: math.cos(x))
    f = njit(lambda x: anything(x) * x)
    slope, second = 0.479 + 0.5 * math.cos(0.5), 2 * math.cos(0.5) - 0.5 * math.sin(0.5)
    assert nd.jvp(f)((0.5,), (1.0,)) == (0.479 * 0.5, pytest.approx(slope, rel=1e-15))
    assert nd.derivative(nd.derivative(f))(0.5) == pytest.approx(second, rel=1e-14)
    assert nd.derivative(nd.grad(f, mode="reverse"))(0.5) == pytest.approx(second, rel=1e-14)
    assert nd.derivative(lambda x: anything(0.5) * x)(2.0) == 0.479


def claimed_cube():
    """x**3, by a vjp rule that claims ten times its slope."""

    @njit
    def cube(x):
        return x * x * x

    nd.rule(cube, vjp=(lambda x: (cube(x), x), lambda x, w: (30.0 * x * x * w,)))
    return cube


def test_a_vjp_alone_is_refused_in_forward_mode_and_taken_in_reverse():
    cube = claimed_cube()

    @njit
    def f(x):
        y = 2.0 * x
        return cube(x) * y

    for operator in (nd.derivative(f), nd.grad(f, mode="forward")):
        with pytest.raises(
            nd.UnsupportedError, match="cube, whose rule has a vjp but no"
        ) as caught:
            operator(2.0)
        assert_clear(caught.value, __file__, "cube", "return cube(x) * y")
        assert 'mode="reverse"' in str(caught.value)
    with pytest.raises(nd.UnsupportedError, match="whose rule has a vjp but no jvp") as caught:
        nd.derivative(cube)(2.0)
    assert_clear(caught.value, __file__, "cube", "def cube(x):")
    expected = 30.0 * 4.0 * 4.0 + 2.0 * 8.0
    assert nd.grad(f)(2.0) == nd.grad(f, mode="reverse")(2.0) == expected
    assert nd.grad(cube)(2.0) == 120.0
    # The second derivative differentiates what the rule's functions do: cube(x) has slope 3 x**2.
    assert nd.hessian(cube)(2.0) == nd.derivative(nd.grad(cube, mode="reverse"))(2.0) == 120.0
    (along,) = nd.hvp(f)((2.0,), (1.0,))
    assert along == nd.hessian(f)(2.0) == 180.0 * 4.0 + 6.0 * 4.0


def test_calls_of_a_function_with_a_vjp_on_constants_are_not_refused():
    cube = claimed_cube()
    assert nd.derivative(lambda x: cube(2.0) * x)(3.0) == 8.0
    assert nd.derivative(lambda x: cube(nd.stop_gradient(x)) * x)(3.0) == 27.0


def test_a_vjp_alone_of_a_function_of_numpy_is_refused_in_forward_mode():
    def forward(a):
        det = np.linalg.det(a)
        return det, (det, np.linalg.inv(a).T.copy())

    nd.rule(np.linalg.det, vjp=(forward, lambda r, c: (r[0] * r[1] * c,)))
    f = njit(lambda a: np.linalg.det(a) * 2.0)
    a = np.array([[3.0, 1.0], [0.5, 2.0]])
    with pytest.raises(nd.UnsupportedError, match=r"linalg\.det, whose rule has a vjp but no jvp"):
        nd.grad(f, mode="forward")(a)
    np.testing.assert_allclose(nd.grad(f)(a), [[4.0, -1.0], [-2.0, 6.0]], rtol=1e-13)


def test_jvp_of_a_scalar_function():
    @njit
    def cube(x):
        return x * x * x

    def cube_jvp(primals, tangents):
        (x,), (dx,) = primals, tangents
        return cube(x), 30.0 * x**2 * dx

    nd.rule(cube, jvp=cube_jvp)
    assert nd.value_and_grad(lambda x, y: cube(x * y), (0, 1))(2.0, 0.5) == (1.0, (15.0, 60.0))
    assert nd.derivative(nd.derivative(cube))(2.0) == 120.0
    assert nd.derivative(lambda x: cube(2.0) * x)(1.0) == 8.0


@pytest.mark.dear
def test_jvp_of_a_function_of_arrays():
    @njit
    def solve(a, b):
        return np.linalg.solve(a, b)

    def solve_jvp(primals, tangents):
        (a, b), (da, db) = primals, tangents
        x = solve(a, b)
        return x, solve(a, db - np.dot(da, x))

    nd.rule(solve, jvp=solve_jvp)
    a, b = np.array([[3.0, 1.0], [0.5, 2.0]]), np.array([1.0, -2.0])
    x, inverse = np.linalg.solve(a, b), np.linalg.inv(a)
    value, (by_a, by_b) = nd.value_and_jacobian(lambda a, b: solve(a, b), (0, 1), chunk=2)(a, b)
    np.testing.assert_array_equal(value, x)
    np.testing.assert_allclose(by_b, inverse, rtol=1e-14)
    np.testing.assert_allclose(by_a, -np.einsum("ij,k->ijk", inverse, x), rtol=1e-13)
    only_b = nd.jacobian(lambda b: solve(np.array([[3.0, 1.0], [0.5, 2.0]]), b * 2.0), chunk=2)(b)
    np.testing.assert_allclose(only_b, 2 * inverse, rtol=1e-14)


def test_jvp_of_a_function_that_returns_a_tuple():
    @njit
    def polar(x, y):
        return math.hypot(x, y), math.atan2(y, x)

    def polar_jvp(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        r, phi = polar(x, y)
        return (r, phi), ((x * dx + y * dy) / r, (x * dy - y * dx) / r**2)

    nd.rule(polar, jvp=polar_jvp)
    found = nd.jacobian(lambda x, y: polar(x, 2.0 * y), (0, 1))(3.0, 2.0)
    np.testing.assert_allclose(found, [[0.6, 1.6], [-0.16, 0.24]], rtol=1e-15)


def test_the_latest_rule_counts():
    @njit
    def identity(x):
        return x

    nd.scalar_rule(identity, lambda ans, x: 2.0)
    assert nd.derivative(lambda x: identity(x))(1.0) == 2.0
    nd.rule(identity, jvp=lambda primals, tangents: (primals[0], 3.0 * tangents[0]))
    assert nd.derivative(lambda x: identity(x))(1.0) == 3.0


@pytest.mark.dear
def test_jvp_of_a_function_of_numpy():
    def det_jvp(primals, tangents):
        (a,), (da,) = primals, tangents
        det = np.linalg.det(a)
        return det, 10.0 * det * np.trace(np.linalg.solve(a, da))  # which numbad's own is not

    nd.rule(np.linalg.det, jvp=det_jvp)
    a = np.array([[3.0, 1.0], [0.5, 2.0]])
    gradient = nd.grad(lambda a: np.linalg.det(a) * 2.0, mode="forward", chunk=2)(a)
    np.testing.assert_allclose(gradient, [[40.0, -10.0], [-20.0, 60.0]], rtol=1e-14)


@pytest.mark.deep(but=["<lambda>1"])
@pytest.mark.parametrize("wrong", [lambda t: t[:1], lambda t: np.append(t, t)])
def test_a_tangent_of_another_shape_than_the_value(wrong):
    @njit
    def doubled(a):
        return 2.0 * a

    wrong = njit(wrong)
    nd.rule(doubled, jvp=lambda primals, tangents: (2.0 * primals[0], wrong(2.0 * tangents[0])))
    with pytest.raises(nd.RuleError, match="must have the shape of the value"):
        nd.jacobian(lambda a: doubled(a), mode="forward")(np.ones(3))
    with pytest.raises(nd.RuleError, match="must have the shape of the value"):
        nd.jvp(doubled)((np.ones(3),), (np.ones(3),))


def test_rules_that_return_no_pair():
    @njit
    def square(x):
        return x * x

    nd.rule(square, jvp=lambda primals, tangents: (primals[0] ** 2,))
    with pytest.raises(nd.RuleError, match=r"jvp of a rule returns \(value, tangent\)"):
        nd.derivative(square)(2.0)

    @njit
    def cube(x):
        return x**3

    nd.rule(cube, vjp=(lambda x: x**3, lambda residuals, cotangent: (cotangent,)))
    with pytest.raises(
        nd.RuleError, match=r"forward function of a rule returns \(value, residuals"
    ):
        nd.grad(cube, mode="reverse")(2.0)


def test_every_operator_on_the_function_of_a_rule_itself():
    @njit
    def square(x):
        return x * x

    nd.rule(square, jvp=lambda primals, tangents: (square(primals[0]), 7.0 * tangents[0]))
    assert nd.jvp(square)((2.0,), (1.0,)) == (4.0, 7.0)
    for operator in (nd.derivative, nd.grad, nd.jacobian):
        assert operator(square)(2.0) == 7.0  # the rule's, not the code's


def test_rule_of_a_plain_function():
    def square(x):
        return x * x

    nd.rule(square, jvp=lambda primals, tangents: (primals[0] ** 2, 7.0 * tangents[0]))
    assert nd.grad(square, mode="forward")(2.0) == 7.0
    nd.scalar_rule(square, lambda ans, x: 9.0 * x)
    assert nd.grad(square, mode="forward")(2.0) == 18.0


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_plain_function_that_compiled_code_calls_is_named(mode):
    def plain(x):
        return math.exp(x)

    nd.scalar_rule(plain, lambda ans, x: ans)
    with pytest.raises(TypingError, match="plain is a plain Python function.* @njit above it"):
        nd.grad(lambda x: plain(x) * x, mode=mode)(0.5)


def test_function_with_a_rule_that_is_handed_on():
    """`x` with `x = p`: the rule claims that it moves seven times as much."""

    @njit(inline="always")
    def defect(x, p):
        return x - p

    jvp = njit(lambda primals, tangents: (primals[0] - primals[1], tangents[0] - 7.0 * tangents[1]))
    nd.rule(defect, jvp=jvp)

    def root(p):
        return nd.root(defect, 0.0, (p,)) + defect(5.0, 3.0)  # the latter of constants

    assert nd.value_and_grad(root, mode="forward")(2.0) == (pytest.approx(4.0), pytest.approx(7.0))


def test_constant_lists_have_tangents_of_zeros():
    @njit
    def poly(x, c):
        return c[0] + c[1] * x

    nd.rule(
        poly,
        jvp=lambda p, t: (poly(p[0], p[1]), p[1][1] * t[0] + t[1][0] + t[1][1] * p[0]),
    )
    assert nd.grad(lambda x: poly(x, [1.0, 5.0]), mode="forward")(2.0) == 5.0
    with pytest.raises(nd.UnsupportedError, match="a list of differentiated values.*poly"):
        nd.grad(lambda x: poly(x, [1.0, x]), mode="forward")(2.0)


def test_a_jvp_that_returns_lists_is_refused():
    @njit
    def powers(x):
        return [x, x * x]

    nd.rule(powers, jvp=lambda p, t: ([p[0], p[0] ** 2], [t[0], 2.0 * p[0] * t[0]]))
    with pytest.raises(nd.RuleError, match="numbers, arrays and tuples of them; .* list"):
        nd.grad(lambda x: powers(x)[1], mode="forward")(3.0)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_function_with_a_rule_that_changes_an_argument_is_refused(mode):
    """The rule cannot tell the derivative of what is in `out`, which would be lost."""

    @njit
    def fill(x, out):
        out[0] = x * x
        return x

    nd.rule(
        fill,
        jvp=lambda p, t: (fill(p[0], p[1]), t[0]),
        vjp=(lambda x, out: (fill(x, out), 0), lambda kept, c: (c, np.zeros(1))),
    )

    def f(x):
        out = np.zeros(1)
        return fill(x, out) + out[0]

    with pytest.raises(nd.UnsupportedError, match="fill, .* changes its argument 'out'") as caught:
        nd.grad(f, mode=mode)(3.0)
    assert_clear(caught.value, __file__, "fill", "return fill(x, out) + out[0]")
