"""Partials of every rule against mpmath's numerical derivative of the function itself."""

import cmath
import itertools
import math
import operator

import numpy as np
import pytest
from mpmath import mp
from numba.extending import _Intrinsic

import numbad as nd
from numbad.rules import (
    COMPARISONS,
    CONSTANT,
    SCALAR,
    Apply,
    Arg,
    ScalarRule,
    evaluate,
    walk,
    where,
)
from numbad.rules.special_functions import PARTIALS
from tests.rules.oracle import (
    exact_partial,
    exact_point,
    exactly,
    float_call,
    in_floats,
    relative_error,
    second_partials,
    symbolic_partial,
)
from tests.rules.scalar_cases import CASES

every_case = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(50):
        yield


def active(case):
    return [k for k in range(len(case.domain)) if k not in case.integers]


def worst_partial(case, rule):
    """The largest relative error of the partials in mpmath, over the case's samples."""
    exprs, worst = rule.trace(len(case.domain)), 0.0
    for sample in case.samples():
        point = exact_point(case, sample)
        values = exactly(exprs, point, case.exact(*point))
        errors = [relative_error(values[k], exact_partial(case, point, k)) for k in active(case)]
        worst = max(worst, *errors)
    return worst


def is_shipped(fn):
    """Whether a rule is numbad's own: those that other tests give are for jitted functions.

    Those of SciPy's functions, if a test has loaded them, have cases in `tests/special/`; those of intrinsics
    are read off their instructions.
    """
    if fn in PARTIALS or isinstance(fn, _Intrinsic):
        return False
    return not hasattr(fn, "py_func") or fn.py_func.__module__ == "numbad.rules.special"


def test_every_rule_has_a_case():
    assert {case.fn for case in CASES} == {fn for fn in SCALAR if is_shipped(fn)}


@every_case
def test_partials_are_those_of_the_function(case):
    assert worst_partial(case, SCALAR[case.fn]) < 1e-13


@pytest.mark.parametrize("fn", [math.sin, math.gamma, math.atan2, operator.pow, np.cbrt])
def test_a_rule_that_is_slightly_wrong_is_found(fn):
    partials = SCALAR[fn].partials

    def off(ans, *args):
        right = partials(ans, *args)
        return tuple(1.0005 * p for p in right) if isinstance(right, tuple) else 1.0005 * right

    case = next(case for case in CASES if case.fn is fn)
    assert worst_partial(case, ScalarRule(fn, off)) > 1e-4


@every_case
def test_second_partials_are_those_of_the_function(case):
    seconds = second_partials(case, SCALAR[case.fn])
    for sample in case.samples(4):
        point = exact_point(case, sample)
        for (j, k), expr in seconds.items():
            value, exact = exactly(expr, point, None), exact_partial(case, point, j, k)
            assert relative_error(value, exact, noise(case, point, j, k)) < 1e-12, (sample, j, k)


def noise(case, point, *by):
    """What the 16 digits of a rule's constants leave of second partials that nearly cancel."""
    firsts = [abs(exact_partial(case, point, k)) for k in by]
    return 1e-12 * float(sum(firsts))


@pytest.mark.parametrize("case", [c for c in CASES if c.holomorphic], ids=str)
def test_complex_partials_are_those_of_the_function(case):
    exprs = SCALAR[case.fn].trace(len(case.domain), kind="complex")
    for sample in case.complex_samples():
        point = exact_point(case, sample)
        values = exactly(exprs, point, case.exact(*point))
        for k in active(case):
            assert relative_error(values[k], exact_partial(case, point, k)) < 1e-14


@pytest.mark.parametrize(
    "case", [c for c in CASES if getattr(c.fn, "__module__", "") != "cmath"], ids=str
)
def test_partials_keep_their_digits_in_floats(case):
    exprs = SCALAR[case.fn].trace(len(case.domain))
    for sample in case.samples(20):
        values = in_floats(exprs, as_floats(case, sample), answer(case, sample))
        for k in active(case):
            exact = exact_partial(case, exact_point(case, sample), k)
            assert relative_error(float(values[k]), exact, case.atol) < 3e-13, (sample, k)


