"""Rules of the user's in reverse mode.

Rules here claim derivatives that the code does not have, so that a rule that is passed over shows.
"""

import math
import operator

import numpy as np
import pytest
from numba import njit
from numba.extending import overload

import numbad as nd

pytestmark = pytest.mark.usefixtures("rules_of_the_test")


def grad(f, argnums=0):
    return nd.grad(f, argnums, mode="reverse")


# -- scalar rules ----------------------------------------------------------------------------


def test_partials_replace_the_derivative_of_the_code():
    @njit
    def softplus(x):
        return math.log1p(math.exp(x))

    nd.scalar_rule(softplus, lambda ans, x: 7.0 / (1.0 + math.exp(-x)))

    @njit
    def deeper(x):
        return softplus(2.0 * x)

    logistic = [1 / (1 + math.exp(-t)) for t in (0.5, 1.0)]
    found = grad(lambda x: deeper(x) + softplus(x))(0.5)
    assert found == pytest.approx(14 * logistic[1] + 7 * logistic[0], rel=1e-14)
    assert grad(softplus)(0.5) == pytest.approx(7 * logistic[0], rel=1e-14)
    second = nd.derivative(grad(softplus))(0.5)
    assert second == pytest.approx(7 * logistic[0] * (1 - logistic[0]), rel=1e-13)


def test_partials_that_use_the_answer_in_a_loop():
    """Each iteration needs its own answer: x -> x / 2 with the claimed slope 10 * ans."""

    @njit
    def half(x):
        return x * 0.5

    nd.scalar_rule(half, lambda ans, x: 10.0 * ans)

    def f(x, n):
        for _ in range(n):
            x = half(x)
        return x

    assert grad(f)(8.0, 3) == pytest.approx(40.0 * 20.0 * 10.0)


def test_partials_of_two_arguments_one_of_them_an_int():
    @njit
    def ratio(x, n):
        return x / n

    nd.scalar_rule(ratio, lambda ans, x, n: (10.0 / n, -ans / n))
    assert grad(lambda x: ratio(x, 4))(3.0) == 2.5
    assert grad(lambda x, y: ratio(x, y), (0, 1))(3.0, 4.0) == (2.5, -0.1875)
    assert grad(lambda y: ratio(3.0, y))(4.0) == -0.1875


def test_a_rule_for_an_external_function():
    def external(x):
        raise NotImplementedError

    @overload(external)
    def _external(x):
        return lambda x: math.floor(1000.0 * math.sin(x)) / 1000.0

    nd.scalar_rule(external, lambda ans, x: math.cos(x))
    assert grad(lambda x: external(x) * x)(0.5) == pytest.approx(0.479 + 0.5 * math.cos(0.5))


# -- rules given as a vjp --------------------------------------------------------------------


def test_vjp_of_scalars():
    @njit
    def cube(x, y):
        return x * x * x * y

    def forward(x, y):
        return cube(x, y), (x, y)

    def backward(residuals, cotangent):
        x, y = residuals
        return 30.0 * x * x * y * cotangent, x**3 * cotangent

    nd.rule(cube, vjp=(forward, backward))
    assert grad(cube, (0, 1))(2.0, 0.5) == (60.0, 8.0)
    assert grad(lambda x: cube(x, 2.0) * x)(3.0) == 54.0 + 3 * 30 * 9 * 2
    assert grad(lambda x: cube(2.0, x) + x)(3.0) == 9.0
    assert nd.derivative(grad(cube))(2.0, 0.5) == 60.0


def test_vjp_of_a_plain_function():
    def square(x):
        return x * x

    nd.rule(square, vjp=(lambda x: (x * x, x), lambda x, cotangent: (7.0 * cotangent,)))
    assert grad(square)(2.0) == 7.0


def test_vjp_in_a_loop_keeps_the_residuals_of_every_iteration():
    @njit
    def square(x):
        return x * x

    nd.rule(square, vjp=(lambda x: (x * x, (x, 3.0)), lambda r, c: (r[0] * r[1] * c,)))

    def f(x, n):
        s = 0.0
        for i in range(n):
            s += square(x * i)
        return s

    assert grad(f)(2.0, 4) == pytest.approx(3.0 * 2.0 * (1 + 4 + 9))


@pytest.mark.dear
def test_vjp_of_arrays():
    @njit
    def solve(a, b):
        return np.linalg.solve(a, b)

    def forward(a, b):
        x = solve(a, b)
        return x, (a, x)

    def backward(residuals, cotangent):
        a, x = residuals
        by_b = np.linalg.solve(a.T, cotangent)
        return -np.outer(by_b, x), by_b

    nd.rule(solve, vjp=(forward, backward))
    a, b = np.array([[3.0, 1.0], [0.5, 2.0]]), np.array([1.0, -2.0])
    w = np.array([2.0, 5.0])

    @njit
    def f(a, b, w):
        x = solve(a, b)
        return x[0] * w[0] + x[1] * w[1]

    by_a, by_b, by_w = grad(f, (0, 1, 2))(a, b, w)
    x, y = np.linalg.solve(a, b), np.linalg.solve(a.T, w)
    np.testing.assert_allclose(by_a, -np.outer(y, x), rtol=1e-13)
    np.testing.assert_allclose(by_b, y, rtol=1e-13)
    np.testing.assert_allclose(by_w, x, rtol=1e-13)
    only_b = grad(lambda b: f(np.array([[3.0, 1.0], [0.5, 2.0]]), b * 2.0, np.array([2.0, 5.0])))(b)
    np.testing.assert_allclose(only_b, 2 * y, rtol=1e-13)


