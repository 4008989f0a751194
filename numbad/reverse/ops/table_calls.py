"""Calls for which the table of `rules/arrays/` has a stand-in."""

import numpy as np
from numba.core import ir, types

from ...ir.leaves import leaves
from ...rules import arrays, linalg  # noqa: F401  (which adds to the table)
from .call import StandIn


def _type(fn, var):
    """The type of an argument, with literals where the code writes ints."""
    value, ty = fn.constant(var), fn.type_of(var)
    if isinstance(ty, types.Integer) and isinstance(value, int):
        return types.literal(value)
    definition = fn.definition(var)
    if isinstance(ty, types.BaseTuple) and getattr(definition, "op", "") == "build_tuple":
        return types.Tuple([_type(fn, v) for v in definition.items])
    written = getattr(definition, "value", None) if isinstance(definition, ir.Const) else None
    if isinstance(written, tuple) and all(type(k) is int for k in written):
        return types.Tuple([types.literal(k) for k in written])
    return ty


def _stand_in(fn, label, s, known, args, kws, changes=True):
    """The op of a call; None where there is no stand-in for its types."""
    given = known.bind(args, kws)
    if given is None or not leaves(fn.type_of(s.target)):
        return None
    helper = known.of({name: _type(fn, var) for name, var in given.items()})
    return helper and StandIn(fn, label, s, helper, given.values(), changes=changes)


def _function(key, known):
    changes = getattr(key, "__module__", None) not in _WITHOUT_STATE
    return lambda fn, label, s, call: _stand_in(fn, label, s, known, call.args, call.kws, changes)


def _method(known):
    def found(fn, label, s, call, owner, ty):
        if not isinstance(ty, types.Array | types.NumPyRandomGeneratorType):
            return None
        return _stand_in(fn, label, s, known, [owner, *call.args], call.kws)

    return found


_WITHOUT_STATE = {np.trace.__module__, np.linalg.solve.__module__}
"""The modules of functions that do the same at each call; draws are methods of a hidden generator."""

FUNCTIONS = {key: _function(key, known) for key, known in arrays.FUNCTIONS.items()}
METHODS = {name: _method(known) for name, known in arrays.METHODS.items()}
