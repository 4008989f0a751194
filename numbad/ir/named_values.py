"""Dictionaries of values of several types by name, `{"rate": x, "weights": w}`, as tuples."""

from numba.core import ir, types

from .function import is_expr, read_by


def take_tuples(func_ir, typemap):
    """Make tuples of those that are only read, by names that stand in the code; whether there are any."""
    found = {name: ty for name, ty in typemap.items() if isinstance(ty, types.LiteralStrKeyDict)}
    while found and (others := _used_otherwise(func_ir, found)):
        for name in others:
            del found[name]
    if found:
        for block in func_ir.blocks.values():
            for s in block.find_insts(ir.Assign):
                _rewrite(s, found, typemap)
    return bool(found)


def _used_otherwise(func_ir, found):
    """The names of which something else is done, or to which something else is assigned."""
    others = set()
    for block in func_ir.blocks.values():
        for s in block.body:
            names = {v.name for v in read_by(s)} & found.keys() if not isinstance(s, ir.Del) else ()
            assigned = isinstance(s, ir.Assign) and s.target.name in found
            if isinstance(s, ir.Assign) and isinstance(s.value, ir.Var):
                if assigned != bool(names):
                    others |= {s.target.name, s.value.name} & found.keys()
                continue
            if assigned and not is_expr(s.value, "build_map"):
                others.add(s.target.name)
            value = s.value if isinstance(s, ir.Assign) else None
            if not (is_expr(value, "static_getitem") and isinstance(value.index, str)):
                others |= set(names)
    return others


def _rewrite(s, found, typemap):
    value, loc = s.value, s.loc
    if is_expr(value, "build_map") and s.target.name in found:
        values = {typemap[key.name].literal_value: v for key, v in value.items}
        s.value = ir.Expr.build_tuple(list(values.values()), loc)
    elif is_expr(value, "static_getitem") and value.value.name in found:
        names = [key.literal_value for key in found[value.value.name].literal_value]
        s.value = ir.Expr.static_getitem(value.value, names.index(value.index), None, loc)
