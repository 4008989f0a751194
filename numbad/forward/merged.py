"""Arrays of constants that meet arrays of dual numbers: `w = np.ones_like(x) if given is None else given`.

Numba wants one type where branches or the rounds of a loop meet. What comes in as constants is copied into
duals on its way; so this is done where nobody can tell a copy from the array: it is not written to, not
kept, and not returned.
"""

from numba.core import ir
from numba.core.ir_utils import build_definitions

from .dual import is_dual_array, is_float_array


def convert_merged(func_ir, typemap, activity, changes, dual):
    """Put a conversion on the way of constants into merges; returns whether there was any."""
    found = [
        phi
        for phi in _phis(func_ir)
        if _differ(phi, typemap, activity)
        and _may_be_copied(phi.target.name, activity.flow, changes)
    ]
    for phi in found:
        _convert(func_ir, phi.value, typemap, dual)
    if found:
        func_ir._definitions = build_definitions(func_ir.blocks)
    return bool(found)


def _phis(func_ir):
    for block in func_ir.blocks.values():
        for statement in block.find_insts(ir.Assign):
            if isinstance(statement.value, ir.Expr) and statement.value.op == "phi":
                yield statement


def _differ(phi, typemap, activity):
    """Whether constants come in, and duals, or what is active and not known yet."""
    incoming = [v for v in phi.value.incoming_values if isinstance(v, ir.Var)]
    tys = [typemap.get(v.name) for v in incoming]
    if not any(map(is_float_array, tys)):
        return False
    unknown = None in tys and phi.target.name in activity.active
    return unknown or any(map(is_dual_array, tys))


def _may_be_copied(name, flow, changes):
    """Whether what shares memory with a name is read alone, and stays here."""
    shared = flow.reached({name})
    kept = {value for _, value in flow.kept} & shared - flow.scalars
    return not (shared & changes.holds or shared & flow.results or kept)


def _convert(func_ir, phi, typemap, dual):
    from .array import as_dual

    for k, (label, value) in enumerate(zip(phi.incoming_blocks, phi.incoming_values, strict=True)):
        if not isinstance(value, ir.Var) or not is_float_array(typemap.get(value.name)):
            continue
        block, loc = func_ir.blocks[label], value.loc
        fn = value.scope.redefine("$numbad_as_dual", loc)
        copied = value.scope.redefine(f"{value.name}.merged", loc)
        block.body[-1:-1] = [
            ir.Assign(ir.Global("as_dual", as_dual(dual), loc), fn, loc),
            ir.Assign(ir.Expr.call(fn, [value], (), loc), copied, loc),
        ]
        phi.incoming_values[k] = copied
