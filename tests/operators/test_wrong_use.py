"""What a user sees who gets it wrong: the culprit by name, and the way out."""

import functools
import math
import re

import numpy as np
import pytest
from numba import float64, int64, njit, types
from numba.core.errors import TypingError
from numba.experimental import jitclass
from numba.typed import Dict, List
from numpy.lib.stride_tricks import as_strided

import numbad as nd


def f(x, count):
    return x * count


@pytest.mark.parametrize("operator", [nd.grad, nd.value_and_grad, nd.jacobian])
def test_an_int_where_a_float_is_meant(operator):
    with pytest.raises(
        nd.ArgumentError, match=r"argument 'x', which is an int.*pass a float \(2.0"
    ):
        operator(f)(2, 3)
    with pytest.raises(nd.ArgumentError, match="argument 'count', which is an int"):
        operator(f, argnums=1)(2.0, 3)


def test_an_int_array_where_floats_are_meant():
    with pytest.raises(nd.ArgumentError, match=r"'a', which is an array of int64.*astype"):
        nd.grad(lambda a: a.sum())(np.arange(3))


def test_derivative_by_an_array_or_an_int():
    with pytest.raises(nd.ArgumentError, match=r"argument 'a' is an array.*nd.grad or nd.jacobian"):
        nd.derivative(lambda a: a.sum())(np.ones(3))
    with pytest.raises(nd.ArgumentError, match=r"argument 'x' is an int.*pass a float"):
        nd.derivative(f)(2, 3)


def test_grad_of_what_is_no_float():
    with pytest.raises(
        nd.ArgumentError, match="returns a 1-D array. Perhaps you meant nd.jacobian"
    ):
        nd.grad(lambda x: x * np.ones(3))(1.0)
    with pytest.raises(nd.ArgumentError, match="returns a tuple"):
        nd.grad(lambda x: (x, x))(1.0)
    with pytest.raises(nd.ArgumentError, match="returns None.*out="):
        nd.grad(lambda x: None)(1.0)
    with pytest.raises(nd.ArgumentError, match="returns a complex number"):
        nd.grad(lambda x: x * 1j)(1.0)
    with pytest.raises(nd.ArgumentError, match="returns numbers"):
        nd.jacobian(lambda x: "text")(1.0)


Observation = np.dtype([("x", np.float64), ("y", np.float64)])
WITHOUT_DERIVATIVE = {
    "a list of float64": lambda: List([2.0, 3.0]),
    "a dict": lambda: Dict.empty(int64, float64),
    "a structured array": lambda: np.zeros(2, Observation),
    "a record": lambda: np.zeros(2, Observation)[0],
    "a jitclass object (Spring)": lambda: Spring(List([2.0])),
}


@jitclass([("stiffness", types.ListType(float64))])
class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness


@njit
def ignores(held, s):
    return s * s


@pytest.mark.parametrize("kind", WITHOUT_DERIVATIVE)
def test_floats_that_are_out_of_reach(kind):
    held, said = WITHOUT_DERIVATIVE[kind](), re.escape(kind)
    for operator in (nd.grad, nd.jacobian, nd.hessian):
        with pytest.raises(nd.ArgumentError, match=f"'held', which is {said}.*: pass "):
            operator(ignores)(held, 2.0)
    for operator in (nd.jvp, nd.hvp):
        with pytest.raises(nd.ArgumentError, match=f"'held' has a tangent.*{said}, is a constant"):
            operator(ignores)((held, 3.0), (1.0, 1.0))
    assert nd.jvp(ignores)((held, 3.0), (None, 1.0)) == (9.0, 6.0)
    assert nd.vjp(ignores)((held, 3.0), 1.0) == (9.0, (None, 6.0))


@njit
def maybe(x):
    if x > 1.0:
        return x * x
    return None


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("f", "kind"),
    [
        (njit(lambda x: [x, x * x]), "a list of float64"),
        (njit(lambda x: (x, [x])), "a list of float64"),
        (maybe, "float64 or None"),
        (njit(lambda x: {1: x * x}), "a dict"),
    ],
)
def test_results_whose_floats_are_out_of_reach(f, kind, mode):
    message = f"returns {kind}, whose floats have no derivative. Return a float"
    with pytest.raises(nd.ArgumentError, match=message):
        nd.jacobian(f, mode=mode)(2.0)
    with pytest.raises(nd.ArgumentError, match=message):
        nd.derivative(f)(2.0) if mode == "forward" else nd.vjp(f)((2.0,), 1.0)
    with pytest.raises(nd.ArgumentError, match=message):
        nd.jvp(f)((2.0,), (1.0,))


