"""What a function for dual numbers is compiled from: the function as it is for plain numbers."""

import weakref

from numba.core import types

from ..meaning import as_compiled
from . import dual as d


def primal_type(ty):
    """A type without dual numbers, without literals."""
    if isinstance(ty, types.Array) and isinstance(ty.dtype, d.Dual):
        return ty.copy(dtype=d.base_scalar(ty.dtype))
    if isinstance(ty, d.Dual):
        return d.base_scalar(ty)
    if isinstance(ty, types.BaseNamedTuple):
        members = [primal_type(t) for t in ty.types]
        if len(set(members)) == 1:
            return types.NamedUniTuple(members[0], len(members), ty.instance_class)
        return types.NamedTuple(members, ty.instance_class)
    if isinstance(ty, types.BaseTuple):
        return types.BaseTuple.from_types([primal_type(t) for t in ty.types])
    return ty


def compile_like(made, fn):
    """Let a dispatcher compile the code of another, with its names meaning what Numba compiled."""
    original, own = weakref.ref(fn), made.py_func

    def implementation(args, kws):
        fn = original()
        return own if fn is None else as_compiled(fn, tuple(map(primal_type, args)))

    made._compiler._get_implementation = implementation
    return made
