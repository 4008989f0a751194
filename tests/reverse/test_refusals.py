"""What reverse mode refuses: when it is compiled, by a message that leads to the place and out of it."""

import ctypes
import ctypes.util
import math
import operator
import re

import numpy as np
import pytest
from numba import cfunc, njit, objmode, types
from numba.core import types as numba_types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.lib.stride_tricks import as_strided

import numbad as nd
from tests.reverse.refusal import assert_clear


class Refused(list):
    """Functions to refuse: what message and source line name, and a value to call them with."""

    def for_(self, construct, source, x=1.5):
        def register(f):
            self.append(pytest.param(f, x, construct, source, id=f.__name__))
            return f

        return register


refused = Refused()


@refused.for_("a block in object mode", "with objmode")
def object_mode(x):
    with objmode(y="float64"):
        y = x * 2.0
    return y * x


@njit
def deep_object_mode(x):
    with objmode(y="float64"):
        y = x * 2.0
    return y


@refused.for_("a block in object mode", "with objmode")
def object_mode_in_a_callee(x):
    return deep_object_mode(x) * x


libm = ctypes.CDLL(ctypes.util.find_library("m"))
c_cube_root = libm.cbrt
c_cube_root.argtypes, c_cube_root.restype = [ctypes.c_double], ctypes.c_double


@refused.for_("(?i)c_cube_root|ctypes|function", "c_cube_root(x)")
def c_function(x):
    return c_cube_root(x) * x


c_cosine = libm.cos
c_cosine.argtypes, c_cosine.restype = [ctypes.c_double], ctypes.c_double


@refused.for_("(?i)c_cosine|cos|ctypes|function", "c_cosine(x)")
def ctypes_function(x):
    return c_cosine(x) * x


external_sine = numba_types.ExternalFunction("sin", types.float64(types.float64))


@refused.for_("(?i)sin|external|function", "external_sine(x)")
def external_function(x):
    return external_sine(x) * x


@intrinsic
def size_of(typingctx, x):
    def codegen(context, builder, signature, args):
        negative = builder.fcmp_ordered("<", args[0], context.get_constant(types.float64, 0.0))
        return builder.select(negative, builder.fneg(args[0]), args[0])

    return types.float64(types.float64), codegen


@refused.for_("(?i)size_of|intrinsic", "size_of(x)")
def user_intrinsic(x):
    return size_of(x) * x


@refused.for_("as_strided", "as_strided(a, (1,), (8,))", np.ones(2))
def function_without_a_rule(a):
    return as_strided(a, (1,), (8,))[0]


@njit
def first(a):
    b = a * 2.0
    return as_strided(b, (1,), (8,))[0]


@refused.for_("as_strided", "as_strided(b, (1,), (8,))", np.ones(2))
def function_without_a_rule_in_a_callee(a):
    return first(a) * a[0]


@refused.for_("(?i)view|bits", "a.view(", np.ones(2))
def bits_reinterpreted(a):
    b = a.view(np.int64)
    return b[0] * a[1]


@pytest.mark.parametrize(("f", "x", "construct", "source"), refused)
def test_a_refusal_names_construct_file_line_source_and_way_out(f, x, construct, source):
    njit(f)(x)  # it is Numba code
    with pytest.raises(nd.UnsupportedError) as caught:
        nd.grad(f, 0, mode="reverse")(x)
    assert_clear(caught.value, __file__, construct, source)


def test_a_refusal_is_found_when_compiling_not_when_reached():
    def f(x):
        if x > 100.0:
            return c_cube_root(x)
        return x

    with pytest.raises(nd.UnsupportedError):
        nd.grad(f, 0, mode="reverse")(1.0)


def test_what_is_not_differentiated_is_not_refused():
    """Calls on constants, and calls whose result does not reach the result, do no harm."""

    def f(x, a):
        first = as_strided(a, (1,), (8,))[0]
        c_cube_root(x)
        c = c_cosine(2.0)
        return x * x * first + c * x

    found = nd.grad(f, 0, mode="reverse")(3.0, np.ones(2))
    assert found == pytest.approx(6.0 + math.cos(2.0), rel=1e-15)


def test_the_way_out_by_a_rule_leads_out():
    @cfunc("float64(float64)")
    def square(x):
        return x * x

    @njit
    def wrapped(x):
        return square(x)

    nd.rule(wrapped, vjp=(lambda x: (wrapped(x), x), lambda r, c: (2.0 * r * c,)))
    assert nd.grad(lambda x: wrapped(x) * x, 0, mode="reverse")(2.0) == 12.0


def test_the_way_out_by_stop_gradient_leads_out():
    found = nd.grad(lambda x: c_cube_root(nd.stop_gradient(x)) * x, 0, mode="reverse")(8.0)
    assert found == 2.0


def test_a_refusal_inside_compiled_code_keeps_its_message():
    gradient = nd.grad(c_function, 0, mode="reverse")

    @njit
    def caller(x):
        return gradient(x) + 1.0

    for _ in range(2):
        with pytest.raises(TypingError) as caught:  # Numba makes one of its own, from the text
            caller(1.5)
        assert_clear(caught.value, __file__, "cbrt", "c_cube_root(x)")


def test_no_message_shows_names_that_the_user_did_not_write():
    def f(x, a):
        y = x * 2.0
        values = np.lib.stride_tricks.as_strided(a * y, (1,), (8,))
        return values[0]

    with pytest.raises(nd.UnsupportedError) as caught:
        nd.grad(f, 0, mode="reverse")(2.0, np.ones(2))
    assert not re.search(r"\$|#\d|@\d|Var\(", str(caught.value))
    assert str(caught.value).startswith(
        "reverse mode cannot differentiate the call of np.lib.stride_tricks.as_strided in f: File"
    )


def defective(x):
    y = x * x
    return y + math.sin(y)


@pytest.fixture
def no_disk_cache(monkeypatch):
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")


@pytest.mark.usefixtures("no_disk_cache")
@pytest.mark.parametrize(
    "place",
    ["numbad.reverse.ops.scalar_function.ScalarOp.reverse", "numbad.reverse.activity.classify"],
)
def test_a_failure_of_numbad_itself_is_told_as_one(monkeypatch, place):
    def fail(*args):
        raise KeyError("kws")

    monkeypatch.setattr(place, fail)
    with pytest.raises(nd.UnsupportedError, match="please report it") as caught:
        nd.grad(njit(defective), mode="reverse")(1.5)
    assert_clear(caught.value, __file__, "defective")
    assert "KeyError: 'kws'" in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)
    monkeypatch.undo()
    assert nd.grad(njit(defective), mode="reverse")(1.5) == pytest.approx(
        3.0 * (1.0 + math.cos(2.25)), rel=1e-15
    )


@pytest.mark.usefixtures("no_disk_cache")
def test_generated_code_that_does_not_compile_is_told_as_a_failure_of_numbad(monkeypatch):
    def nonsense(self, e):
        e.assign(e.binop(operator.add, e.const("text"), e.const(1.5)))

    monkeypatch.setattr("numbad.reverse.ops.scalar_function.ScalarOp.reverse", nonsense)
    with pytest.raises(nd.UnsupportedError, match="please report it") as caught:
        nd.grad(njit(defective), mode="reverse")(1.5)
    assert_clear(caught.value, __file__, "defective")
    assert isinstance(caught.value.__cause__, TypingError)


def test_the_same_refusal_comes_again():
    gradient = nd.grad(c_function, 0, mode="reverse")
    for _ in range(2):
        with pytest.raises(nd.UnsupportedError) as caught:
            gradient(1.5)
        assert_clear(caught.value, __file__, source="c_cube_root(x)")
