"""What Numba says of a program that it does not compile, with the way out."""

import math
import subprocess
import sys

import numba
import numpy as np
import pytest
import scipy.integrate
from numba import njit
from numba.core.errors import TypingError
from scipy.integrate import odeint
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq
from scipy.optimize import root as search

import numbad as nd
from numbad import root


def square(x):
    return x * x


LIST = [1.0, 2.0]
TABLE = {"k": 2.0}


class Box:
    def weighed(self, x):
        return 2.0 * x

    def __init__(self):
        self.k = 2.0


BOX = Box()


def excepting_a_class(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0


@numba.njit
def drawn_in_a_callee(x):
    return x * GENERATOR.normal()


MESSAGES = [
    (
        lambda x: square(x),
        r"Untyped global name 'square'(.|\n)*Way out: .*square = numba.njit\(square\)",
    ),
    (lambda x: x * LIST[1], r"'LIST'(.|\n)*Way out: make it an array, LIST = np.array\(LIST\)"),
    (lambda x: x * TABLE["k"], r"'TABLE'(.|\n)*Way out: .*pass the numbers that you need of it"),
    (lambda x: x * BOX.k, r"'BOX'(.|\n)*Way out: .*pass the numbers that you need of it"),
]


SPLINE = CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])


def grows(t, y, rate):
    return (rate * y[0],)


GENERATOR = np.random.default_rng(0)
STATEMENTS = [
    (
        lambda x: odeint(grows, (1.0,), (0.0, 1.0), (x,)),
        r"in place of SciPy's odeint, nd.ode.solver: write",
    ),
    (
        lambda x: scipy.integrate.solve_ivp(grows, (0.0, 1.0), (1.0,), args=(x,)),
        r"Way out: in place of SciPy's solve_ivp, nd.ode.solver: write solve = ",
    ),
    (
        lambda x: nd.ode.solve_ivp(grows, (0.0, 1.0), (1.0,), args=(x,)),
        r"Way out: in place of numbad's solve_ivp, nd.ode.solver: write solve = ",
    ),
    (
        lambda x: nd.sde.solver(grows, grows, dt=0.1)(1.0, (0.0, x), (), 0)[-1, 0],
        "Way out: in place of numbad's solver, a solver made before the function",
    ),
    (
        lambda x: brentq(lambda z: z * z - x, 0.0, 2.0),
        "Way out: in place of SciPy's brentq, nd.root",
    ),
    (
        lambda x: search(lambda z: z * z - x, 0.0, 2.0),
        "Way out: in place of SciPy's root, nd.root",
    ),
    (lambda x: root(lambda z, p: z - p, x, (square(x),)), r"Way out: .* square = numba.njit\("),
    (lambda x: nd.quad(grows, 0.0, x, (grows,)), "Way out: compile it too: write @numba.njit"),
    (lambda x: SPLINE(x), r"Way out: np.interp, or a loop over .* SPLINE.x and SPLINE.c"),
    (lambda x: sum(x * k for k in range(3)), r"Way out: .*list comprehension"),
    (excepting_a_class, r"Way out: `except Exception:`"),
    (lambda x: x * GENERATOR.normal(), r"Way out: .*pass GENERATOR as an argument"),
    (lambda x: drawn_in_a_callee(x), r"Way out: .*pass GENERATOR as an argument"),
]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("f", "message"), STATEMENTS)
def test_what_numba_does_not_compile(f, message, mode):
    with pytest.raises(numba.core.errors.NumbaError, match=message) as told:
        nd.grad(f, mode=mode)(1.0)
    assert "defect of numbad" not in str(told.value)


def test_the_way_out_of_what_other_operators_and_solvers_do_not_compile():
    told = "Way out: np.interp, or a loop over"
    with pytest.raises(nd.UnsupportedError, match=told) as refused:
        nd.batch(lambda x: SPLINE(x))(np.ones(3))
    assert "defect" not in str(refused.value)
    with pytest.raises(nd.ModelError, match=told):
        nd.ode.solver(lambda t, y: (-y[0] * SPLINE(t),))((1.0,), (0.0, 1.0), ())


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("f", "message"), MESSAGES)
def test_a_global_without_a_type(f, message, mode):
    with pytest.raises(numba.TypingError, match=message):
        nd.grad(f, mode=mode)(1.0)