@pytest.mark.parametrize("operator", [nd.jvp, nd.vjp, nd.hvp, nd.grad_and_hvp])
def test_no_float_at_all(operator):
    with pytest.raises(nd.ArgumentError, match=r"no argument holds floats \('x' is an int.*pass a"):
        operator(f)((2, 3), (1.0, 1.0) if operator is not nd.vjp else 1.0)


def test_half_precision():
    for x in (np.float16(2.0), np.ones(2, np.float16)):
        with pytest.raises(nd.ArgumentError, match=r"float16.*computes with float32 and float64"):
            nd.jacobian(lambda x: x * x)(x)


def test_second_order_operators_speak_for_themselves():
    def squares(a):
        return a * a

    a = np.ones(2)
    with pytest.raises(
        nd.ArgumentError, match=r"nd\.hessian needs a function that returns a float"
    ):
        nd.hessian(squares)(a)
    with pytest.raises(nd.ArgumentError, match=r"nd\.hessian differentiates by argument 'x'"):
        nd.hessian(f)(2, 3)
    with pytest.raises(nd.ArgumentError, match=r"nd\.hvp needs a function that returns a float"):
        nd.hvp(squares)((a,), (a,))
    with pytest.raises(nd.ArgumentError, match=r"nd\.grad_and_hvp needs a function that returns"):
        nd.grad_and_hvp(squares)((a,), (a,))


@njit
def fills(x, out):
    out[:] = x


@njit
def fills_and_returns(x, out):
    out[:] = x
    return out.sum()


def test_out():
    for wrong, message in ((7, "out=7, but the function has 2"), ("out", "out is an argument")):
        for operator in (nd.jacobian, nd.jvp, nd.vjp):
            with pytest.raises(nd.ArgumentError, match=message):
                operator(fills, out=wrong)
    x, buffer = np.ones(2), np.zeros(2)
    for call in (
        lambda: nd.jacobian(fills_and_returns, out=1)(x, buffer),
        lambda: nd.jacobian(fills_and_returns, out=1, mode="reverse")(x, buffer),
        lambda: nd.jvp(fills_and_returns, argnums=0, out=1)((x, buffer), (x,)),
        lambda: nd.vjp(fills_and_returns, argnums=0, out=1)((x, buffer), x),
    ):
        with pytest.raises(nd.ArgumentError, match="must return None; it returns a float64"):
            call()
    with pytest.raises(nd.ArgumentError, match="out=0 names 'x', which is no array of floats"):
        nd.jvp(fills, argnums=1, out=0)((2.0, buffer), (x,))
    with pytest.raises(nd.ArgumentError, match="returns None. If it writes its result into"):
        nd.vjp(fills)((x, buffer), x)
    with pytest.raises(nd.ArgumentError, match="returns None. If it writes its result into"):
        nd.derivative(fills)(2.0, buffer)
    with pytest.raises(nd.ArgumentError, match="returns None. If it writes its result into"):
        nd.sparsity(fills)(x, buffer)


def test_what_reverse_mode_refuses_of_complex_arguments():
    """Forward mode has no gradients by them, which is not what is wrong."""

    def of_a_view(z):
        w = z * z
        part = w.real
        w[0] = 1.0
        return part.sum()

    z = np.array([1.0 + 2.0j, 0.5j])
    with pytest.raises(nd.UnsupportedError, match=r"\.real"):
        nd.hvp(of_a_view)((z,), (z,))


def test_complex_arguments_of_gradients():
    for operator in (nd.grad, nd.jacobian):
        with pytest.raises(nd.ArgumentError, match="'z', which is complex: use nd.derivative"):
            operator(lambda z: abs(z), mode="forward")(1.0 + 2.0j)
    with pytest.raises(nd.ArgumentError, match="'z', which is complex: use nd.derivative"):
        nd.jacobian(lambda z: abs(z))(1.0 + 2.0j)


@pytest.mark.parametrize(
    ("argnums", "message"),
    [
        (2, "has 2 argument"),
        ((0, 0), "twice"),
        ("x", "positions"),
        ((), "empty"),
        (True, "positions"),
    ],
)
def test_argnums(argnums, message):
    with pytest.raises(nd.ArgumentError, match=message):
        nd.grad(f, argnums=argnums)


