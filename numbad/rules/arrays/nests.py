"""Jitted functions from generated source: nested loops over the elements of arrays."""

import numpy as np
from numba import njit
from numba.core import types
from numba.np.numpy_support import as_dtype

from ...source import define
from . import broadcasting


def jit(lines, **namespace):
    """The jitted function of these lines of source."""
    return njit(define("\n".join(lines) + "\n", {"np": np, **broadcasting.NAMES, **namespace}))


def number_class(ty):
    """NumPy's class for a Numba type of numbers, which converts and makes arrays; a dtype for records."""
    return as_dtype(ty) if isinstance(ty, types.Record) else as_dtype(ty).type


def nest(counts, body, depth=1, order="C"):
    """Nested loops over `i0`, `i1`, ... with the body inside; the last is the innermost, or the first."""
    axes = list(enumerate(counts))
    lines = []
    for level, (k, count) in enumerate(axes if order == "C" else axes[::-1]):
        lines.append("    " * (depth + level) + f"for i{k} in range({count}):")
    lines += ["    " * (depth + len(counts)) + line for line in body]
    return lines


def subscript(ndim, out_ndim=None, steps=None):
    """The index of an operand of `ndim` axes within loops over `out_ndim` axes."""
    if ndim == 0:
        return "[()]"
    shift = 0 if out_ndim is None else out_ndim - ndim
    if steps is None:
        return "[" + ", ".join(f"i{k + shift}" for k in range(ndim)) + "]"
    return "[" + ", ".join(f"i{k + shift} * {steps}{k}" for k in range(ndim)) + "]"


def over(a, body, depth=1, name="a"):
    """Loops over the elements of an array in the order in which Numba's `nditer` visits them."""
    counts = [f"{name}.shape[{k}]" for k in range(a.ndim)]
    return nest(counts, body, depth, "F" if a.layout == "F" else "C")


def tuple_of(items):
    """The source of a tuple."""
    items = list(items)
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
