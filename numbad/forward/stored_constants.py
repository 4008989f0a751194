"""Constants in dictionaries and lists of dual numbers: `known[0] = 0.0`, where later `known[1] = x`.

Numba takes the type of what they hold from the first that is stored. Where that is a float, and dual
numbers come later, the floats become dual numbers on their way in.
"""

from numba.core import ir, types
from numba.core.ir_utils import build_definitions

from ..ir.untyped import method_of
from .dual import duals_in
from .dual_arrays import raising
from .handed_on import is_op, made_as

# Methods that store their last argument, and how many they have; a comprehension calls `__setitem__`.
_STORING = {"__setitem__": 2, "append": 1, "insert": 2}


def raise_stored(func_ir, holds, typemap, dual):
    """Convert what is stored in the containers of floats among `holds`; whether there was any."""
    found = False
    for block in func_ir.blocks.values():
        body = []
        for statement in block.body:
            values = _stored(func_ir, statement, holds, typemap)
            tys = {v.name: types.unliteral(typemap[v.name]) for v in values if v.name in typemap}
            converts = {name: raising(ty, dual) for name, ty in tys.items()}
            values = [v for v in values if converts.get(v.name)]
            if values:
                raised = {v.name: _raised(body, v, converts[v.name], statement.loc) for v in values}
                _put(statement, raised)
                found = True
            body.append(statement)
        block.body = body
    if found:
        func_ir._definitions = build_definitions(func_ir.blocks)
    return found


def _stored(func_ir, statement, holds, typemap):
    """What a statement stores that is of the type of what a dictionary or a list holds.

    What is of another type Numba casts as it stores it, or refuses.
    """
    e = statement.value if isinstance(statement, ir.Assign) else None
    if isinstance(statement, ir.SetItem | ir.StaticSetItem):
        target, value = statement.target, statement.value
    elif isinstance(e, ir.Expr) and e.op == "build_map":
        values = [value for _, value in e.items]
        return values if any(any(duals_in(typemap.get(v.name))) for v in values) else []
    elif isinstance(e, ir.Expr) and e.op == "call" and e.args:
        target, name = method_of(func_ir, e.func) or (None, None)
        if name not in _STORING or len(e.args) != _STORING[name]:
            return []
        value = e.args[-1]
    else:
        return []
    held = _held(func_ir, target.name, typemap.get(target.name))
    same = types.unliteral(typemap.get(value.name, types.undefined)) == held
    return [value] if target.name in holds and same else []


def _held(func_ir, name, ty):
    """The type of what a dictionary, a typed list, or a list made in the function holds; None for others."""
    if isinstance(ty, types.ListType):
        return ty.item_type
    if isinstance(ty, types.List):
        return ty.dtype if is_op(made_as(func_ir, name)[1], "build_list") else None
    return ty.value_type if isinstance(ty, types.DictType) else None


def _raised(body, value, convert, loc):
    """The variable that a value converted is assigned to at the end of `body`."""
    fn = value.scope.redefine("$numbad_raised", loc)
    raised = value.scope.redefine(f"{value.name}.raised", loc)
    body.append(ir.Assign(ir.Global("raised", convert, loc), fn, loc))
    body.append(ir.Assign(ir.Expr.call(fn, [value], (), loc), raised, loc))
    return raised


def _put(statement, raised):
    """Let a statement store others for the values with the names in `raised`."""
    e = statement.value
    if not isinstance(statement, ir.Assign):
        statement.value = raised[e.name]
    elif e.op == "build_map":
        e.items = [(key, raised.get(v.name, v)) for key, v in e.items]
    else:
        e.args = [*e.args[:-1], raised[e.args[-1].name]]