KINKS = [
    (case, *kink)
    for case in CASES
    for kink in case.kinks
    if getattr(case.fn, "__module__", "") != "cmath"
]


@pytest.mark.parametrize(("case", "point", "partials"), KINKS, ids=str)
def test_kinks_are_as_documented(case, point, partials):
    exprs = SCALAR[case.fn].trace(len(case.domain))
    values = in_floats(exprs, as_floats(case, point), answer(case, point))
    np.testing.assert_array_equal(values, partials)


def as_floats(case, point):
    return tuple(v if k in case.integers else np.float64(v) for k, v in enumerate(point))


def answer(case, point):
    return float_call(case.fn, as_floats(case, point))


def test_partials_use_only_functions_that_have_rules_themselves():
    understood = {*SCALAR, *CONSTANT, *COMPARISONS, operator.and_, where}
    for case in CASES:
        used = {node.fn for node in walk(*SCALAR[case.fn].trace(len(case.domain))) if is_call(node)}
        assert used <= understood, case


def is_call(node):
    return isinstance(node, Apply)


@pytest.mark.parametrize(
    ("exponent", "x", "partial"),
    [(0, 0.0, 0), (0, 3.0, 0), (1, 0.0, 1), (2, -3.0, -6), (3, -2.0, 12), (-1, 2.0, -0.25)],
)
def test_power_by_a_literal_int_is_folded(exponent, x, partial):
    by_x, _ = SCALAR[operator.pow].trace(2, {1: exponent})
    assert not any(is_call(node) and node.fn is where for node in walk(by_x))
    assert in_floats(by_x, (np.float64(x),), np.float64(x) ** exponent) == partial


def test_square_folds_to_a_product():
    assert SCALAR[operator.pow].trace(2, {1: 2})[0] is 2 * Arg(0)


@pytest.mark.parametrize(("x", "y", "mixed"), [(2.0, 0.0, 0.5), (0.0, 1.0, -np.inf), (0.0, 3.0, 0)])
def test_mixed_partial_of_a_power_is_symmetric_where_a_factor_vanishes(x, y, mixed):
    case = next(case for case in CASES if case.fn is operator.pow)
    seconds = second_partials(case, SCALAR[operator.pow])
    point = np.float64(x), np.float64(y)
    assert in_floats(seconds[0, 1], point, None) == mixed
    assert in_floats(seconds[1, 0], point, None) == mixed


def test_second_derivative_of_a_power_at_zero():
    firsts = SCALAR[operator.pow].trace(2)
    second = symbolic_partial(firsts[0], 0)
    for y, expected in ((0.0, 0.0), (1.0, 0.0), (2.0, 2.0), (3.0, 0.0)):
        assert in_floats(second, (np.float64(0.0), np.float64(y)), None) == expected


@pytest.mark.parametrize("fn", [math.hypot, np.logaddexp, np.maximum, operator.add])
def test_symmetric_functions_have_symmetric_rules(fn):
    by_x, by_y = SCALAR[fn].trace(2)
    x, y = np.float64(1.25), np.float64(-0.5)
    ans = float_call(fn, (x, y))
    assert in_floats(by_x, (x, y), ans) == in_floats(by_y, (y, x), ans)


ON_CUTS = {
    **dict.fromkeys((cmath.asin, cmath.acos, cmath.atanh), ((2.0, 1), (-2.0, 1))),
    **dict.fromkeys((cmath.asinh, cmath.atan), ((2.0, 1j), (-2.0, 1j))),
    **dict.fromkeys((cmath.acosh, cmath.sqrt, cmath.log), ((-2.0, 1), (-0.5, 1))),
}


def beside(fn, sign):
    """Points on the cut of `fn`, on the side that the zero's sign says, and the cut's direction."""
    for at, direction in ON_CUTS[fn]:
        yield (complex(at, sign) if direction == 1 else complex(sign, at)), direction


@pytest.mark.parametrize(("fn", "zero"), list(itertools.product(ON_CUTS, (0.0, -0.0))))
def test_complex_partials_are_on_the_side_of_the_cut_that_the_zero_says(fn, zero):
    (expr,) = SCALAR[fn].trace(1, kind="complex")
    h = 1e-6
    for z, direction in beside(fn, zero):
        ahead, behind = shifted(z, h, direction), shifted(z, -h, direction)
        difference = (fn(ahead) - fn(behind)) / (2 * h * direction)
        value = in_complex(expr, z, fn(z))
        assert abs(value - difference) < 1e-7 * abs(difference), (z, value, difference)


