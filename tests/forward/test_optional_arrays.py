"""Arrays that may be None and hold dual numbers: what is asked of them."""

import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

import numbad as nd
from tests.ir.test_optionals import MANY, X


def bytes_of(x, n):
    w = None
    if n >= MANY:
        w = x * x
    return x[0] if w is None else x[0] * (w.nbytes + w.itemsize + w.strides[0])


def test_sizes_in_bytes_are_those_of_the_primal():
    found = nd.grad(bytes_of, mode="forward")(X, MANY)
    np.testing.assert_array_equal(found, [24.0 + 8.0 + 8.0, 0.0, 0.0])


def reads_the_memory(x, n):
    w = None
    if n >= MANY:
        w = x * x
    return x[0] if w is None else x[0] * w.tobytes()[7]


def test_the_memory_of_duals_is_not_read():
    """Older Numbas know no such method of an array that may be None."""
    with pytest.raises(
        (nd.UnsupportedError, TypingError), match="tobytes.*differentiated|'tobytes'"
    ):
        nd.grad(reads_the_memory, mode="forward")(X, MANY)


EQUALITY_FIRST = """
import numba, numpy, numbad

def f(x):
    return (x * x == x).sum() * x[0]

x = numpy.array([1.0, 2.0])
numba.njit(f)(x)
print(numbad.grad(f, mode="forward")(x))
"""


@pytest.mark.dear
def test_equality_of_arrays_where_numba_has_compiled_one_before():
    """Numba's own `==` takes any two arrays of one type, if it is asked first."""
    done = subprocess.run([sys.executable, "-c", EQUALITY_FIRST], capture_output=True, text=True)
    assert done.stdout.split() == ["[1.", "0.]"], done.stderr


def taken_for_a_number(x, n):
    w = None
    if n >= MANY:
        w = x * x
    return x[0] * np.empty_like(w).size


def test_what_numba_takes_for_something_else_is_not_taken_for_an_array():
    """Numba makes one element like an array that may be None."""
    assert njit(taken_for_a_number)(X, MANY) == X[0]
    for mode in "reverse", "forward":
        np.testing.assert_array_equal(nd.grad(taken_for_a_number, mode=mode)(X, MANY), [1, 0, 0])
