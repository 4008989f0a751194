"""Values that are gone through one by one: loops over them, and what is unpacked, by index."""

import operator
from functools import cache

import numpy as np
from numba import njit
from numba.core import ir, types
from numba.core.inline_closurecall import length_of_iterator
from numba.core.typing import signature
from numba.extending import overload

from ..source import define
from .callee import callee_of
from .capture import capture, result_type
from .function import is_expr, is_phi, read_by
from .mutation import may_change_lists


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
    lists = [part for part in sequence.parts if isinstance(part.ty, types.List | types.ListType)]
    grows = bool(lists) and may_change_lists(fn, header)
    counts = _iterate_range(fn, where, iternext, getiter, sequence, grows)
    _fetch(fn, header, first, terminator, sequence)
    if grows:
        _ask_for_more(
            fn, header, terminator, first.target, zip(sequence.parts, counts, strict=True)
        )
    fn.changed()


def _iterate_range(fn, where, iternext, getiter, sequence, grows):
    """`getiter(x)` becomes `getiter(range(len(x)))`, or that of a range without end.

    Returns the variables of the counts of the parts, for the latter.
    """
    block = fn.blocks[where]
    loc = getiter.loc
    index = next(
        k for k, s in enumerate(block.body) if isinstance(s, ir.Assign) and s.value is getiter
    )
    made, counts = [], []
    if grows:
        counts = [part.count(fn, made, loc) for part in sequence.parts]
        count = fn.fresh("$endless", types.int64, loc)
        made.append(ir.Assign(ir.Const(1 << 62, loc), count, loc))
        for length_asked in _lengths_asked(fn, block.body[index].target):
            length_asked.value = sequence.count(fn, made, loc)
    else:
        count = sequence.count(fn, made, loc)
    func = fn.fresh("$range", None, loc)
    made.append(ir.Assign(ir.Global("range", range, loc), func, loc))
    over = fn.fresh("$over", types.range_state64_type, loc)
    made.append(ir.Assign(ir.Expr.call(func, [count], (), loc), over, loc))
    block.body[index].value = ir.Expr.getiter(over, loc)
    block.body[index:index] = made
    fn.types[block.body[index + len(made)].target.name] = types.range_iter64_type
    fn.types[iternext.target.name] = types.Pair(types.int64, types.boolean)
    return counts


def _lengths_asked(fn, iterator):
    """The statements that ask how many values there are to come: in `np.array([f(x) for x in items])`."""
    for _, s in fn.statements():
        if isinstance(s, ir.Assign) and is_expr(s.value, "call"):
            asks = [arg.name for arg in s.value.args] == [iterator.name]
            if asks and callee_of(fn, s.value).key is length_of_iterator:
                yield s


def _ask_for_more(fn, header, terminator, index, parts):
    """Before each value a block asks whether there is one: a list may have another length by now."""
    loc = terminator.loc
    label, end = fn.new_label(), terminator.falsebr
    block = fn.blocks[label] = ir.Block(fn.scope, loc)
    block.body = []
    more = None
    for part, count in parts:
        answer = part.more(fn, index, count, block.body, loc)
        more = answer if more is None else call_helper(fn, both, [more, answer], block.body, loc)
    block.append(ir.Branch(more, terminator.truebr, end, loc))
    for s in fn.blocks[end].body:
        if is_phi(s):
            ways, values = s.value.incoming_blocks, s.value.incoming_values
            s.value._kws["incoming_blocks"] = [*ways, label]
            s.value._kws["incoming_values"] = [*values, values[ways.index(header)]]
    terminator.truebr = label


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


@njit
def expect(count, wanted):
    if count != wanted:
        raise ValueError


def unpack(fn):
    """`x, y = a` of what is no tuple becomes a tuple of its members, fetched by index."""
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            if isinstance(s, ir.Assign) and is_expr(s.value, "exhaust_iter"):
                body += _unpacked(fn, s)
            else:
                body.append(s)
        block.body = body
    fn.changed()


def _unpacked(fn, s):
    if isinstance(fn.type_of(s.value.value), types.BaseTuple):
        return [s]
    sequence = _sequence(fn, s.value.value)
    if sequence is None:
        return [s]
    made, loc = [], s.loc
    count = sequence.count(fn, made, loc)
    call_helper(fn, expect, [count, _number(fn, s.value.count, made, loc)], made, loc)
    members = [sequence.at(fn, _number(fn, k, made, loc), made, loc) for k in range(s.value.count)]
    return [*made, ir.Assign(ir.Expr.build_tuple(members, loc), s.target, loc)]


def _number(fn, k, made, loc):
    target = fn.fresh("$number", types.IntegerLiteral(k), loc)
    made.append(ir.Assign(ir.Const(k, loc), target, loc))
    return target


class _Part:
    """What is gone through by itself."""

    ty = None

    @property
    def parts(self):
        return [self]

    def more(self, fn, index, count, made, loc):
        """Whether there is a value with this index; `count` is how many there were at first."""
        return call_helper(fn, is_below, [index, count], made, loc)


class _Indexed(_Part):
    """An array, a tuple or a list: `x[i]`."""

    def __init__(self, var, ty):
        self.var, self.ty = var, ty

    def more(self, fn, index, count, made, loc):
        if isinstance(self.ty, types.List):
            return call_helper(fn, is_in_list, [index, self.var], made, loc)
        if isinstance(self.ty, types.ListType):
            return call_helper(fn, is_in_same_list, [index, self.var, count], made, loc)
        return super().more(fn, index, count, made, loc)

    def count(self, fn, made, loc):
        return call_helper(fn, length, [self.var], made, loc)

    def at(self, fn, index, made, loc):
        return call_helper(fn, item, [self.var, index], made, loc)


@njit
def is_below(i, n):
    return i < n


@njit
def is_in_list(i, items):
    return i < len(items)


@njit
def is_in_same_list(i, items, n):
    if len(items) != n:
        raise RuntimeError("list was mutated during iteration")
    return i < n


@njit
def both(a, b):
    return a and b


class _Enumerated:
    def __init__(self, inner, start, ty):
        self.inner, self.start, self.ty = inner, start, ty

    @property
    def parts(self):
        return self.inner.parts

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

    @property
    def parts(self):
        return [part for x in self.inner for part in x.parts]

    def count(self, fn, made, loc):
        counts = [x.count(fn, made, loc) for x in self.inner]
        least = counts[0]
        for other in counts[1:]:
            least = call_helper(fn, smaller, [least, other], made, loc)
        return least

    def at(self, fn, index, made, loc):
        return _pack(fn, [x.at(fn, index, made, loc) for x in self.inner], self.ty, made, loc)


class _Ranged(_Part):
    """A `range` within `zip` or `enumerate`."""

    def __init__(self, var):
        self.var = var

    def count(self, fn, made, loc):
        return call_helper(fn, length, [self.var], made, loc)

    def at(self, fn, index, made, loc):
        return call_helper(fn, number_of_range, [self.var, index], made, loc)


class _Visited(_Part):
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
    return sum(v.name == var.name for _, s in fn.statements() for v in read_by(s)) == 1


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
    result = result_type(capture(dispatcher, argtypes))
    call = ir.Expr.call(func, list(arguments), (), loc)
    fn.calls[call] = signature(result, *argtypes)
    target = fn.fresh("$result", result, loc)
    made.append(ir.Assign(call, target, loc))
    return target
