"""Memory of floats read as another type, whose use nothing here can follow."""

import numpy as np
from numba.core import types

from ...ir.leaves import leaves
from . import parts
from .array import View
from .base import Constant, Unknown


class Bits(Unknown):
    """`x.view(np.int64)`: refused wherever the floats depend on what is differentiated."""

    def __init__(self, fn, label, statement, source):
        self.source = source
        super().__init__(fn, label, statement)

    def read(self):
        return [self.source]

    def takes_constants(self):
        return True

    def construct(self):
        return f"the bits of values of type {self.fn.type_of(self.source)} as another type"


def view(fn, label, s, call, owner, ty):
    """`x.view(dtype)` of an array or a number."""
    out = fn.type_of(s.target)
    if not leaves(ty):
        return None if leaves(out) else Constant(fn, label, s)
    if isinstance(ty, types.Array) and isinstance(out, types.Array) and ty.dtype == out.dtype:
        return View(fn, label, s, owner)
    if isinstance(ty, types.Array) and isinstance(out, types.Array) and _are_parts(ty, out):
        return parts.reinterpreted(fn, label, s, owner)
    return Bits(fn, label, s, owner)


def _are_parts(ty, out):
    """Whether the elements of one array are real and imaginary parts of those of the other."""
    z, x = (ty.dtype, out.dtype) if isinstance(ty.dtype, types.Complex) else (out.dtype, ty.dtype)
    return isinstance(z, types.Complex) and z.underlying_float == x and ty.ndim == out.ndim


def memory_of(fn, label, s, call, owner, ty):
    """`a.tobytes()` and the like."""
    return Bits(fn, label, s, owner) if leaves(ty) else None


def from_buffer(fn, label, s, call):
    """`np.frombuffer(a, ...)`."""
    return Bits(fn, label, s, call.args[0]) if leaves(fn.type_of(call.args[0])) else None


METHODS = {"view": view, "tobytes": memory_of}
FUNCTIONS = {np.frombuffer: from_buffer}
