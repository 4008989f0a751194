"""A function of a search, called with a copy of what is searched for, for one that works on that in place."""

from numba import njit

from ..compilation.inherited import inherited_options
from ..compilation.memo import remembered
from ..source import define


def on_a_copy(f, names):
    """The dispatcher that calls `f`, whose parameters have these names, with a copy of the first argument."""
    known = remembered(f, "on a copy")
    if f not in known:
        x, rest = names[0], "".join(f", {name}" for name in names[1:])
        # `x + 0.0` is a copy of an array and of a number, and of duals where such are written to it.
        source = f"def call({x}{rest}): return function_({x} + 0.0{rest})\n"
        made = define(source, {"function_": f}, like=f.py_func)
        made.__defaults__ = f.py_func.__defaults__
        known[f] = njit(made, **inherited_options(f))
    return known[f]
