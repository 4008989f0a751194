"""One form for what Numba's IR says in many ways.

Copies are gone, there is one return, and loops over arrays, tuples, lists, `enumerate`, `zip` and
NumPy's iterators run over a `range` and index.
"""

import operator
from functools import cache

import numpy as np
from numba import njit
from numba.core import ir, types
from numba.extending import overload

from ..source import define
from .callee import callee_of, type_call
from .function import is_expr, is_phi, map_vars, operands, successors
from .rewrite import rewrite


def normalize(fn):
    """Bring a `Function` into normal form, in place."""
    rewrite(fn)
    prune(fn)
    drop_copies(fn)
    index_loops(fn)
    join_returns(fn)
    drop_copies(fn)
    index_flat(fn)
    drop_unused(fn)
    return fn


def index_flat(fn):
    """`a.flat[i]` becomes `a[...]` with the index tuple of element `i`."""
    for block in fn.blocks.values():
        for s in list(block.body):
            access = s.value if isinstance(s, ir.Assign) else s
            if is_expr(access, "getitem", "static_getitem"):
                base = access.value
            elif isinstance(access, ir.SetItem | ir.StaticSetItem):
                base = access.target
            else:
                continue
            if isinstance(fn.type_of(base), types.NumpyFlatType):
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
    end = fn.new_label()
    for label in ways:
        fn.blocks[label].body[-1] = ir.Jump(end, fn.blocks[label].body[-1].loc)
    loc = fn.blocks[ways[-1]].loc
    phi = ir.Expr.phi(loc)
    phi._kws["incoming_blocks"], phi._kws["incoming_values"] = ways, values
    target = fn.fresh("$returned", fn.type_of(values[0]), loc)
    block = fn.blocks[end] = ir.Block(fn.scope, loc)
    block.body = [ir.Assign(phi, target, loc), ir.Return(target, loc)]
    fn.changed()


_DROPPED_CALLS = (enumerate, zip, np.ndenumerate, reversed, range, iter)
_DROPPED = ("getattr", "getiter", "build_tuple", "phi", "cast", "exhaust_iter")


def drop_unused(fn):
    """Remove what nothing reads and what does nothing: the iterators that loops no longer use."""
    while True:
        used = {v.name for _, s in fn.statements() for v in _read(s)}
        count = 0
        for block in fn.blocks.values():
            kept = [s for s in block.body if not _idle(fn, s, used)]
            count += len(block.body) - len(kept)
            block.body = kept
        if not count:
            return
        fn.changed()


def _read(s):
    if isinstance(s, ir.Assign):
        return [v for v in operands(s.value) if v is not ir.UNDEFINED]
    return list(s.list_vars())


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


# -- loops -----------------------------------------------------------------------------------


@njit
def length(x):
    return len(x)


@njit
def item(x, i):
    return x[i]


@njit
def count_of_shape(x):
    return x.size


def index_loops(fn):
    """Loops over values become loops over a `range` that fetch the values by index."""
    for label in list(fn.blocks):
        for s in list(fn.blocks[label].body):
            if isinstance(s, ir.Assign) and is_expr(s.value, "iternext"):
                _index_loop(fn, label, s)


def _index_loop(fn, header, iternext):
    where, getiter = fn.definitions.get(iternext.value.value.name, (None, None))
    if not is_expr(getiter, "getiter") or isinstance(fn.type_of(getiter.value), types.RangeType):
        return
    sequence = _sequence(fn, getiter.value)
    if sequence is None:
        return
    first = next(
        (
            s
            for s in fn.blocks[header].body
            if isinstance(s, ir.Assign)
            and is_expr(s.value, "pair_first")
            and s.value.value.name == iternext.target.name
        ),
        None,
    )
    terminator = fn.blocks[header].body[-1]
    if first is None or not isinstance(terminator, ir.Branch):
        return
    _iterate_range(fn, where, iternext, getiter, sequence)
    _fetch(fn, header, first, terminator, sequence)
    fn.changed()


def _iterate_range(fn, where, iternext, getiter, sequence):
    """`getiter(x)` becomes `getiter(range(len(x)))`."""
    block = fn.blocks[where]
    loc = getiter.loc
    index = next(
        k for k, s in enumerate(block.body) if isinstance(s, ir.Assign) and s.value is getiter
    )
    made = []
    count = sequence.count(fn, made, loc)
    func = fn.fresh("$range", None, loc)
    made.append(ir.Assign(ir.Global("range", range, loc), func, loc))
    over = fn.fresh("$over", types.range_state64_type, loc)
    made.append(ir.Assign(ir.Expr.call(func, [count], (), loc), over, loc))
    block.body[index].value = ir.Expr.getiter(over, loc)
    block.body[index:index] = made
    fn.types[block.body[index + len(made)].target.name] = types.range_iter64_type
    fn.types[iternext.target.name] = types.Pair(types.int64, types.boolean)


def _fetch(fn, header, first, terminator, sequence):
    """The value of the loop's variable is fetched in a block of its own before the body."""
    loc = first.loc
    target = first.target
    index = fn.fresh("$index", types.int64, loc)
    first.target = index
    label = fn.new_label()
    block = fn.blocks[label] = ir.Block(fn.scope, loc)
    block.body = []
    value = sequence.at(fn, index, block.body, loc)
    block.append(ir.Assign(value, target, loc))
    block.append(ir.Jump(terminator.truebr, loc))
    for s in fn.blocks[terminator.truebr].body:
        if is_phi(s):
            s.value._kws["incoming_blocks"] = [
                label if b == header else b for b in s.value.incoming_blocks
            ]
    terminator.truebr = label


