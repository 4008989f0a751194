"""Closures, and functions as values, in reverse mode."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.forward.compare import Programs
from tests.reverse.plain import check

programs = Programs()
A = np.array([0.5, 1.5, 2.5, -0.75])


@njit
def product(x, y):
    return x * y * y


@njit
def early(x):
    if x < 1.0:
        return x * x
    for i in range(10):
        x = x * 0.75
        if x < 0.8:
            return x + i
    return x * 100.0


# -- closures --------------------------------------------------------------------------------


@programs.on(0.5, 1.5)
def overwritten_before_a_comprehension(x, y):
    """Numba drops the argument, and gives its name to what the comprehension captures."""
    x = 0.5
    values = [v * x for v in (1.0, 2.0, y)]
    return values[0] + values[2] * y


@programs.on(0.5, 1.5)
def inner_functions(x, y):
    def square(t):
        return t * t

    def mixed(t, u=2.0):
        return square(t) * u + y

    return square(x) * mixed(y) + mixed(x, 3.0)


@programs.on(0.5, 1.5, 3)
def inner_function_captures_active_values(x, y, n):
    s = 0.0
    for i in range(n):

        def shifted(t):
            return t * y * x + i  # noqa: B023

        s += shifted(x) * shifted(s)
    return s


@programs.on(0.5, A, second=True)
def inner_function_captures_an_array(x, a):
    b = a * x

    def at(i):
        return b[i] * x

    return at(0) * at(1) + at(-1)


def factory(rate, table, function):
    @njit
    def made(x):
        return function(rate * x) * table[1] + table[0] * x

    return made


@njit
def cubed(x):
    return x * x * x


made_first = factory(2.0, np.array([3.0, 5.0]), cubed)
made_second = factory(7.0, np.array([11.0, 13.0]), made_first)
made_third = factory(7.0, np.array([11.0, 17.0]), made_second)


@programs.on(0.5)
def functions_from_one_factory(x):
    return made_first(x) + made_second(x) * made_third(x * 0.01)


# -- functions as values ---------------------------------------------------------------------


@njit
def apply(f, x, *args):
    return f(x, *args) * 2.0


@njit
def compose(f, g, x):
    return f(g(x))


@programs.on(cubed, 0.5, 1.5)
def function_argument(f, x, y):
    return f(x) * f(y) + apply(f, x) + apply(product, x, y) + compose(cubed, early, y)


@njit
def newton(f, slope, x, p):
    for _ in range(30):
        dx = f(x, p) / slope(x, p)
        x -= dx
        if abs(dx) < 1e-30:
            break
    return x


@njit
def residual(x, p):
    return x**3 + p * x - 2.0


@njit
def residual_slope(x, p):
    return 3.0 * x * x + p


@programs.on(0.75, 8)
def solver_with_functions(p, n):
    x = 1.0
    for _ in range(n):
        x -= residual(x, p) / residual_slope(x, p)
    return x * p


@programs.on((cubed, early), 0.5)
def functions_in_a_tuple(functions, x):
    return functions[0](x) * functions[1](x + 1.0)


@programs.on(0.5, True)
def function_chosen_by_branch(x, first):
    if first:
        s = apply(cubed, x)
    else:
        s = apply(early, x)
    return s * x


@pytest.mark.deep(but=["function_argument", "inner_function_captures_an_array", "inner_functions"])
@pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaExperimentalFeatureWarning")
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


def test_a_closure_is_differentiated_for_what_it_captured():
    """Two functions of one factory share their code, not their gradient."""
    gradients = [nd.grad(f, mode="reverse")(0.5) for f in (made_first, made_second)]
    first = 5 * 8 * 3 * 0.25 + 3  # of 5 * (2 x)**3 + 3 x
    inner = 7 * 0.5
    second = 13 * (5 * 8 * 3 * inner**2 + 3) * 7 + 11
    assert gradients == pytest.approx([first, second], rel=1e-14)
