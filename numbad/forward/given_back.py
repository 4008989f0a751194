"""Arrays of constant structures that a callee may give back as duals, and that are written to.

`r = pick(x, model.w)`, where `pick` gives `w` or `x * w`, is a copy of `w` in duals. An array that is an
argument itself is of duals on its way already, where it is written to; the fields of an instance, or the
members of a tuple of constants, cannot be.
"""

from numba.core import types

from . import dual as d
from .refuse import refused_at


def given_back(func_ir, args, found, changes, numbers=frozenset()):
    """The statements that call what may give back such arrays, where the function writes to either.

    `found` and `changes` are what the function does with duals, and at all, as `activities` has them;
    `numbers` are names of what shares no memory with arrays.
    """
    flow = found.flow
    parameters = {k: name for k, name in flow.parameters.items() if k < len(args)}
    held = {name for k, name in parameters.items() if holds_constants(args[k])}
    for block in func_ir.blocks.values():
        for statement in block.body:
            for target, callee, given, _ in flow.done.get(id(statement), ((), ()))[1]:
                active = [i for i, names in enumerate(given) if found.active.intersection(names)]
                summary = found.analyse(callee, frozenset(active))
                both = summary.written & summary.returned
                shared = {name for i in both if i < len(given) for name in given[i]}
                for name in shared - numbers - {None} if target not in numbers else ():
                    if held & flow.reached({name}) and flow.derived_with(name) & changes.stored_to:
                        yield statement


def refuse_given_back(statement):
    raise refused_at(
        statement.loc,
        "a call that may give back an argument's array beside dual numbers, where the array is written to",
        "give the call a copy of the array, w.copy()",
    )


def holds_constants(ty):
    """Whether a type is of what holds arrays of constants, and no dual numbers."""
    if isinstance(ty, types.Array | types.Number | types.Boolean) or any(d.duals_in(ty)):
        return False
    if isinstance(ty, types.BaseTuple):
        return any(d.is_float_array(member) or holds_constants(member) for member in ty)
    return isinstance(
        ty, types.ClassInstanceType | types.StructRef | types.List | types.ListType | types.DictType
    )