class _Indexed:
    """An array, a tuple or a list: `x[i]`."""

    def __init__(self, var, ty):
        self.var, self.ty = var, ty

    def count(self, fn, made, loc):
        return call_helper(fn, length, [self.var], made, loc)

    def at(self, fn, index, made, loc):
        return call_helper(fn, item, [self.var, index], made, loc)


class _Enumerated:
    def __init__(self, inner, start, ty):
        self.inner, self.start, self.ty = inner, start, ty

    def count(self, fn, made, loc):
        return self.inner.count(fn, made, loc)

    def at(self, fn, index, made, loc):
        value = self.inner.at(fn, index, made, loc)
        number = index
        if self.start is not None:
            number = fn.fresh("$number", types.int64, loc)
            made.append(ir.Assign(ir.Expr.binop(operator.add, index, self.start, loc), number, loc))
        return _pack(fn, [number, value], self.ty, made, loc)


class _Zipped:
    def __init__(self, inner, ty):
        self.inner, self.ty = inner, ty

    def count(self, fn, made, loc):
        counts = [x.count(fn, made, loc) for x in self.inner]
        least = counts[0]
        for other in counts[1:]:
            least = call_helper(fn, smaller, [least, other], made, loc)
        return least

    def at(self, fn, index, made, loc):
        return _pack(fn, [x.at(fn, index, made, loc) for x in self.inner], self.ty, made, loc)


class _Ranged:
    """A `range` within `zip` or `enumerate`."""

    def __init__(self, var):
        self.var = var

    def count(self, fn, made, loc):
        return call_helper(fn, length, [self.var], made, loc)

    def at(self, fn, index, made, loc):
        return call_helper(fn, number_of_range, [self.var, index], made, loc)


class _Visited:
    """`np.ndenumerate(a)` and `a.flat`, by the number of the element in C order."""

    def __init__(self, var, element):
        self.var, self.element = var, element

    def count(self, fn, made, loc):
        return call_helper(fn, count_of_shape, [self.var], made, loc)

    def at(self, fn, index, made, loc):
        return call_helper(fn, self.element, [self.var, index], made, loc)


@njit
def smaller(a, b):
    return a if a < b else b


@njit
def number_of_range(r, i):
    return r.start + i * r.step


@njit
def flat_element(a, i):
    return a[unravel(a.shape, i)]


@njit
def flat_position(a, i):
    return unravel(a.shape, i)


@njit
def numbered_element(a, i):
    where = unravel(a.shape, i)
    return where, a[where]


def unravel(shape, i):
    """The index tuple of element `i` of an array of this shape, in C order."""


@overload(unravel)
def _unravel(shape, i):
    return _unravel_source(len(shape))


@cache
def _unravel_source(ndim):
    lines = [f"    i, r{k} = i // shape[{k}], i % shape[{k}]" for k in reversed(range(1, ndim))]
    result = ", ".join(["i", *(f"r{k}" for k in range(1, ndim))][:ndim])
    body = "\n".join([*lines, f"    return ({result}{',' if ndim else ''})"])
    return define(f"def unravel(shape, i):\n{body}\n", {})


def _sequence(fn, var):
    """How to go through a value by index, or None."""
    ty = fn.type_of(var)
    if isinstance(ty, types.Array | types.List | types.ListType | types.UniTuple):
        return _Indexed(var, ty)
    if isinstance(ty, types.NamedUniTuple):
        return _Indexed(var, ty)
    if isinstance(ty, types.RangeType):
        return _Ranged(var)
    definition = fn.definition(var)
    if is_expr(definition, "getiter"):
        return _sequence(fn, definition.value)
    if is_expr(definition, "getattr") and definition.attr == "flat":
        return _Visited(definition.value, flat_element)
    if not is_expr(definition, "call"):
        return None
    return _called_sequence(fn, var, definition, ty)


def _used_once(fn, var):
    """Whether an iterator is gone through once, from its start."""
    return sum(v.name == var.name for _, s in fn.statements() for v in _read(s)) == 1


def _called_sequence(fn, var, call, ty):
    key = callee_of(fn, call).key
    if key is iter and len(call.args) == 1 and _used_once(fn, var):
        return _sequence(fn, call.args[0])
    if key is enumerate and call.args:
        given = dict(call.kws)
        start = call.args[1] if len(call.args) > 1 else given.get("start")
        inner = _sequence(fn, call.args[0])
        return inner and _Enumerated(inner, start, ty.yield_type)
    if key is zip and call.args:
        inner = [_sequence(fn, v) for v in call.args]
        return _Zipped(inner, ty.yield_type) if all(inner) else None
    if key is np.ndenumerate and len(call.args) == 1:
        return _Visited(call.args[0], numbered_element)
    return None


def _pack(fn, members, ty, made, loc):
    target = fn.fresh("$packed", ty, loc)
    made.append(ir.Assign(ir.Expr.build_tuple(members, loc), target, loc))
    return target


def call_helper(fn, dispatcher, arguments, made, loc):
    """Append a call of a jitted helper; returns the variable of its result."""
    func = fn.fresh("$helper", types.Dispatcher(dispatcher), loc)
    made.append(ir.Assign(ir.Global(dispatcher.py_func.__name__, dispatcher, loc), func, loc))
    argtypes = tuple(types.unliteral(fn.type_of(v)) for v in arguments)
    signature = type_call(dispatcher, argtypes)
    call = ir.Expr.call(func, list(arguments), (), loc)
    fn.calls[call] = signature
    target = fn.fresh("$result", signature.return_type, loc)
    made.append(ir.Assign(call, target, loc))
    return target