def test_argnum_of_derivative():
    for wrong in ((0, 1), None, "x", True):
        with pytest.raises(nd.ArgumentError, match="argnum is an argument position, not"):
            nd.derivative(f, wrong)
    with pytest.raises(nd.ArgumentError, match="argnum=2, but the function has 2"):
        nd.derivative(f, 2)
    with pytest.raises(nd.ArgumentError, match="argnum=0, but the function has no argument"):
        nd.derivative(lambda: 1.0)


def test_modes_that_do_not_exist():
    with pytest.raises(nd.ArgumentError, match="mode is"):
        nd.grad(f, mode="backward")
    with pytest.raises(nd.ArgumentError, match="chunk"):
        nd.grad(f, chunk=0)


def test_what_is_no_function():
    for wrong in (3, "f", functools.partialmethod(f, 1.0)):
        with pytest.raises(nd.ArgumentError, match="takes a Python function or a Numba dispatcher"):
            nd.grad(wrong)


def test_tangents_that_do_not_fit():
    with pytest.raises(
        nd.ArgumentError, match="needs 2 tangents, one for every argument; it got 1"
    ):
        nd.jvp(f)((1.0, 2), (1.0,))
    with pytest.raises(nd.ArgumentError, match="no value for argument 'count' in primals"):
        nd.jvp(f)((1.0,), (1.0, 1.0))
    with pytest.raises(nd.ArgumentError, match="two tuples"):
        nd.jvp(f)(1.0, 1.0)
    with pytest.raises(nd.ArgumentError, match="the tangent of 'a' must have its structure"):
        nd.jvp(lambda a: a.sum())((np.ones(3),), (1.0,))
    with pytest.raises(nd.ArgumentError, match="must have the shape of the argument"):
        nd.jvp(lambda a: a.sum())((np.ones(3),), (np.ones(2),))


@njit
def through_memory(x):
    return as_strided(np.eye(2) * x, (1,), (8,))[0]


@njit
def caller(x):
    return through_memory(2.0 * x) + 1.0


@pytest.mark.parametrize("function", [through_memory, caller])
def test_what_cannot_be_differentiated_names_its_line(function):
    with pytest.raises(nd.UnsupportedError) as caught:
        nd.grad(function)(2.0)
    message = str(caught.value)
    assert "Reverse mode refuses it as well" in message
    line = through_memory.py_func.__code__.co_firstlineno + 2
    assert "cannot differentiate through_memory" in message
    assert f'test_wrong_use.py", line {line}' in message
    assert "return as_strided(np.eye(2) * x, (1,), (8,))[0]" in message
    assert "Way out:" in message


def test_a_name_that_does_not_exist():
    """Numba's own error: it is no matter of differentiating."""
    with pytest.raises(TypingError, match="name 'undefined_name' is not defined") as caught:
        nd.grad(lambda x: undefined_name(x))(1.0)  # noqa: F821
    assert not isinstance(caught.value, nd.NumbadError)


def test_an_int_array_cannot_hold_a_derivative():
    @njit
    def truncated(x):
        a = np.zeros(3, dtype=np.int64)
        a[0] = x
        return a[0] * x

    with pytest.raises(nd.UnsupportedError, match=r"a\[0\] = x"):
        nd.grad(truncated, mode="forward")(2.0)
    assert nd.grad(truncated, mode="reverse")(2.5) == 2.0  # what is cut off is no part of a[0]


@njit
def appends(x, items):
    items.append(3.0)
    return x * items[0] * len(items)


@njit
def reads(x, items):
    return x * items[0] * len(items)


def test_a_list_that_is_changed_within_the_tuple_of_arguments():
    for operator, other in ((nd.jvp(appends, 0), (1.0,)), (nd.vjp(appends, 0), 1.0)):
        items = [2.0]
        with pytest.raises(
            nd.ArgumentError, match=r"may change its argument .items.*Way out: numba\.typed\.List"
        ):
            operator((5.0, items), other)
        assert items == [2.0]
        typed = List([2.0])
        assert operator((5.0, typed), other)[0] == 20.0
        assert list(typed) == [2.0, 3.0]
    assert nd.vjp(reads, 0)((5.0, [2.0]), 1.0) == (10.0, (2.0,))


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


def test_tangents_of_arguments_that_come_in_through_a_star():
    def product(x, *factors):
        return x * factors[0] * factors[1]

    for operator in nd.jvp, nd.hvp:
        with pytest.raises(nd.ArgumentError, match=r"'\*factors'; pass a tuple as one argument"):
            operator(product)((2.0, 3.0, 4.0), (1.0, 1.0, 1.0))
