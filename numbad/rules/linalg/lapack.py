"""Triangular systems and factorisations by BLAS and LAPACK, of arrays of floats or complex numbers.

Reference: E. Anderson et al., "LAPACK Users' Guide", 3rd edition, SIAM, 1999.
"""

from functools import cache

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from .matrices import put

_KINDS = {types.float32: "s", types.float64: "d", types.complex64: "c", types.complex128: "z"}
_BYTE = ir.IntType(8)


@cache
def _routine(name):
    """A nopython function that calls a Fortran routine: strings of one letter, integers, the number 1
    as None, and arrays, each by its address."""

    @intrinsic(prefer_literal=True)
    def routine(typingctx, *args):
        tys = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        number = next(ty.dtype for ty in tys if isinstance(ty, types.Array))

        def codegen(context, builder, sig, values):
            from .pointers import SYMBOLS  # loads SciPy, for programs that need it

            given = [
                _address(context, builder, ty, builder.extract_value(values[0], k), number)
                for k, ty in enumerate(tys)
            ]
            function = _function(builder, SYMBOLS[_KINDS[number] + name], len(given))
            builder.call(function, given)
            return context.get_dummy_value()

        return types.none(types.StarArgTuple.from_types(tys)), codegen

    return routine


def _address(context, builder, ty, value, number):
    """What Fortran is given for an argument."""
    from .pointers import INTEGER_BITS  # as above

    if isinstance(ty, types.Array):
        from numba.np.arrayobj import make_array

        data = make_array(ty)(context, builder, value).data
        return builder.bitcast(data, _BYTE.as_pointer())
    if isinstance(ty, types.StringLiteral):
        item = ir.Constant(_BYTE, ord(ty.literal_value))
    elif isinstance(ty, types.NoneType):
        item = context.get_constant_generic(builder, number, 1)
    else:
        item = context.cast(builder, value, ty, getattr(types, f"int{INTEGER_BITS}"))
    return builder.bitcast(cgutils.alloca_once_value(builder, item), _BYTE.as_pointer())


def _function(builder, symbol, count):
    cell = builder.module.globals.get(symbol)
    if cell is None:
        cell = cgutils.add_global_variable(builder.module, _BYTE.as_pointer(), symbol)
    signature = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer()] * count)
    return builder.bitcast(builder.load(cell), signature.as_pointer())


# So many products are done here: `getrs` of OpenBLAS hands columns to threads, however few they are, and
# waits a whole time slice for them where all processors are busy, 10 ms in place of 2 microseconds.
FEW = 1000

_getrf, _getrs, _trsm = _routine("getrf"), _routine("getrs"), _routine("trsm")


def integers(n):
    """An array of `n` integers of LAPACK's width."""
    raise NotImplementedError


@overload(integers)
def _integers(n):
    from .pointers import INTEGER_BITS  # as above

    dtype = np.int32 if INTEGER_BITS == 32 else np.int64
    return lambda n: np.empty(n, dtype)


@njit
def columnwise(a):
    """A copy of a vector or matrix in Fortran order; a vector is one column."""
    out = np.empty(a.shape[::-1], a.dtype).T
    if a.ndim == 1:
        for i in range(a.shape[0]):
            out[i] = a[i]
    else:
        put(out.T, a.T)  # column by column
    return out


@njit
def factors(a):
    """`(lu, pivots)` of a square matrix with finite elements, by `getrf`.

    Raises LinAlgError if it is singular to machine precision.
    """
    n = a.shape[0]
    lu, pivots, failed = columnwise(a), integers(n), integers(1)
    failed[0] = 0
    if n:
        _getrf(n, n, lu, n, pivots, failed)
    if failed[0] > 0:
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")
    return lu, pivots


@njit
def substitute(lu, pivots, b):
    """The solution of `a @ x = b` in Fortran order, from the factors of `a`, by `getrs`."""
    x, n, done = columnwise(b), b.shape[0], integers(1)
    if b.size * n <= FEW:
        _substitute_each(lu, pivots, x.T.reshape((x.size // max(n, 1), n)))
    else:
        _getrs("N", n, x.size // n, lu, n, pivots, x, n, done)
    return x


@njit(error_model="numpy")
def _substitute_each(lu, pivots, columns):
    n = len(lu)
    for column in columns:
        for k in range(n):
            _swap(column, k, pivots[k] - 1)
        for k in range(n):
            for i in range(k + 1, n):
                column[i] -= lu[i, k] * column[k]
        for k in range(n - 1, -1, -1):
            column[k] /= lu[k, k]
            for i in range(k):
                column[i] -= lu[i, k] * column[k]


@njit(error_model="numpy")
def _substitute_transposed_each(lu, pivots, columns):
    n = len(lu)
    for column in columns:
        for k in range(n):
            for i in range(k):
                column[k] -= lu[i, k] * column[i]
            column[k] /= lu[k, k]
        for k in range(n - 1, -1, -1):
            for i in range(k + 1, n):
                column[k] -= lu[i, k] * column[i]
        for k in range(n - 1, -1, -1):
            _swap(column, k, pivots[k] - 1)


@njit
def _swap(column, i, j):
    column[i], column[j] = column[j], column[i]


@njit
def substitute_transposed(lu, pivots, b):
    """The solution of `a.T @ x = b`."""
    x, n, done = columnwise(b), b.shape[0], integers(1)
    if b.size * n <= FEW:
        _substitute_transposed_each(lu, pivots, x.T.reshape((x.size // max(n, 1), n)))
    else:
        _getrs("T", n, x.size // n, lu, n, pivots, x, n, done)
    return x


@njit
def forward_substitution(low, b):
    """The solution of `low @ x = b` for a lower triangle `low` in C order, by `trsm`."""
    x, n = columnwise(b), b.shape[0]
    if b.size:  # Fortran has the transpose of `low`
        _trsm("L", "U", "T", "N", n, x.size // n, None, low, n, x, n)
    return x


@njit
def back_substitution(low, b):
    """The solution of `low.T @ x = b` for a lower triangle `low` in C order."""
    x, n = columnwise(b), b.shape[0]
    if b.size:
        _trsm("L", "U", "N", "N", n, x.size // n, None, low, n, x, n)
    return x
