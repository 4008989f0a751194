"""What the adjoint of a product of vectors and matrices adds to the shadows of its factors, by BLAS.

Of `C = A @ B`: `A_bar += C_bar @ B.T` and `B_bar += A.T @ C_bar` (M. Giles, "An extended collection of
matrix derivative results for forward and reverse mode algorithmic differentiation", Oxford
University Computing Laboratory NA-08/01, 2008, section 2.2.2). Complex factors are not conjugated.
"""

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import overload

from .blas import add_matrix_vector, add_product, takes
from .contributions import STRONG_PRODUCT
from .zero_test import all_zero


def in_order(a):
    """The array, or a copy in C order where BLAS takes no other."""
    raise NotImplementedError


@overload(in_order)
def _in_order(a):
    if a.layout == "A" and isinstance(a.dtype, types.Float | types.Complex):
        return lambda a: np.ascontiguousarray(a)
    return lambda a: a


def add_to(shadow, x):
    """`shadow += x`, for arrays of one shape."""
    raise NotImplementedError


@overload(add_to)
def _add_to(shadow, x):
    if shadow.ndim == 1:
        return lambda shadow, x: _add_vector(shadow, x)
    if shadow.layout == "F":
        return lambda shadow, x: _add_matrix(shadow.T, x.T)
    return lambda shadow, x: _add_matrix(shadow, x)


@njit
def _add_vector(shadow, x):
    for i in range(shadow.shape[0]):
        shadow[i] += x[i]


@njit
def _add_matrix(shadow, x):
    for i in range(shadow.shape[0]):
        for j in range(shadow.shape[1]):
            shadow[i, j] += x[i, j]


def add_outer(shadow, x, y):
    """`shadow += outer(x, y)`."""
    raise NotImplementedError


@overload(add_outer)
def _add_outer(shadow, x, y):
    if shadow.layout == "F":
        return lambda shadow, x, y: _add_rows(shadow.T, y, x)
    return lambda shadow, x, y: _add_rows(shadow, x, y)


@njit
def _add_rows(shadow, x, y):
    for i in range(shadow.shape[0]):
        _add_scaled(shadow[i], x[i], y)


@njit
def _add_scaled(shadow, factor, x):
    if all_zero(factor - factor):
        for i in range(shadow.shape[0]):
            shadow[i] += factor * x[i]
    else:  # below a root at zero, where zero is to stay zero
        for i in range(shadow.shape[0]):
            shadow[i] += STRONG_PRODUCT(factor, (x[i],))


def add_product_in_place(shadow, a, b):
    """`shadow += a @ b`, for a matrix and a matrix or a vector of plain numbers, by BLAS alone."""
    raise NotImplementedError


@overload(add_product_in_place)
def _add_product_in_place(shadow, a, b):
    if not takes(shadow, a, b):
        return lambda shadow, a, b: add_to(shadow, np.dot(a, b))
    if b.ndim == 1:
        return lambda shadow, a, b: add_matrix_vector(shadow, a, b)
    return lambda shadow, a, b: add_product(shadow, a, b)


@njit
def _add_product_of_duals(shadow, a, b):
    add_to(shadow, np.dot(a, b))


@njit
def _matrix_times_vector(shadow, bar, a, b):
    add_outer(shadow, bar, b)


@njit
def _matrix_of_vector(shadow, bar, a, b):
    add_outer(shadow, a, bar)


@njit
def _first_vector(shadow, bar, a, b):
    _add_scaled(shadow, bar, b)


@njit
def _second_vector(shadow, bar, a, b):
    _add_scaled(shadow, bar, a)


def nothing(bar):
    """Whether a cotangent, a number or an array, is zero."""
    raise NotImplementedError


@overload(nothing)
def _nothing(bar):
    if not isinstance(bar, types.Array):
        return lambda bar: all_zero(bar)

    def nothing(bar):
        found = True
        for x in bar.flat:
            found = found and all_zero(x)
            if not found:
                break
        return found

    return nothing


def _unless_zero(add):
    """Of a product that a later branch hides nothing comes back, be a factor infinite or NaN."""

    @njit
    def add_unless_zero(shadow, bar, a, b):
        if not nothing(bar):
            add(shadow, bar, a, b)

    return add_unless_zero


def _adjoints(add):
    """See `ADJOINTS`; `add(shadow, a, b)` adds a product of a matrix and a matrix or a vector."""

    @njit
    def first_of_matrices(shadow, bar, a, b):
        if b.size:
            add(shadow, in_order(bar), in_order(b).T)

    @njit
    def second_factor(shadow, bar, a, b):
        if a.size:
            add(shadow, in_order(a).T, in_order(bar))

    @njit
    def vector_before_matrix(shadow, bar, a, b):
        if b.size:
            add(shadow, in_order(b), in_order(bar))

    found = {
        (2, 2): (first_of_matrices, second_factor),
        (2, 1): (_matrix_times_vector, second_factor),
        (1, 2): (vector_before_matrix, _matrix_of_vector),
        (1, 1): (_first_vector, _second_vector),
    }
    return {ndims: tuple(map(_unless_zero, pair)) for ndims, pair in found.items()}


ADJOINTS = {False: _adjoints(add_product_in_place), True: _adjoints(_add_product_of_duals)}
"""Whether there are duals -> (axes of A, axes of B) -> `add(shadow, C_bar, A, B)` for the shadow of A,
and that of B.

Only what is needed is used: A for the shadow of B, and B for that of A; the other may be anything.
"""


@njit
def sizes_differ(a, b):
    """Whether a product of vectors and matrices raises."""
    return a.shape[-1] != b.shape[0]


@njit
def product_into(a, b, out):
    """`np.dot(a, b, out)`, whose result is another array until it is done."""
    out[...] = np.dot(a, b)
    return out


@njit
def conjugate_product(a, b):
    """`np.vdot(a, b)` of complex vectors."""
    return np.dot(np.conjugate(a), b)
