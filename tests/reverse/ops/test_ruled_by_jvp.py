"""Reverse mode through functions whose rule is a jvp alone.

Slopes are three times those of the code, so that the rule shows, in forward mode by the jvp itself.
"""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit, prange, vectorize

import numbad as nd

Pair = namedtuple("Pair", "a b")
X = np.array([1.0, 2.0, 3.0])


@njit
def norm(x):
    return math.sqrt(np.sum(x * x))


@njit
def norm_jvp(primals, tangents):
    value = norm(primals[0])
    return value, 3.0 * np.sum(primals[0] * tangents[0]) / value


@njit
def product(a, x):
    return a @ x


@njit
def normalised(x):
    return x / np.sum(x)


@njit
def normalised_jvp(primals, tangents):
    total = np.sum(primals[0])
    out = np.empty_like(primals[0])
    for i in range(out.size):
        out[i] = tangents[0][i] / total - primals[0][i] * np.sum(tangents[0]) / total**2
    return normalised(primals[0]), out


@njit
def powers(pair, n, x):
    return Pair(pair.a * x**n, pair.b * x), x * x


@njit
def powers_jvp(primals, tangents):
    (a, b), n, x = primals
    (da, db), _, dx = tangents
    first = 3.0 * (da * x**n + a * n * x ** (n - 1) * dx)
    return powers(*primals), (Pair(first, db * x + b * dx), 2.0 * x * dx)


@njit
def scaled(x, y=2.0, n=3):
    return x * y**n


@vectorize
def square(x):
    return x * x


nd.rule(norm, jvp=norm_jvp)
nd.rule(product, jvp=lambda p, t: (product(*p), product(t[0], p[1]) + product(p[0], t[1])))
nd.rule(normalised, jvp=normalised_jvp)
nd.rule(powers, jvp=powers_jvp)
nd.rule(
    scaled,
    jvp=lambda p, t: (
        scaled(*p),
        3.0 * (t[0] * p[1] ** p[2] + p[0] * p[2] * p[1] ** (p[2] - 1) * t[1]),
    ),
)
nd.rule(square, jvp=lambda p, t: (square(p[0]), 6.0 * p[0] * t[0]))


@njit
def overwritten(x):
    y = x.copy()
    total = 0.0
    for k in range(4):
        total += norm(y) * k
        y *= 0.5
        y[0] = norm(y)
    return total


@njit
def linear(x):  # the jvp calls the function with the tangents
    return np.sum(product(np.outer(x, x * x), x) ** 2)


@njit
def of_arrays(x):
    return np.sum(normalised(normalised(x) * x) ** 2)


@njit
def of_tuples(x):
    pair, s = powers(Pair(x[0], x[1]), 3, x[2])
    return pair.a * pair.b + s * s


@njit
def by_keyword(x):
    return scaled(x[0]) + scaled(y=x[1], x=x[2]) + scaled(x[0], n=2, y=x[2])


@njit
def by_element(x):
    return np.sum(square(x)) * square(x[0])


PROGRAMS = overwritten, linear, of_arrays, of_tuples, by_keyword, by_element


@pytest.mark.parametrize("f", PROGRAMS)
def test_reverse_mode_agrees_with_forward_mode(f):
    gradient = nd.grad(f, mode="reverse")
    np.testing.assert_allclose(gradient(X), nd.grad(f, mode="forward")(X), rtol=1e-13)


