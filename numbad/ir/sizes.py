"""The shapes of arrays that a function returns, where its code writes them out."""

import numpy as np
from numba.core import ir, types

from .function import is_expr, times_read

_BY_SHAPE = np.empty, np.zeros, np.ones, np.full


def returned_shapes(fn):
    """path -> shape of each array in what a captured function returns, as far as its code tells."""
    every = [dict(_shapes(fn, s.value, ())) for _, s in fn.statements() if isinstance(s, ir.Return)]
    if not every:
        return {}
    first, *others = every
    return {path: s for path, s in first.items() if all(o.get(path) == s for o in others)}


def _shapes(fn, var, path):
    value = fn.definition(var)
    while isinstance(value, ir.Var) or is_expr(value, "cast"):
        value = fn.definition(value if isinstance(value, ir.Var) else value.value)
    if is_expr(value, "build_tuple"):
        for k, item in enumerate(value.items):
            yield from _shapes(fn, item, (*path, k))
    elif is_expr(value, "call") and value.args:
        shape = _allocated(fn, fn.constant(value.func), value.args[0])
        if shape is not None:
            yield path, shape


def _allocated(fn, function, argument):
    """The shape of a new array; None where the code does not tell."""
    if function is np.array:
        return _written_out(fn, argument)
    if any(function is known for known in _BY_SHAPE):
        return constant_shape(fn, argument)
    return None


def _written_out(fn, var):
    """The shape of a list or a tuple of numbers, or of such, that the code writes out."""
    value = fn.definition(var)
    if not is_expr(value, "build_list", "build_tuple") or not value.items:
        return None
    if is_expr(value, "build_list") and times_read(fn, var) != 1:  # it may have grown since
        return None
    if all(isinstance(fn.type_of(v), types.Number | types.Boolean) for v in value.items):
        return (len(value.items),)
    inner = {_written_out(fn, v) for v in value.items}
    shape = inner.pop()
    return None if inner or shape is None else (len(value.items), *shape)


def constant_shape(fn, var):
    """The shape that a variable holds, where the code writes it out; None else."""
    value = fn.definition(var)
    if is_expr(value, "build_tuple"):
        counts = [fn.constant(v) for v in value.items]
    else:
        counts = fn.constant(var)
        counts = list(counts) if isinstance(counts, tuple) else [counts]
    plain = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts)
    return tuple(counts) if plain else None
