"""What a user sees who gets it wrong: the culprit by name, and the way out."""

import functools

import numpy as np
import pytest
from numba import njit, vectorize
from numba.typed import List
from numpy.lib.stride_tricks import as_strided

import numbad as nd


def f(x, count):
    return x * count


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


def test_modes_that_do_not_exist():
    with pytest.raises(nd.ArgumentError, match="mode is"):
        nd.grad(f, mode="backward")
    with pytest.raises(nd.ArgumentError, match="chunk"):
        nd.grad(f, chunk=0)


def test_what_is_no_function():
    for wrong in (3, "f", functools.partialmethod(f, 1.0)):
        with pytest.raises(nd.ArgumentError, match="takes a Python function or a Numba dispatcher"):
            nd.grad(wrong)
    with pytest.raises(nd.ArgumentError, match="takes a Python function or a Numba dispatcher"):
        nd.grad(np.frompyfunc(f, 2, 1))
    with pytest.raises(
        nd.ArgumentError, match=r"nd\.checkpoint takes a Python function or a Numba"
    ):
        nd.checkpoint(vectorize(lambda x: x * x))


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


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("given", "told"), [(None, "is None"), ("a", "is a string"), ([1.0], "is a list of float64")]
)
def test_what_holds_no_floats_is_told_before_numba_compiles_it(given, told, mode):
    gradient = nd.grad(lambda x: (x**3).sum(), mode=mode)
    with pytest.raises(nd.ArgumentError, match=f"argument 'x', which {told}; it must hold floats"):
        gradient(given)
