"""Items of tuples that the code itself has put together: `(i, x)[0]` is `i`."""

from numba.core import ir

from .function import is_expr
from .normalize import drop_copies, drop_unused


def take_items(fn):
    """Have the items of tuples stand for what fetches them, in place."""
    while _take(fn):  # an item may be a tuple itself
        fn.changed()
        drop_copies(fn)
    drop_unused(fn)


def _take(fn):
    taken = 0
    for _, s in fn.statements():
        if isinstance(s, ir.Assign) and is_expr(s.value, "static_getitem"):
            item = _item(fn, s.value)
            if item is not None and fn.type_of(item) == fn.type_of(s.target):
                s.value, taken = item, taken + 1
    return taken


def _item(fn, value):
    if not isinstance(value.index, int):
        return None
    built = fn.definition(value.value)
    while isinstance(built, ir.Var) or is_expr(built, "exhaust_iter"):
        built = fn.definition(built if isinstance(built, ir.Var) else built.value)
    return built.items[value.index] if is_expr(built, "build_tuple") else None
