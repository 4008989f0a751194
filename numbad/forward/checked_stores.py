"""Refuses what is assigned to fields where its partials, or a reference to its memory, would be lost."""

from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass

from ..errors import UnsupportedError
from ..ir.fence import place
from ..ir.leaves import fields_of
from . import dual as d

_BESIDE_DUALS = (
    "cannot differentiate an array of constants that becomes the field '{name}' of an instance whose arrays "
    "are differentiated: {place}\nWay out: assign an array that is made of differentiated values, or "
    "pass the array to the methods that need it, in place of the field '{name}'."
)
_IN_A_RECORD = (
    "cannot differentiate a number that becomes the field '{name}' of a record of constants: {place}\n"
    "Records that the function makes hold differentiated numbers, and so do arguments that are records or "
    "arrays of records. Those in a tuple or a list, read-only ones, and those whose fields share memory "
    "do not."
    "\nWay out: mode='reverse', or keep the number in an array."
)


@register_pass(mutates_CFG=False, analysis_only=True)
class CheckStores(FunctionPass):
    """Refuses arrays of constants in fields of arrays of duals, and duals in records of constants.

    A copy of such an array would hold duals, but would not be the array that the caller has.
    """

    _name = "numbad_check_stores"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        for block in state.func_ir.blocks.values():
            for s in block.find_insts(ir.SetAttr):
                told = _refusal(state.typemap[s.target.name], state.typemap[s.value.name], s)
                if told is not None:
                    raise UnsupportedError(told)
        return False


def _refusal(owner, given, s):
    """Why an assignment to a field is refused, or None."""
    field = (fields_of(owner) or {}).get(s.attr)
    if _is_mixed(field, given):
        return _BESIDE_DUALS.format(name=s.attr, place=place(s.loc))
    in_record = isinstance(owner, types.Record) and s.attr in owner.fields
    if in_record and _holds_duals(given) and not _holds_duals(owner.typeof(s.attr)):
        return _IN_A_RECORD.format(name=s.attr, place=place(s.loc))
    return None


def _holds_duals(ty):
    return any(True for _ in d.duals_in(ty))


def _is_mixed(field, given):
    if not isinstance(field, types.Array) or not isinstance(given, types.Array):
        return False
    return isinstance(field.dtype, d.Dual) and field.dtype != given.dtype