@pytest.mark.parametrize("value", [{"k": 1.0}, BOX])
def test_an_object_as_the_argument(value):
    named = f"which is an object of class .*{type(value).__name__}; it must hold floats: pass"
    with pytest.raises(nd.ArgumentError, match=named) as told:
        nd.grad(lambda p: p)(value)
    assert "\n" not in str(told.value)


OBJECTS = [
    ({"k": 1.0}, "'p' of weighed is an object of class dict, .*: pass the numbers in it"),
    (BOX, "'p' of weighed is an object of class .*Box, .*: pass the numbers in it"),
    (square, r"'p' of weighed is an object of class function, .*: pass it compiled, numba.njit\("),
    (np.ones(2).astype(">f8"), r"'p' of weighed is an array of >f8, .*: .*\.astype\(np.float64\)"),
    (np.ma.array([1.0, 2.0]), r"'p' of weighed is a masked array, .*: .*\.filled\("),
    (np.array([1.0, "a"], object), "'p' of weighed is an array of Python objects, .*: convert it"),
    ([[1.0], [2.0]], r"'p' of weighed is a list of lists, .*: pass an array, np.array\("),
    ([], r"'p' of weighed is an empty list, .*: pass an array, np.array\("),
]


@pytest.mark.parametrize("operator", [nd.grad, nd.derivative, nd.hessian])
@pytest.mark.parametrize(("value", "message"), OBJECTS)
def test_an_object_as_a_constant(value, message, operator):
    def weighed(x, p):
        return 2.0 * x

    with pytest.raises(nd.ArgumentError, match=message) as told:
        operator(weighed)(1.0, value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.ones(2).astype(">f8"), r"'x', which is an array of >f8; .*\.astype\(np.float64\)"),
        (np.ma.array([1.0, 2.0]), r"'x', which is a masked array; .*\.filled\("),
        ([], r"'x', which is an empty list; .*np\.array\("),
    ],
)
def test_arrays_of_kinds_that_numba_has_not(value, message):
    with pytest.raises(nd.ArgumentError, match=message):
        nd.grad(lambda x: x.sum())(value)


def test_a_keyword_only_argument():
    def scaled(x, *, by=2.0):
        return by * x

    with pytest.raises(
        nd.ArgumentError, match=r"'by' of scaled .* keyword-only.* without the `\*`"
    ):
        nd.grad(scaled)(1.0)
    with pytest.raises(nd.ArgumentError, match=r"'\*\*more' of .*: name the arguments"):
        nd.grad(lambda x, **more: x)(1.0)


def test_a_method():
    with pytest.raises(nd.ArgumentError, match="Box.weighed, a method of an object"):
        nd.grad(BOX.weighed)


@pytest.mark.dear
def test_special_functions_that_are_imported_late():
    program = """
import numbad as nd
print(nd.grad(lambda x: x * x)(3.0))
import scipy.special as sp
print(nd.grad(lambda x: sp.gammaln(x))(2.5), float(sp.digamma(2.5)))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    first, found, exact = map(float, ran.stdout.split())
    np.testing.assert_allclose((first, found), (6.0, exact), rtol=1e-12)


def test_a_name_that_does_not_exist():
    """Numba's own error: it is no matter of differentiating."""
    with pytest.raises(TypingError, match="name 'undefined_name' is not defined") as caught:
        nd.grad(lambda x: undefined_name(x))(1.0)  # noqa: F821
    assert not isinstance(caught.value, nd.NumbadError)


@njit
def misspelt(x):
    return math.sinn(x)


@njit
def imports(x):
    import math

    return math.sin(x)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("callee", "line", "told"),
    [
        (misspelt, "return math.sinn(x)", "module 'math' has no attribute 'sinn'"),
        (imports, "import math", "Use of unsupported opcode (IMPORT_NAME) found"),
    ],
)
def test_what_numba_does_not_compile_is_no_defect_of_ours(callee, line, told, mode):
    for f in (callee, lambda x: callee(2.0 * x) + 1.0):
        with pytest.raises(nd.UnsupportedError) as caught:
            nd.grad(f, mode=mode)(2.0)
        message = str(caught.value)
        assert f"    {line}\n{told}\nWay out:" in message
        assert "defect" not in message


NUMBERS = [1.0, 2.0]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_global_list(mode):
    """Numba's own error, which the function raises as it stands."""
    with pytest.raises(TypingError, match="'NUMBERS' in globals, is not supported") as caught:
        nd.grad(lambda x: NUMBERS[0] * x, mode=mode)(2.0)
    assert not isinstance(caught.value, nd.NumbadError)