@pytest.mark.deep(but=["by_element"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_so_do_second_derivatives(f):
    forward = nd.jacobian(nd.grad(f, mode="forward"), mode="forward")(X)
    for outer in ("forward", "reverse"):
        found = nd.jacobian(nd.grad(f, mode="reverse"), mode=outer)(X)
        np.testing.assert_allclose(found, forward, rtol=1e-12)


def test_the_rule_counts_not_the_code():
    f = njit(lambda x: norm(x) * 2.0)
    np.testing.assert_allclose(nd.grad(f, mode="reverse")(X), 6.0 * X / norm(X), rtol=1e-14)


def test_jacobians_by_rows():
    f = njit(lambda x: normalised(normalised(x) * x))
    found = nd.jacobian(f, mode="reverse")(X)
    np.testing.assert_allclose(found, nd.jacobian(f, mode="forward")(X), rtol=1e-13)


@pytest.mark.deep
def test_in_parallel_loops():
    @njit(parallel=True)
    def f(x):
        total = 0.0
        for i in prange(x.size):
            total += norm(x[i : i + 2]) * x[i]
        return total

    x = np.linspace(1.0, 2.0, 500)
    found = nd.grad(f, mode="reverse")(x)
    np.testing.assert_allclose(found, nd.grad(njit(f.py_func), mode="reverse")(x), rtol=1e-12)


def test_one_that_draws_draws_the_same_again():
    @njit
    def noisy(x):
        return x * np.random.random()

    def noisy_jvp(primals, tangents):
        drawn = np.random.random()
        return primals[0] * drawn, tangents[0] * drawn

    nd.rule(noisy, jvp=noisy_jvp)

    @njit
    def f(x):
        np.random.seed(7)
        total = 0.0
        for _ in range(3):
            total += noisy(x) * x
        return total

    value, slope = nd.value_and_grad(f, mode="reverse")(2.0)
    assert value == f(2.0)
    assert slope == pytest.approx(value, rel=1e-14)  # the value is x**2 times what is drawn


def test_a_result_that_is_an_argument_is_refused_where_it_shows():
    @njit
    def same(x):
        return x

    nd.rule(same, jvp=lambda p, t: (p[0], 3.0 * t[0]))

    @njit
    def seen(x):
        y = x * 2.0
        z = same(y)
        y[0] = 5.0
        return z[0] * z[1]

    with pytest.raises(nd.UnsupportedError, match="copy"):
        nd.grad(seen, mode="reverse")(X)


def test_a_jvp_that_returns_no_pair_is_named():
    wrong = njit(lambda x: x * x)
    nd.rule(wrong, jvp=lambda p, t: t[0])
    with pytest.raises(nd.RuleError, match=r"returns \(value, tangent\)"):
        nd.grad(njit(lambda x: wrong(x) * x), mode="reverse")(2.0)


def _with_jvp(code, jvp):
    function = njit(code)
    nd.rule(function, jvp=jvp)
    return function


def test_what_a_jvp_does_for_zero_tangents_alone():
    def short_cut(primals, tangents):
        if tangents[0] == 0.0:
            return primals[0] ** 2, 0.0
        return primals[0] ** 2, 2.0 * primals[0] * tangents[0]

    square_of = _with_jvp(lambda x: x * x, short_cut)
    assert nd.grad(square_of, mode="reverse")(3.0) == 6.0


def test_tangents_that_are_iterated_until_they_converge():
    """x = cos(a x): dx = -sin(a x) (x da + a dx)."""

    @njit
    def fixed(a):
        x = 1.0
        for _ in range(200):
            x = math.cos(a * x)
        return x

    def jvp(primals, tangents):
        a, x = primals[0], fixed(primals[0])
        slope, dx = -math.sin(a * x), 0.0
        while True:
            new = slope * (x * tangents[0] + a * dx)
            if abs(new - dx) <= 1e-15 * abs(new):
                return x, new
            dx = new

    nd.rule(fixed, jvp=jvp)
    x = fixed(0.7)
    exact = -math.sin(0.7 * x) * x / (1.0 + 0.7 * math.sin(0.7 * x))
    found = nd.grad(njit(lambda a: fixed(a) * 1.0), mode="reverse")(0.7)
    assert found == pytest.approx(exact, rel=1e-13)


def test_a_jvp_that_writes_to_its_tangents():
    def jvp(primals, tangents):
        tangents[0][:] = 2.0 * tangents[0]
        return 2.0 * primals[0], tangents[0]

    doubled = _with_jvp(lambda x: 2.0 * x, jvp)
    f = njit(lambda x: np.sum(doubled(x) * x))
    np.testing.assert_array_equal(nd.grad(f, mode="reverse")(X), 4.0 * X)


def test_one_argument_twice():
    times = _with_jvp(lambda x, y: x * y, lambda p, t: (p[0] * p[1], t[0] * p[1] + p[0] * t[1]))
    f = njit(lambda x: np.sum(times(x, x)) + np.sum(times(x, 1.0 * x)))
    np.testing.assert_array_equal(nd.grad(f, mode="reverse")(X), 4.0 * X)


@pytest.mark.dear
def test_a_linear_solve_of_its_own_result_at_second_order():
    @njit
    def solved(a, b):
        return np.linalg.solve(a, b)

    def jvp(primals, tangents):
        y = solved(*primals)
        return y, solved(primals[0], tangents[1] - tangents[0] @ y)

    nd.rule(solved, jvp=jvp)
    f = njit(lambda a, b: np.sum(np.sin(solved(a, b))))
    a, b = np.array([[3.0, 1.0], [0.5, 2.0]]), np.array([1.0, -2.0])
    found = nd.jacobian(nd.grad(f, 0, mode="reverse"), 1, mode="forward")(a, b)
    plain = njit(lambda a, b: np.sum(np.sin(np.linalg.solve(a, b))))
    expected = nd.jacobian(nd.grad(plain, 0, mode="forward"), 1, mode="forward")(a, b)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "jvp",
    [
        lambda p, t: (p[0] * 2.0, 2.0 * t[0] + 1.0),
        lambda p, t: (p[0] * 2.0, t[0] * t[0]),
    ],
)
@pytest.mark.parametrize("x", [1.5, X])
def test_one_that_is_not_linear_is_refused(jvp, x):
    f = njit(lambda x: np.sum(np.asarray(twice(x) * 1.0)))
    twice = _with_jvp(lambda x: x * 2.0, jvp)
    with pytest.raises(nd.RuleError, match="not linear in its tangents"):
        nd.grad(f, mode="reverse")(x)


@pytest.mark.parametrize(
    ("jvp", "told"),
    [
        (lambda p, t: (p[0] * 2.0, t[0].sum()), "a tangent like its value, array"),
        (lambda p, t: (p[0].sum(), t[0]), "a tangent like its value, float64"),
        (lambda p, t: (p[0] * 2.0, 2.0 * t[0][:1]), "another shape than its value"),
    ],
)
def test_tangents_of_another_kind_than_the_value_are_named(jvp, told):
    function = _with_jvp(lambda x: x * 2.0, jvp)
    if "float64" in told:
        function = _with_jvp(lambda x: x.sum(), jvp)
    with pytest.raises(nd.RuleError, match=told):
        nd.grad(njit(lambda x: np.sum(np.asarray(function(x)))), mode="reverse")(X)