def test_vjp_whose_argument_is_overwritten_afterwards():
    """The residuals are those of the call, not what the array holds in the reverse sweep."""

    @njit
    def squares(a):
        return (a * a).sum()

    nd.rule(squares, vjp=(lambda a: (squares(a), a.copy()), lambda r, c: (20.0 * r * c,)))

    def f(a):
        s = squares(a)
        a[0] = 0.0
        return s * a[1]

    a = np.array([2.0, 3.0])
    np.testing.assert_allclose(grad(f)(a), [40.0 * 3.0, 60.0 * 3.0 + 13.0], rtol=1e-15)


def test_vjp_of_a_tuple():
    @njit
    def polar(x, y):
        return math.hypot(x, y), math.atan2(y, x)

    def forward(x, y):
        r, phi = polar(x, y)
        return (r, phi), (x, y, r)

    def backward(residuals, cotangent):
        (x, y, r), (by_r, by_phi) = residuals, cotangent
        return (
            by_r * x / r - by_phi * y / (r * r) + 1000.0,  # the rule is told by its constant
            by_r * y / r + by_phi * x / (r * r),
        )

    nd.rule(polar, vjp=(forward, backward))

    def f(x, y):
        r, phi = polar(x, y)
        return r * r * phi

    phi = math.atan2(4.0, 3.0)
    by_x, by_y = grad(f, (0, 1))(3.0, 4.0)
    assert by_x == pytest.approx(6 * phi - 4.0 + 1000.0, rel=1e-14)
    assert by_y == pytest.approx(8 * phi + 3.0, rel=1e-14)


def test_the_latest_rule_counts():
    @njit
    def identity(x):
        return x

    nd.rule(identity, vjp=(lambda x: (x, None), lambda r, c: (2.0 * c,)))
    assert grad(lambda x: identity(x))(1.0) == 2.0
    nd.rule(identity, vjp=(lambda x: (x, None), lambda r, c: (3.0 * c,)))
    assert grad(lambda x: identity(x))(1.0) == 3.0
    nd.scalar_rule(identity, lambda ans, x: 4.0)
    assert grad(lambda x: identity(x))(1.0) == 4.0


def test_a_rule_given_after_a_gradient_was_compiled_counts():
    @njit
    def doubled(x):
        return 2.0 * x

    @njit
    def f(x):
        return doubled(x) * 1.0

    assert grad(f)(1.0) == 2.0
    nd.rule(doubled, vjp=(lambda x: (doubled(x), None), lambda r, c: (5.0 * c,)))
    assert grad(f)(1.0) == 5.0


def test_vjp_of_a_function_of_numpy():
    def forward(a):
        det = np.linalg.det(a)
        return det, (det, np.linalg.inv(a).T.copy())

    nd.rule(np.linalg.det, vjp=(forward, lambda r, c: (10.0 * r[0] * r[1] * c,)))
    a = np.array([[3.0, 1.0], [0.5, 2.0]])
    found = grad(lambda a: np.linalg.det(a) * 2.0)(a)
    np.testing.assert_allclose(found, [[40.0, -10.0], [-20.0, 60.0]], rtol=1e-13)


@pytest.mark.parametrize(
    "given",
    [
        {"vjp": (lambda x: (np.sinc(x), x), lambda x, w: (7.0 * x * w,))},
        {"jvp": lambda p, t: (np.sinc(p[0]), 7.0 * p[0] * t[0])},
    ],
)
def test_a_function_of_numpy_called_by_keyword_is_refused(given):
    """The rule was passed over without a word."""
    nd.rule(np.sinc, **given)
    f = njit(lambda x: np.sinc(x=x) * 2.0)
    with pytest.raises(nd.UnsupportedError, match="called by keyword"):
        grad(f)(1.5)


def test_backward_that_returns_too_few_cotangents_is_refused():
    @njit
    def f(x, y):
        return x * y

    nd.rule(f, vjp=(lambda x, y: (x * y, (x, y)), lambda r, c: (r[1] * c,)))
    with pytest.raises(nd.NumbadError):
        grad(lambda x, y: f(x, y) * 1.0, (0, 1))(2.0, 3.0)


def test_a_rule_whose_code_does_not_compile_is_named():
    @njit
    def f(x):
        return x * x

    nd.rule(f, vjp=(lambda x: (x * x, x), lambda residual, cotangent: (residual.foo,)))
    told = r"the rule of .*f: its function <lambda> does not compile.*Unknown attribute 'foo'"
    with pytest.raises(nd.RuleError, match=f"(?s){told}"):
        grad(lambda x: f(x) * 2.0)(3.0)


@pytest.mark.dear
def test_powers_of_matrices_with_exponents_that_come_with_the_call():
    """NumPy's inverse, which one of them takes, has a rule of numbad's own: it returns a new matrix."""
    a = np.array([[2.0, 1.0], [0.5, 3.0]])
    for n in (-2, 0, 1, 3):
        forward, reverse = (
            nd.grad(lambda a, n: np.linalg.matrix_power(a, n).sum(), mode=mode)(a, n)
            for mode in ("forward", "reverse")
        )
        np.testing.assert_allclose(reverse, forward, rtol=1e-12, atol=1e-15)


def test_the_matrix_product_as_a_function():
    a, ones = np.array([[2.0, 1.0], [0.5, 3.0]]), np.ones((2, 2))
    found = nd.grad(lambda a: operator.matmul(a, a).sum(), mode="reverse")(a)
    np.testing.assert_allclose(found, ones @ a.T + a.T @ ones, rtol=1e-14)
