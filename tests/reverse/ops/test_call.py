"""Callees of every kind, and how they are given their arguments, in reverse mode."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit, vectorize
from numba.extending import overload, register_jitable

import numbad as nd
from tests.forward.compare import Programs
from tests.reverse.plain import check

programs = Programs()
A = np.array([0.5, 1.5, 2.5, -0.75])
Terms = namedtuple("Terms", "first second")


# -- callees ---------------------------------------------------------------------------------


@njit
def product(x, y):
    return x * y * y


@njit
def step(x, n):
    s = 1.0
    for i in range(n):
        s = s * x + i
    return s


@njit
def early(x):
    if x < 1.0:
        return x * x
    for i in range(10):
        x = x * 0.75
        if x < 0.8:
            return x + i
    return x * 100.0


@programs.on(0.5, 1.5)
def called_twice(x, y):
    return product(x, y) * product(y, x) + product(x, x)


@programs.on(0.5, 1.5, 3, second=True)
def loop_in_a_callee_in_a_loop(x, y, n):
    s = 0.0
    for i in range(n):
        s += step(x * s + y, i + 1)
    return s


@programs.on(0.5, 1.5)
def early_returns_in_a_callee(x, y):
    return early(x) * early(y) + early(x + y)


@njit
def level_4(x, a):
    a[0] += x
    return math.sin(x) * a[0]


@njit
def level_3(x, a):
    return level_4(x * x, a) + level_4(x, a[1:])


@njit
def level_2(x, a):
    s = 0.0
    for _ in range(2):
        s = level_3(x + s, a)
    return s


@njit
def level_1(x, a):
    if x > 0:
        return level_2(x, a) + a[1]
    return level_3(x, a)


@programs.on(0.5, A)
def deep_tree(x, a):
    return level_1(x, a) * level_1(-x, a) + level_2(a[0], a)


@njit
def chain_30(x, n):
    return x * math.cos(x)


for _depth in range(29):

    def _wrap(callee):
        @njit
        def wrapped(x, n):
            return callee(x + 0.01 * n, n + 1) * 1.01

        return wrapped

    chain_30 = _wrap(chain_30)


@programs.on(0.5, 0)
def thirty_levels(x, n):
    return chain_30(x, n)


@njit
def divide(total, by, power=2, shift=0.25):
    return (total / by) ** power + shift * by


@programs.on(0.5, 1.5)
def keywords_and_defaults(x, y):
    a = divide(x, y)
    b = divide(by=x, total=y)
    c = divide(x, power=3, by=y)
    return a + 10.0 * b + 100.0 * c + divide(x, y, 1, shift=y)


@njit
def scaled(x, by=2.5):
    return x * by


@programs.on(0.5)
def default_is_constant_or_active(x):
    return scaled(x) + scaled(x, x) * scaled(3.0, x) + scaled(2.0)


@njit
def total(*terms):
    s = 0.0
    for t in terms:
        s += t * t
    return s


@njit
def weighted(w, *terms):
    return w * terms[0] * terms[1] + len(terms)


@programs.on(0.5, 1.5)
def star_arguments(x, y):
    p = (x, y, x * y)
    return total(x, y, x * y) + total(*p) * total(x) + weighted(x, *p)


@njit
def added_up(a):
    s = 0  # an integer to begin with
    for v in a:
        s += v * v
    return s


@njit
def added_up_complex(a):
    s = 0.0
    for v in a:
        s += v * (v + 1j)
    return s


@njit
def zero_or_square(x):
    if x < 0:
        return 0
    return x * x


@programs.on(0.5, A)
def named_tuple_of_a_sum(x, a):
    p = Terms(x, added_up(a))
    terms = [Terms(zero_or_square(-x), p.first), Terms(zero_or_square(x), p.second)]
    return p.first * p.second + terms[0].second * terms[1].first * terms[1].second


@programs.on(0.5, A)
def named_tuple_of_a_complex_sum(x, a):
    p = Terms(x, added_up_complex(a) * x)
    return p.first * p.second.real + p.second.imag


@njit
def two(x, y):
    return x * y, Terms(x + y, np.full(2, x))


@programs.on(0.5, 1.5)
def results_of_many_kinds(x, y):
    p, terms = two(x, y)
    terms.second[1] *= p
    return p * terms.first + terms.second[1] * terms.second[0]


@njit
def result_unused(a, x):
    a[0] = a[0] * x
    return x * x


@programs.on(0.5, A)
def result_of_a_writer_unused(x, a):
    result_unused(a, x)
    return a[0] * x


@njit
def no_result(a, b, x):
    for i in range(len(a)):
        b[i] = a[i] * x


@programs.on(0.5, A)
def callee_writes(x, a):
    b = np.empty_like(a)
    no_result(a, b, x)
    no_result(b, b, x)
    no_result(b, a[::-1], x)
    return a[0] * b[1] + a[3]


@njit
def second_half(a):
    return a[len(a) // 2 :]


@njit
def larger(a, b):
    return a if a[0] > b[0] else b


@programs.on(0.5, A)
def callee_returns_its_argument_or_a_view(x, a):
    b = a * x
    second_half(a)[0] = x * a[1]
    larger(a, b)[1] = x * x
    return a[2] * a[1] + b[1] * b[0]


@programs.on(0.5, A)
def argument_given_twice(x, a):
    no_result(a, a, x)
    return a[0] * a[1] * product(x, x)


@njit(inline="always")
def inlined(x, y):
    if x > y:
        return x * x * y
    return y - x


@register_jitable
def jitable(x):
    return x * x * 3.0


@programs.on(0.5, 1.5)
def inlined_by_numba(x, y):
    return inlined(x, y) * inlined(y, x) + jitable(x)


@njit
def polynomial(x, coefficients):
    s = 0.0
    for c in coefficients:
        s = s * x + c
    return s


@programs.on(0.5, A)
def one_callee_with_active_and_constant_arguments(x, a):
    fixed = (1.0, 2.0)
    table = np.array([2.0, 3.0])
    return polynomial(x, a) * polynomial(2.0, a) + polynomial(x, fixed) + polynomial(2.0, table)


# -- what other decorators make --------------------------------------------------------------


@vectorize
def softened(x, y):
    if x > y:
        return x * y
    return x * x + y


@vectorize(["float64(float64)"])
def typed_ufunc(x):
    return x * x * math.exp(x)


@programs.on(0.5, 1.5)
def vectorized_on_scalars(x, y):
    return softened(x, y) * softened(y, x) + typed_ufunc(x)


def external(x, n):
    return x**n + 1.0


@overload(external)
def _external(x, n):
    def implementation(x, n):
        s = 1.0
        for _ in range(n):
            s *= x
        return s + 1.0

    return implementation


def by_type(x):
    return x * x * 5.0


@overload(by_type)
def _by_type(x):
    if isinstance(x, tuple) or hasattr(x, "count"):
        return lambda x: x[0] * 7.0
    return lambda x: x * x * 5.0


@programs.on(0.5, 1.5)
def overloaded_third_party(x, y):
    return external(x, 3) * external(y, 2) + by_type(x)


@pytest.mark.deep(
    but=[
        "argument_given_twice",
        "callee_returns_its_argument_or_a_view",
        "callee_writes",
        "default_is_constant_or_active",
        "keywords_and_defaults",
        "loop_in_a_callee_in_a_loop",
        "results_of_many_kinds",
    ]
)
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


# -- the differentiated function itself ------------------------------------------------------


def test_defaults_of_the_differentiated_function():
    gradient = nd.grad(divide, 0, mode="reverse")
    assert gradient(0.5, 2.0) == pytest.approx(2 * 0.5 / 4.0, rel=1e-15)
    assert gradient(0.5, 2.0, 3) == pytest.approx(3 * 0.25 / 8.0, rel=1e-15)


def test_a_default_that_is_differentiated_by():
    by = nd.grad(scaled, (0, 1), mode="reverse")
    assert by(2.0, 3.0) == (3.0, 2.0)


def test_star_arguments_of_the_differentiated_function_are_constants():
    gradient = nd.grad(weighted, 0, mode="reverse")
    assert gradient(2.0, 3.0, 5.0) == 15.0


@njit
def cubed(x):
    return x * x * x


def printing(x):
    y = x * x
    print("y =", y, "of", "text")
    return y * x


def test_print_passes_through_once(capfd):
    assert nd.grad(printing, mode="reverse")(1.5) == 3 * 1.5**2
    assert capfd.readouterr().out == "y = 2.25 of text\n"


def test_an_operator_within_the_differentiated_function():
    """Reverse mode enters what other operators made: d/dx of x * (x**3)' is 9 x**2."""
    slope = nd.derivative(cubed)
    by_reverse = nd.grad(cubed, mode="reverse")
    for inner in (slope, by_reverse):
        f = njit(lambda x, inner=inner: x * inner(x))
        assert nd.grad(f, 0, mode="reverse")(2.0) == pytest.approx(36.0, rel=1e-14)