def shifted(z, h, direction):
    """Along the cut, the other part's signed zero left alone."""
    return complex(z.real + h, z.imag) if direction == 1 else complex(z.real, z.imag + h)


def in_complex(expr, z, ans):
    """Literals become complex numbers, as in compiled code."""
    return evaluate(expr, (z,), ans, complex, float_call)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_distance_has_no_second_derivative_at_zero(mode):
    """So that of its square, which is 2, comes out as nan and not as 0; a mask protects from it."""
    squared = nd.hessian(lambda x: math.hypot(x[0], x[1]) ** 2, mode=mode)
    masked = nd.hessian(lambda x, m: m[0] * math.hypot(x[0], x[1]), mode=mode)
    assert np.isnan(np.diag(squared(np.zeros(2)))).all()
    assert masked(np.zeros(2), np.zeros(1)).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(("fn", "base"), [(np.logaddexp, mp.e), (np.logaddexp2, 2)])
@pytest.mark.parametrize(
    ("x", "y"),
    [
        (1e16, 1e16),
        (1e14, 1e14 - 1.0),
        (1e12, 1e12 - 1.0),
        (-700.0, 3.0),
        (800.0, -800.0),
        (0.3, 0.3),
    ],
)
def test_weights_of_a_sum_of_exponentials_are_those_of_the_difference(fn, base, x, y):
    """The logarithm of a large sum has lost the digits that tell the two apart."""
    with mp.workdps(60):
        rate = mp.log(base)
        by_x = 1 / (1 + mp.exp((mp.mpf(y) - x) * rate))
        expected = float(by_x), float(1 - by_x)
        bend = float(rate * by_x * (1 - by_x))
    for mode in ("forward", "reverse"):
        found = nd.grad(lambda a, b: fn(a, b), (0, 1), mode=mode)(x, y)
        assert found == pytest.approx(expected, rel=1e-15, abs=1e-300)
    hessian = nd.hessian(lambda a, b: fn(a, b), (0, 1))(x, y)
    for row, signs in zip(hessian, ((1, -1), (-1, 1)), strict=True):
        assert row == pytest.approx([sign * bend for sign in signs], rel=1e-13, abs=1e-300)


def log_of_quotient(z):
    return math.log(1.0 / (1.0 + math.exp(-z)))


def log_of_power(z):
    return math.log((1.0 + math.exp(-z)) ** -1)


def log_of_ratio(z):
    small = math.exp(z)
    return math.log((3.0 + small) / (small + math.exp(-z)))


def log_of_reciprocal(z):
    return np.log(np.reciprocal(1.0 + np.exp(-z)))


def log_in_an_array(z):
    return np.log(1.0 / (1.0 + np.exp(-z * np.ones(2))))[0]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    "f", [log_of_quotient, log_of_power, log_of_ratio, log_of_reciprocal, log_in_an_array]
)
def test_slopes_of_quotients_that_no_float_holds(f, mode):
    """1 / u has the slope 1 / u**2, which is 0 for u = exp(400) where that of its logarithm is 1."""
    assert nd.grad(f, mode=mode)(-400.0) == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_reciprocal_of_a_complex_zero_raises_nothing(mode):
    """Numba's division of complex numbers does; its `np.reciprocal` does not."""

    def f(x):
        return np.reciprocal(np.array([x + 0j, 1.0 + 1j * x]))[1].real  # 1 / (1 + x**2)

    assert nd.grad(f, mode=mode)(0.5) == pytest.approx(-1.0 / 1.25**2, rel=1e-14)
    assert nd.grad(f, mode=mode)(0.0) == 0.0


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_quotient_of_small_numbers(mode):
    def f(t):
        return math.log(3.0 / math.exp(t)) + 1e-170 * np.reciprocal(1e-170 * math.exp(t + 400.0))

    assert nd.grad(f, mode=mode)(-400.0) == pytest.approx(-2.0, rel=1e-13)
