"""Floats read as complex numbers, and complex numbers as floats: `a.view(np.complex128)` beside duals.

The value and the partials of a dual number lie together, so that its array cannot be read as another: here
the view is a copy, where nobody can tell it from one (see `complex_parts.py`); other programs are refused.
"""

from weakref import WeakSet

import numpy as np
from numba import from_dtype
from numba.core import types
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import register_jitable

from ..ir.untyped import constant_of, method_of
from . import dual as d
from .dual_arrays import dtype_of_type, is_dual_array
from .known import named
from .optional_arrays import overload_stand_in
from .refuse import refused_call
from .stand_ins import METHODS

OWN = WeakSet()  # implementations of stand-ins, which are left as they are


@register_jitable
def _part(a, index, last, k):
    return a[tuple_setitem(index, last, k)]


def _numbers_of(dtype):
    """The code that makes complex numbers of pairs of floats."""

    def numbers(a):
        last = a.ndim - 1
        if a.shape[last] % 2:
            raise ValueError(
                "the last axis has an odd number of floats, which make no complex numbers"
            )
        out = np.empty(tuple_setitem(a.shape, last, a.shape[last] // 2), dtype())
        for index in np.ndindex(out.shape):
            k = 2 * index[last]
            out[index] = complex(_part(a, index, last, k), _part(a, index, last, k + 1))
        return out

    return numbers


def _pairs_of(dtype):
    """The code that makes pairs of floats of complex numbers."""

    def pairs(z):
        last = z.ndim - 1
        out = np.empty(tuple_setitem(z.shape, last, 2 * z.shape[last]), dtype())
        for index in np.ndindex(z.shape):
            k = 2 * index[last]
            out[tuple_setitem(index, last, k)] = z[index].real
            out[tuple_setitem(index, last, k + 1)] = z[index].imag
        return out

    return pairs


class NumberView:
    """The stand-ins for `a.view(dtype)`; `of_all` says that arrays without duals are copied, too."""

    def __init__(self, dtype, of_all):
        self.base, self.of_all = from_dtype(np.dtype(dtype)), of_all
        self.shown = f"a.view(np.{dtype.__name__})"
        plain = METHODS["view"]
        self.own = register_jitable(lambda a: plain(a, dtype))
        OWN.add(self.own)
        self.copy, self.refusal = self._stand_in(self._copied), self._stand_in(self._refused)

    @staticmethod
    def _stand_in(typed):
        def stand_in(a):
            raise NotImplementedError

        overload_stand_in(stand_in, strict=False)(typed)
        return named(stand_in, "view")

    def _is_copied(self, a):
        if not (is_dual_array(a) or (self.of_all and isinstance(a, types.Array))):
            return False
        pair = {d.base_scalar(a.dtype), self.base}
        return any(getattr(ty, "underlying_float", None) in pair for ty in pair)

    def _copied(self, a):
        own = self.own
        if is_dual_array(a) and d.base_scalar(a.dtype) == self.base:
            return lambda a: a
        if not self._is_copied(a):
            return lambda a: own(a)
        dtype = dtype_of_type(d.with_base(a.dtype, self.base))
        made = (_numbers_of if isinstance(self.base, types.Complex) else _pairs_of)(dtype)
        OWN.add(made)
        return made

    def _refused(self, a):
        if self._is_copied(a):
            raise refused_call(
                f"{self.shown} of an array that is written to, or that shares what is written or returned",
                None,
                f"take a copy, {self.shown}.copy(), or make the numbers one by one",
            )
        return self._copied(a)


_VIEWS = {
    of_all: {
        kind: NumberView(kind, of_all)
        for kind in (np.float32, np.float64, np.complex64, np.complex128)
    }
    for of_all in (False, True)
}


def asked(func_ir, call, of_all):
    """`(array, NumberView)` where a call reads an array as another kind of numbers; else None."""
    if call.kws or call.vararg is not None or not call.args:
        return None
    owner, name = method_of(func_ir, call.func) or (None, None)
    given = [owner, *call.args] if name == "view" else call.args
    if len(given) != 2 or (
        name != "view" and constant_of(func_ir, call.func) is not METHODS["view"]
    ):
        return None
    dtype = constant_of(func_ir, given[1])
    found = _VIEWS[of_all].get(dtype) if isinstance(dtype, type) else None
    return found and (given[0], found)
