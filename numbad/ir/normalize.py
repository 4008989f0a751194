"""One form for what Numba's IR says in many ways.

Copies are gone, there is one return, and loops over arrays, tuples, lists, `enumerate`, `zip` and
NumPy's iterators run over a `range` and index.
"""

import operator
from types import BuiltinFunctionType

import numpy as np
from numba import njit
from numba.core import ir, types

from .array_fields import put_arrays
from .array_indices import is_basic_index
from .function import accessed, is_expr, is_phi, map_vars, read_by, successors
from .imaginary_parts import put_imaginary
from .optionals import take_present
from .rewrite import rewrite
from .sequences import call_helper, flat_position, index_loops, unpack


def normalize(fn):
    """Bring a `Function` into normal form, in place."""
    take_present(fn)
    write_operators_in_place(fn)
    count_by_integers(fn)
    rewrite(fn)
    prune(fn)
    drop_copies(fn)
    share_slices(fn)
    index_loops(fn)
    unpack(fn)
    join_returns(fn)
    drop_copies(fn)
    index_flat(fn)
    assign_arrays(fn)
    put_imaginary(fn)
    put_arrays(fn)
    drop_copies(fn)
    drop_stored_back(fn)
    drop_unused(fn)
    return fn


@njit
def _whole(x):
    return int(x)


def count_by_integers(fn):
    """`range(x)` of floats becomes `range(int(x))`, which is what Numba does."""
    for block in fn.blocks.values():
        for s in list(block.body):
            call = s.value if isinstance(s, ir.Assign) else None
            if is_expr(call, "call") and fn.constant(call.func) is range and call.vararg is None:
                made = []
                floats = [isinstance(fn.type_of(v), types.Float) for v in call.args]
                call.args = tuple(
                    call_helper(fn, _whole, [v], made, s.loc) if is_float else v
                    for v, is_float in zip(call.args, floats, strict=True)
                )
                if made:
                    position = block.body.index(s)
                    block.body[position:position] = made
                    fn.changed()


_IN_PLACE = {
    getattr(operator, f"i{name}"): getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow".split()
}


def write_operators_in_place(fn):
    """`operator.iadd(x, y)` becomes `x += y`: it writes to an array, whether its result is used or not."""
    for block in fn.blocks.values():
        for s in block.body:
            call = s.value if isinstance(s, ir.Assign) else None
            if not is_expr(call, "call") or len(call.args) != 2 or call.kws or call.vararg:
                continue
            called = fn.constant(call.func)
            if isinstance(called, BuiltinFunctionType) and called in _IN_PLACE:
                s.value = ir.Expr.inplace_binop(called, _IN_PLACE[called], *call.args, call.loc)
                if call in fn.calls:
                    fn.calls[s.value] = fn.calls[call]
                fn.changed()


def share_slices(fn):
    """The same slice made anew in a block gives way to the first: Python 3.12 makes two of `a[i:j] += b`."""
    found = False
    for block in fn.blocks.values():
        made = {}
        for s in block.body:
            call = s.value if isinstance(s, ir.Assign) else None
            if is_expr(call, "call") and fn.constant(call.func) is slice and not call.kws:
                key = fn.type_of(s.target), *(_bound(fn, v) for v in call.args)
                first = made.setdefault(key, s.target)
                if first is not s.target:
                    s.value, found = first, True
    if found:
        fn.changed()
        drop_copies(fn)


def _bound(fn, var):
    """What tells bounds of slices apart: a literal, or else the name."""
    value = fn.definition(var)
    if isinstance(value, ir.Const):
        return type(value.value), value.value
    return var.name


@njit
def _element(a):
    return a[()]


@njit
def _array(items, a, index):
    """One item is not broadcast, as an array of one element would be."""
    if len(items) != len(a[index]):
        raise ValueError("cannot assign slice from input of different size")
    return np.array(items)


