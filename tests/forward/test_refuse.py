"""Refusals of forward mode: the function, file, line and way out that they name."""

import math
import re

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError
from numba.typed import Dict, List
from numpy.lib.stride_tricks import as_strided

import numbad as nd


def int_store(x):
    counts = np.zeros(2, np.int64)
    counts[0] = x
    return counts[0] * x


def typed_local(x):
    s = 2.0 * x
    return s


def unknown_method(a):
    return as_strided(a, (1,), (8,))[0]


def branches_on_type(x):
    if isinstance(x, str):
        return 0.0
    if isinstance(x, (int, float)):
        return x * x
    return x


@pytest.mark.parametrize(
    ("f", "x", "line"),
    [
        (int_store, 2.5, "counts[0] = x"),
        (njit(locals={"s": types.Optional(types.float64)})(typed_local), 2.5, "s = 2.0 * x"),
        (unknown_method, np.ones(2), "return as_strided(a, (1,), (8,))[0]"),
    ],
)
def test_a_refusal_names_function_file_line_and_way_out(f, x, line):
    with pytest.raises(nd.UnsupportedError) as caught:
        nd.jacobian(f, mode="forward")(x)
    message = str(caught.value)
    code = getattr(f, "py_func", f).__code__
    assert code.co_name in message
    assert __file__ in message
    assert line in message
    assert "stop_gradient" in message
    assert "Dual(" not in message


def test_the_deepest_function_is_named():
    @njit
    def deep(a):
        return as_strided(a, (1,), (8,))[0]

    def f(a):
        return deep(a) * math.pi

    with pytest.raises(nd.UnsupportedError, match=r"cannot differentiate deep(.|\n)*as_strided"):
        nd.jacobian(f, mode="forward")(np.ones(2))
    in_reverse = r"reverse mode cannot differentiate the call of as_strided in deep: File"
    with pytest.raises(nd.UnsupportedError, match=in_reverse) as caught:
        nd.grad(f)(np.ones(2))
    told = r"\n\nForward mode refuses it as well: cannot differentiate deep: File .*\n    return as"
    assert re.search(told, str(caught.value))
    assert str(caught.value).count("Way out: ") == 2


def appended(x, given):
    given.append(np.array([x]))
    return given[-1][0] * x


def stored_by_name(x, given):
    given["last"] = np.array([x])
    return given["last"][0] * x


def test_arrays_put_into_an_arguments_list_or_dictionary_are_refused_at_their_line():
    arrays, by_name = List([np.ones(1)]), Dict()
    by_name["last"] = np.ones(1)
    for f, given in (appended, arrays), (stored_by_name, by_name):
        assert njit(f)(2.0, given) == 4.0
        line = r"arrays of constants, an argument: File .*\n    given.*np\.array"
        with pytest.raises(nd.UnsupportedError, match=line) as caught:
            nd.grad(f, 0, mode="forward")(2.0, given)
        assert "make the list or dictionary in the function" in str(caught.value)


def test_statements_of_which_numba_tells_no_line_are_refused_at_the_function():
    def logged(x):
        with open("log") as file:
            file.write("x")
        return x

    line = logged.__code__.co_firstlineno
    with pytest.raises(
        nd.UnsupportedError, match=rf'test_refuse.py", line {line}:\n    def logged'
    ):
        nd.grad(logged)(2.0)


def test_what_one_mode_cannot_do_is_done_in_the_other():
    assert nd.grad(int_store)(2.5) == 2.0
    assert nd.grad(branches_on_type)(2.0) == 4.0


def unknown_attribute(x):
    return x.foo


def test_what_numba_itself_refuses_stays_an_error_of_numba():
    for mode in ("auto", "forward", "reverse"):
        with pytest.raises(TypingError, match="Unknown attribute 'foo'") as caught:
            nd.grad(unknown_attribute, mode=mode)(1.0)
        assert not isinstance(caught.value, nd.NumbadError)
