"""Arrays of constants that meet arrays of dual numbers: `w = np.ones_like(x) if given is None else given`.

Numba wants one type where branches or the rounds of a loop meet. What comes in as constants is copied into
duals on its way; so this is done where nobody can tell a copy from the array.
"""

from numba.core import ir, types
from numba.core.ir_utils import build_definitions

from .dual import Dual, is_dual_array, is_float_array
from .dual_arrays import as_dual, as_scalar


def convert_merged(func_ir, typemap, activity, changes, dual):
    """Put a conversion on the way of constants into merges; returns whether there was any."""
    converted = set()
    while True:  # what has become an array of duals meets others
        duals = _copies(func_ir, converted)
        found = [
            phi
            for phi in _phis(func_ir)
            if phi.target.name not in converted
            and _differ(phi, typemap, activity, duals)
            and _may_be_copied(phi.target.name, activity.flow, changes)
        ]
        if not found:
            break
        converted.update(phi.target.name for phi in found)
        for phi in found:
            _convert(func_ir, phi.value, _arrays(typemap, dual, duals))
    if any(_has_no_place(typemap.get(name)) for name in activity.active - activity.holds):
        converted.update(_convert_numbers(func_ir, typemap, dual))
    if converted:
        func_ir._definitions = build_definitions(func_ir.blocks)
    return bool(converted)


def _copies(func_ir, names):
    """The names, and those that are assigned one of them."""
    found, before = set(names), None
    while found != before:
        before = set(found)
        for block in func_ir.blocks.values():
            for statement in block.find_insts(ir.Assign):
                if isinstance(statement.value, ir.Var) and statement.value.name in found:
                    found.add(statement.target.name)
    return found


def _phis(func_ir):
    for block in func_ir.blocks.values():
        for statement in block.find_insts(ir.Assign):
            if isinstance(statement.value, ir.Expr) and statement.value.op == "phi":
                yield statement


def _differ(phi, typemap, activity, duals):
    """Whether constants come in, and duals, or what is active and not known yet."""
    incoming = [v.name for v in phi.value.incoming_values if isinstance(v, ir.Var)]
    if not any(_is_constant(name, typemap, duals) for name in incoming):
        return False
    unknown = phi.target.name in activity.active and any(name not in typemap for name in incoming)
    return unknown or any(is_dual_array(typemap.get(name)) or name in duals for name in incoming)


def _is_constant(name, typemap, duals):
    return is_float_array(typemap.get(name)) and name not in duals


def _may_be_copied(name, flow, changes):
    """Whether nobody can tell a copy from what a name may share memory with.

    It is not written to here, nor kept. Where it is returned, whoever writes to it passes arrays of duals:
    writes to what meets duals count as such (`Summary.written`), for arrays, not for what holds them.
    """
    shared = flow.reached({name})
    kept = {value for _, value in flow.kept} & shared - flow.scalars
    if shared & changes.holds or kept:
        return False
    given = (ty for i, ty in enumerate(flow.args) if flow.parameters.get(i) in shared)
    return not shared & flow.results or all(isinstance(ty, types.Array) for ty in given)


def _has_no_place(ty):
    """Whether what is active, and nobody writes to, was taken for an array of constants, or has no type."""
    return ty is None or is_float_array(ty)


def _convert_numbers(func_ir, typemap, dual):
    """Convert constants where they meet dual numbers: `s = 0.0`, `s += x`, in a loop, `np.array([s])`.

    Inference takes `s` for a float at first, and unites numbers of the two types, but no arrays of them.
    """
    found = [phi for phi in _phis(func_ir) if isinstance(typemap.get(phi.target.name), Dual)]
    for phi in found:
        _convert(func_ir, phi.value, _numbers(typemap, typemap[phi.target.name]))
    return [phi.target.name for phi in found]


def _arrays(typemap, dual, duals):
    """What converts a name that stands for an array of constants, as a function of the name."""
    convert = as_dual(dual)
    return lambda name: convert if _is_constant(name, typemap, duals) else None


def _numbers(typemap, dual):
    """The same for a number."""
    convert = as_scalar(dual)
    return lambda name: convert if isinstance(typemap.get(name), types.Number) else None


def _convert(func_ir, phi, conversion):
    for k, (label, value) in enumerate(zip(phi.incoming_blocks, phi.incoming_values, strict=True)):
        convert = conversion(value.name) if isinstance(value, ir.Var) else None
        if convert is None:
            continue
        block, loc = func_ir.blocks[label], value.loc
        fn = value.scope.redefine("$numbad_as_dual", loc)
        copied = value.scope.redefine(f"{value.name}.merged", loc)
        block.body[-1:-1] = [
            ir.Assign(ir.Global("as_dual", convert, loc), fn, loc),
            ir.Assign(ir.Expr.call(fn, [value], (), loc), copied, loc),
        ]
        phi.incoming_values[k] = copied