def assign_arrays(fn):
    """`a[k] = b` of an array without axes becomes `a[k] = b[()]`, of a list or tuple `a[k] = np.array(b)`."""
    for block in fn.blocks.values():
        for s in list(block.body):
            if isinstance(s, ir.SetItem | ir.StaticSetItem) and _is_array(fn.type_of(s.target)):
                helper, made = _conversion(types.unliteral(fn.type_of(s.value))), []
                where = s.index if isinstance(s, ir.SetItem) else s.index_var
                if helper is not None and where is not None:
                    given = [s.value] if helper is _element else [s.value, s.target, where]
                    s.value = call_helper(fn, helper, given, made, s.loc)
                    position = block.body.index(s)
                    block.body[position:position] = made
                    fn.changed()


def _is_array(ty):
    return isinstance(ty, types.Array)


def _conversion(ty):
    if _is_array(ty):
        return _element if ty.ndim == 0 else None
    of_numbers = isinstance(getattr(ty, "dtype", None), types.Number)
    return _array if of_numbers and isinstance(ty, types.List | types.UniTuple) else None


def drop_stored_back(fn):
    """`a[i:j] += b` adds to a view of `a`, and then stores that view where it lies: that goes."""
    for block in fn.blocks.values():
        kept = [s for s in block.body if not _is_stored_back(fn, s)]
        if len(kept) < len(block.body):
            block.body = kept
            fn.changed()


def _is_stored_back(fn, s):
    made = fn.definition(s.value) if isinstance(s, ir.SetItem | ir.StaticSetItem) else None
    if not is_expr(made, "inplace_binop") or not _is_array(fn.type_of(made.lhs)):
        return False
    view = fn.definition(made.lhs)
    if not is_expr(view, "getitem", "static_getitem") or view.value.name != s.target.name:
        return False
    read = view.index if view.op == "getitem" else view.index_var
    written = s.index if isinstance(s, ir.SetItem) else s.index_var
    is_same = None not in (read, written) and read.name == written.name
    return is_same and is_basic_index(fn.type_of(read))


def index_flat(fn):
    """`a.flat[i]` becomes `a[...]` with the index tuple of element `i`."""
    for block in fn.blocks.values():
        for s in list(block.body):
            access, base = accessed(s) or (None, None)
            if access is not None and isinstance(fn.type_of(base), types.NumpyFlatType):
                _index_flat(fn, block, s, access, base)
    fn.changed()


def _index_flat(fn, block, s, access, base):
    flat = fn.definition(base)
    static = isinstance(access, ir.StaticSetItem) or is_expr(access, "static_getitem")
    if not is_expr(flat, "getattr") or (static and not isinstance(access.index, int)):
        return
    made = []
    if static:
        index = fn.fresh("$number", types.IntegerLiteral(access.index), s.loc)
        made.append(ir.Assign(ir.Const(access.index, s.loc), index, s.loc))
    else:
        index = access.index
    if not isinstance(types.unliteral(fn.type_of(index)), types.Integer):
        return
    where = call_helper(fn, flat_position, [flat.value, index], made, s.loc)
    if isinstance(s, ir.Assign):
        new = ir.Assign(ir.Expr.getitem(flat.value, where, s.loc), s.target, s.loc)
    else:
        new = ir.SetItem(flat.value, where, s.value, s.loc)
    position = block.body.index(s)
    block.body[position : position + 1] = [*made, new]


def join_returns(fn):
    """Several returns become ways to one."""
    ways = [label for label, b in fn.blocks.items() if isinstance(b.terminator, ir.Return)]
    if len(ways) < 2:
        return
    values = [fn.blocks[label].body[-1].value for label in ways]
    found = [fn.type_of(value) for value in values]
    end = fn.new_label()
    for label in ways:
        fn.blocks[label].body[-1] = ir.Jump(end, fn.blocks[label].body[-1].loc)
    loc = fn.blocks[ways[-1]].loc
    phi = ir.Expr.phi(loc)
    phi._kws["incoming_blocks"], phi._kws["incoming_values"] = ways, values
    ty = next((ty for ty in found if not isinstance(ty, types.NoneType)), found[0])
    target = fn.fresh("$returned", ty, loc)
    block = fn.blocks[end] = ir.Block(fn.scope, loc)
    block.body = [ir.Assign(phi, target, loc), ir.Return(target, loc)]
    fn.changed()