@vectorize
def product_or_second(x, y):
    return x * y if x > 0.0 else y


def test_a_vectorized_function_of_arrays():
    def f(a, m, x):
        b = product_or_second(a, x)
        product_or_second(b, a, b)
        return b[0] + b[1] * x + product_or_second(m, x)[1, 0] + product_or_second(x, x)

    a, m = np.array([3.0, -1.0]), np.arange(1.0, 9.0).reshape(2, 4)[:, ::2]
    by_a, by_m, by_x = nd.grad(f, (0, 1, 2), mode="reverse")(a, m, 2.0)
    # b = (3 x, x), then (9 x, -x); f = a0**2 x + a1 x**2 + m10 x + x**2
    np.testing.assert_allclose(by_a, [2 * 3.0 * 2.0, 2.0**2], rtol=1e-15)
    np.testing.assert_array_equal(by_m, [[0.0, 0.0], [2.0, 0.0]])
    assert by_x == pytest.approx(9.0 - 2 * 2.0 + 5.0 + 2 * 2.0, rel=1e-15)


def test_an_operand_wider_than_the_array_written_to_is_refused():
    def f(a, m):
        a += m
        return a[0]

    with pytest.raises(nd.UnsupportedError, match="reverse mode cannot differentiate"):
        nd.grad(f, mode="reverse")(np.ones(2), np.ones((2, 2)))


def test_ufuncs_into_arrays():
    def f(a, x):
        b = np.zeros(2)
        np.multiply(a, x, b)
        np.multiply(b, a, b)
        np.sin(b, b)
        return b[0] + 3.0 * b[1]

    a, x = np.array([0.5, -1.25]), 0.75
    by_a, by_x = nd.grad(f, (0, 1), mode="reverse")(a, x)
    outer = np.cos(a * a * x) * [1.0, 3.0]  # f = sin(a0**2 x) + 3 sin(a1**2 x)
    np.testing.assert_allclose(by_a, outer * 2.0 * a * x, rtol=1e-14)
    assert by_x == pytest.approx(np.dot(outer, a * a), rel=1e-14)
