"""`np.clip` by bounds that are dual numbers, and into arrays of dual numbers."""

import numpy as np
from numba.core import types

from ..source import define
from . import dual as d
from .dual_arrays import dtype_of_type
from .dual_reductions import is_none
from .optional_arrays import overload_stand_in
from .stand_ins import stand_for, stand_for_method


def clip(a, a_min, a_max, out=None):
    raise NotImplementedError


@overload_stand_in(clip)
def _clip(a, a_min, a_max, out=None):
    into = not is_none(out)
    given = [a, a_min, a_max, *([out] if into else [])]
    if not any(True for ty in given for _ in d.duals_in(ty)):
        return _lines("    return np.clip(a, a_min, a_max, out)" if into else _WHOLE)
    bounds = {"a_min": a_min, "a_max": a_max}
    if not any(isinstance(ty, d.Dual) for ty in bounds.values()):
        return _lines(_INTO if into else _WHOLE)
    known = {name: ty for name, ty in bounds.items() if not is_none(ty)}
    return _by_scalars(a, known, into)


_WHOLE = "    return np.clip(a, a_min, a_max)"
_CHECK = "    if {}.shape != out.shape:\n        raise ValueError('out has another shape than the result')\n"
_INTO = f"    found = np.clip(a, a_min, a_max)\n{_CHECK.format('found')}    out[...] = found\n    return out"


def _lines(body, **names):
    return define(f"def call(a, a_min, a_max, out=None):\n{body}\n", {"np": np, **names})


def _by_scalars(a, bounds, into):
    """Element by element, as Numba does it; an array among the bounds broadcasts to the shape of `a`."""
    if not isinstance(a, types.Array):
        return None
    scalars = [ty.dtype if isinstance(ty, types.Array) else ty for ty in bounds.values()]
    made = _scalar_of_result(a.dtype, scalars)
    if made is None:
        return None
    value, spread = "a[at]", ""
    for name, function in (("a_min", "max"), ("a_max", "min")):
        bound = name
        if isinstance(bounds.get(name), types.Array):
            spread += f"    {name}s = np.broadcast_to({name}, a.shape)\n"
            bound = f"{name}s[at]"
        value = f"{function}({value}, {bound})" if name in bounds else value
    empty = "np.empty(a.T.shape, made()).T" if a.layout == "F" else "np.empty(a.shape, made())"
    allocate = _CHECK.format("a") if into else f"    out = {empty}\n"
    loop = f"    for at in np.ndindex(a.shape):\n        out[at] = {value}\n    return out"
    return _lines(allocate + spread + loop, made=dtype_of_type(made))


def _scalar_of_result(element, bounds):
    """The dual type of the precision of the array, which need not hold duals."""
    from numba.core.registry import cpu_target

    joined = element
    for ty in bounds:
        joined = joined and d.join(cpu_target.typing_context, joined, types.unliteral(ty))
    base = d.base_scalar(element)
    return d.with_base(joined, base) if joined and isinstance(base, types.Float) else None


stand_for(np.clip, clip)
stand_for_method("clip", clip)