_DROPPED_CALLS = (enumerate, zip, np.ndenumerate, reversed, range, iter)
_DROPPED = ("getattr", "getiter", "build_tuple", "build_list", "phi", "cast", "exhaust_iter")


def drop_unused(fn):
    """Remove what nothing reads and what does nothing: the iterators that loops no longer use."""
    while True:
        used = {v.name for _, s in fn.statements() for v in read_by(s)}
        count = 0
        for block in fn.blocks.values():
            kept = [s for s in block.body if not _idle(fn, s, used)]
            count += len(block.body) - len(kept)
            block.body = kept
        if not count:
            return
        fn.changed()


def _idle(fn, s, used):
    if not isinstance(s, ir.Assign) or s.target.name in used:
        return False
    value = s.value
    if not isinstance(value, ir.Expr):
        return True
    if value.op == "static_getitem":
        return isinstance(fn.type_of(value.value), types.BaseTuple)
    if value.op == "call":
        return fn.constant(value.func) in _DROPPED_CALLS
    if value.op == "getattr" and _is_property(fn.type_of(value.value), value.attr):
        return False
    return value.op in _DROPPED


def _is_property(ty, name):
    """Whether an attribute is code of a jitted class, which may do anything."""
    if isinstance(ty, types.StructRef):
        return name not in ty.field_dict
    return isinstance(ty, types.ClassInstanceType) and name in ty.jit_props


def prune(fn):
    """Remove blocks that are never reached, and what comes from them."""
    reached, pending = set(), [fn.entry]
    while pending:
        label = pending.pop()
        if label not in reached:
            reached.add(label)
            pending += successors(fn.blocks[label])
    if len(reached) == len(fn.blocks):
        return
    fn.blocks = {label: b for label, b in fn.blocks.items() if label in reached}
    for _, s in fn.statements():
        if is_phi(s):
            pairs = zip(s.value.incoming_blocks, s.value.incoming_values, strict=True)
            kept = [(b, v) for b, v in pairs if b in reached]
            s.value._kws["incoming_blocks"] = [b for b, _ in kept]
            s.value._kws["incoming_values"] = [v for _, v in kept]
    fn.changed()


def drop_copies(fn):
    """Names that are copies of another one of the same type give way to it."""
    same = {}
    for _, s in fn.statements():
        if isinstance(s, ir.Assign) and isinstance(s.value, ir.Var):
            if fn.type_of(s.target) == fn.type_of(s.value):
                same[s.target.name] = s.value
        elif is_phi(s) and len(s.value.incoming_values) == 1:
            value = s.value.incoming_values[0]
            if value is not ir.UNDEFINED and fn.type_of(s.target) == fn.type_of(value):
                same[s.target.name] = value
    if not same:
        return

    def rename(var):
        while var is not ir.UNDEFINED and var.name in same:
            var = same[var.name]
        return var

    for name, var in same.items():
        kept = rename(var).name
        if kept.startswith("$") and not name.startswith("$"):
            fn.names.setdefault(kept, name)
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            if isinstance(s, ir.Assign) and s.target.name in same:
                continue
            body.append(_renamed(fn, s, rename))
        block.body = body
    fn.changed()


def _renamed(fn, s, rename):
    copy = map_vars(s, rename)
    if isinstance(s, ir.Assign):
        copy.target = s.target
        if s.value in fn.calls:
            fn.calls[copy.value] = fn.calls[s.value]
    elif s in fn.calls:
        fn.calls[copy] = fn.calls[s]
    return copy
