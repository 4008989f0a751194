"""The types that Numba gives to results of `np.linalg`, known without compiling its implementation.

Numba infers the type of a call by compiling what is called, with all checks and messages. Where only
the type is asked for, because another function stands for this one, that is in vain.
"""

import numpy as np
from numba.core import types

from .rule_calls import is_matrix


def _real(ty):
    """The type of the parts of a complex number, of a float itself."""
    return getattr(ty, "underlying_float", ty)


def _array(dtype, ndim, layout):
    return types.Array(dtype, ndim, layout)


def _solution(a, b, layout="F"):
    return _array(a.dtype, b.ndim, layout if b.ndim == 2 else "C")


def _svd(a):
    vectors = _array(a.dtype, 2, "F")
    return types.Tuple((vectors, _array(_real(a.dtype), 1, "C"), vectors))


def _least_squares(a, b):
    singular = _array(_real(a.dtype), 1, "C")
    return types.Tuple((_solution(a, b, "C"), singular, types.int32, singular))


_OF_ONE = {
    np.linalg.inv: lambda a: _array(a.dtype, 2, "F"),
    np.linalg.pinv: lambda a: _array(a.dtype, 2, "F"),
    np.linalg.cholesky: lambda a: _array(a.dtype, 2, "C"),
    np.linalg.qr: lambda a: types.Tuple((_array(a.dtype, 2, "A"), _array(a.dtype, 2, "F"))),
    np.linalg.svd: _svd,
    np.linalg.eigh: lambda a: types.Tuple(
        (_array(_real(a.dtype), 1, "C"), _array(a.dtype, 2, "F"))
    ),
    np.linalg.eigvalsh: lambda a: _array(_real(a.dtype), 1, "C"),
    np.linalg.eig: lambda a: types.Tuple((_array(a.dtype, 1, "C"), _array(a.dtype, 2, "F"))),
    np.linalg.eigvals: lambda a: _array(a.dtype, 1, "C"),
}

_OF_TWO = {np.linalg.solve: _solution, np.linalg.lstsq: _least_squares}


def result_type(function, args, kws):
    """The type of a call's result for the types of its arguments; None where it is not known here."""
    if kws or not args or not is_matrix(args[0]):
        return None
    if len(args) == 1 and function in _OF_ONE:
        return _OF_ONE[function](args[0])
    if len(args) == 2 and function in _OF_TWO and _is_right_side(*args):
        return _OF_TWO[function](*args)
    return None


def _is_right_side(a, b):
    return isinstance(b, types.Array) and b.ndim in (1, 2) and a.dtype == b.dtype
