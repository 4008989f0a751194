"""The functions that reverse mode calls in its sweeps, and what a listing writes for them."""

import inspect
import operator
import re

import numpy as np
from numba.core.extending import _Intrinsic

from ...ir import sequences
from ...rules.expression import Answer, Apply, Arg, Const
from ...rules.expression import where as chosen
from ...rules.registry import CONSTANT, SCALAR, VJP, name_of
from .. import arena, array_state, elements, frame_table, memory_helpers, value_tape
from ..ops import lists, moves, structural_functions
from . import formula as x
from .formula import Node

_HIDDEN = re.compile(r"\$(tape|(top|arena|base|rows)\d*)")


def is_hidden(name):
    """Whether a variable is one of the tape's own bookkeeping."""
    return _HIDDEN.fullmatch(name) is not None


_READING = {len, range, bool, int, float, abs, min, max, complex, enumerate, zip, slice, tuple}
_NUMBERS = {np.float64, np.float32, np.complex128, np.complex64}


def is_pure(function):
    """Whether a call changes nothing and gives the same each time."""
    try:
        if function in SCALAR or function in CONSTANT or function in _READING:
            return True
    except TypeError:  # unhashable
        return False
    if isinstance(function, type) and issubclass(function, BaseException):
        return True
    return function in _NUMBERS or function in (moves.wrapped, moves.picked, lists.count)


def called_name(function):
    """What a listing calls a function; for a part of reverse mode, with the user's function's name."""
    code = getattr(function, "py_func", function)
    ruled = getattr(code, "__numbad_rule_of__", None)
    if ruled in VJP:
        forward = getattr(VJP[ruled][0], "py_func", VJP[ruled][0])
        part = "forward" if forward.__code__ is code.__code__ else "backward"
        return f"{part}[{_short(ruled)}]"
    if ruled is not None:
        return f"pullback[{_short(ruled)}]"
    pull = getattr(code, "__numbad_pull__", None)
    if pull is not None:
        return f"{getattr(pull, 'part', 'pullback')}[{_short(pull.dispatcher)}]"
    return _short(function)


def _short(function):
    return getattr(function, "__name__", None) or str(function)


def known_call(to, function, target, value):
    """Translate a call of a function of reverse mode's own; False for any other function."""
    write = _WRITERS.get(_key(function))
    if write is None or (function in _NUMBERS and not value.func.name.startswith("$g")):
        return False
    if write is _push:
        to.record(value, value.args[3:] if function is value_tape.push_frame else value.args[2:])
    else:
        write(to, target, value.args, _made_with(function))
    return True


def _key(function):
    """What tells a function of reverse mode from others: itself, or who made it and its name."""
    if isinstance(function, _Intrinsic) and function._defn.__closure__:
        return function._defn.__qualname__
    try:
        hash(function)
    except TypeError:
        return None
    return function


def _made_with(function):
    """The values that a function made by another one was made with."""
    if isinstance(function, _Intrinsic):
        return inspect.getclosurevars(function._defn).nonlocals
    return {}


# -- the tape ----------------------------------------------------------------------------------


def _push(to, target, args, made):
    """Done by `known_call`, which knows the call itself."""


def _read(to, target, args, made):
    to.reload(target)


def _push_array(to, target, args, made):
    to.add("do", value=x.call("keep", [to.node(args[-1])], effect=True))


def _pop_array(to, target, args, made):
    to.add("do", value=x.call("put_back", [to.node(args[-1])], effect=True))


def _put_back(to, target, args, made):
    array, kept = map(to.node, args)
    to.add("set", Node("index", (array, x.text("..."))), kept)


def _nothing(to, target, args, made):
    pass


# -- adjoints in arrays, lists, instances and records --------------------------------------------


def _accumulate(to, target, args, made):
    array, index, value = map(to.node, args)
    to.add("add", Node("index", (array, index)), value)


def _take(to, target, place):
    to.add("set", x.name(target), place)
    to.add("set", place, x.ZERO)


def _take_element(to, target, args, made):
    _take(to, target, Node("index", tuple(map(to.node, args))))


def _element(to, target, args, made):
    to.add("set", x.name(target), Node("index", tuple(map(to.node, args))))


def _field(to, args, made):
    return Node("attr", (to.node(args[0]), made["name"]))


def _accumulate_field(to, target, args, made):
    to.add("add", _field(to, args, made), to.node(args[1]))


def _take_field(to, target, args, made):
    _take(to, target, _field(to, args, made))


def _get_field(to, target, args, made):
    to.add("set", x.name(target), _field(to, args, made))


def _set_field(to, target, args, made):
    to.add("set", _field(to, args, made), to.node(args[1]))


def _set_member(to, target, args, made):
    zero = to.node(args[2]) == x.text("0.0")
    to.add(
        "set", Node("index", tuple(map(to.node, args[:2]))), x.ZERO if zero else to.node(args[2])
    )


def _add_whole(to, target, args, made):
    to.add("add", to.node(args[0]), to.node(args[1]), whole=True)


def _add_scaled(to, target, args, made):
    shadow, factor, other = map(to.node, args)
    to.add("add", shadow, x.binary("*", factor, other), whole=True)


def _zeros_like(to, target, args, made):
    to.add("set", x.name(target), x.call("zeros_like", [to.node(args[1])]))


def _on_stack(to, target, args, made):
    name = "np.zeros" if made["zeros"] else "np.empty"
    shape = made["shape"]
    what = str(shape[0]) if len(shape) == 1 else repr(shape)
    to.add("set", x.name(target), x.call(name, [x.text(what)]))


def _new_list(to, target, args, made):
    to.add("set", x.name(target), x.binary("*", Node("list", (x.ZERO,)), to.node(args[1])))


def _grow(to, target, args, made):
    to.add("do", value=x.call("grow", map(to.node, args[1:]), effect=True))


def _same(to, target, args, made):
    to.add("set", x.name(target), to.node(args[0]))


def _kept(to, target, args, made):
    to.add("set", x.name(target), x.call("copy", [to.node(args[1])]))


def _nth(to, target, args, made):
    value = Node("index", (to.node(args[0]), x.text(str(made["k"]))))
    to.add("set", x.name(target), value)


# -- formulas ------------------------------------------------------------------------------------


def _value(write):
    def known(to, target, args, made):
        to.add("set", x.name(target), write(*map(to.node, args)))

    return known


def _chosen(condition, value, other):
    return Node("choose", (condition, value, other))


def _length_of_range(start, stop, step):
    return x.call("len", [range_call(start, stop, step)])


def range_call(start, stop, step):
    """`range(...)` as one writes it."""
    if step != x.text("1"):
        return x.call("range", [start, stop, step])
    return x.call("range", [stop] if start == x.text("0") else [start, stop])


def _picked(i, k, value):
    return Node("choose", (x.binary("==", i, k), value, x.text("0")))


def _contribution(to, target, args, made):
    expressions, needed = made["expressions"], made["needed"]
    values = to.members(args[1])[: len(needed)]  # behind them: whether a use was reached
    bar, values = to.node(args[0]), dict(zip(needed, values, strict=True))
    products = [_product(bar, e, values) for e in expressions]
    if len(products) > 1:
        to.parts(target, products)
    else:
        to.add("set", x.name(target), products[0])


def _product(bar, expression, values):
    """`bar * partial`, in the order in which it is computed."""
    if isinstance(expression, Apply) and expression.fn is operator.truediv:
        numerator, denominator = (formula(e, values) for e in expression.args)
        over = x.binary("/", bar, denominator)
        return over if numerator == x.text("1") else x.binary("*", over, numerator)
    partial = formula(expression, values)
    if x.is_negative(partial):
        return x.unary("-", x.binary("*", bar, partial.parts[1]))
    return x.binary("*", bar, partial)


def formula(expression, values):
    """A rule's expression with formulas for the arguments and the answer."""
    if isinstance(expression, Arg):
        return values[expression.index]
    if isinstance(expression, Answer):
        return values["answer"]
    if isinstance(expression, Const):
        return x.text(repr(expression.value))
    return _applied(expression.fn, [formula(e, values) for e in expression.args])


def _applied(fn, args):
    if fn is chosen:
        return Node("choose", tuple(args))
    if len(args) == 2 and fn in x.SYMBOLS:
        return x.binary(x.SYMBOLS[fn], *args)
    if len(args) == 1 and fn in x.SIGNS:
        return x.unary(x.SIGNS[fn], args[0])
    return x.call(name_of(fn).removeprefix("builtins.").replace("numpy.", "np."), args)


_WRITERS = {
    value_tape.push_frame: _push,
    value_tape.read_frame: _read,
    array_state.push_array: _push_array,
    array_state.pop_array: _pop_array,
    frame_table.put: _push,
    frame_table.get: _read,
    frame_table.reserve: _nothing,
    frame_table.above: _nothing,
    frame_table.below: _nothing,
    value_tape.pop_frame: _nothing,
    value_tape.tape_start: _nothing,
    value_tape.top_offset: _nothing,
    value_tape.top_at: _nothing,
    arena.arena_mark: _nothing,
    arena.arena_rewind: _nothing,
    arena.vector_reserve: _grow,
    arena.vector_get: _element,
    arena.vector_set: _set_member,
    arena.borrow: _same,
    elements.accumulate: _accumulate,
    elements.element: _element,
    elements.primal_element: _element,
    elements.unsigned: _same,
    elements.take_element: _take_element,
    memory_helpers.add_into: _add_whole,
    memory_helpers.add_cotangent: _add_whole,
    memory_helpers.add_scaled: _add_scaled,
    memory_helpers.check_unread: _nothing,
    memory_helpers.range_length: _value(_length_of_range),
    memory_helpers.put_back: _put_back,
    memory_helpers.kept: _kept,
    arena.arena_copy: _kept,
    moves.picked: _value(_picked),
    moves.chosen: _value(_chosen),
    lists.count: _value(lambda items: x.call("len", [items])),
    sequences.length: _value(lambda items: x.call("len", [items])),
    sequences.item: _value(lambda items, i: Node("index", (items, i))),
    sequences.unravel: _value(lambda shape, i: x.call("np.unravel_index", [i, shape])),
    sequences.count_of_shape: _value(lambda array: Node("attr", (array, "size"))),
    structural_functions.real_of: _value(lambda z: Node("attr", (z, "real"))),
    structural_functions.minus_imag_of: _value(lambda z: x.unary("-", Node("attr", (z, "imag")))),
    structural_functions.conjugated: _value(lambda z: x.call("conj", [z])),
    structural_functions.times_minus_i: _value(lambda z: x.binary("*", x.text("-1j"), z)),
    "contribution.<locals>.contribute": _contribution,
    "arena_zeros_like.<locals>.zeros_like": _zeros_like,
    "blank.<locals>.make": _zeros_like,
    "within.<locals>.check": _nothing,
    "all_within.<locals>.check_all": _nothing,
    "in_layout.<locals>.retype": _same,
    "stack_array.<locals>.allocate": _on_stack,
    "accumulate_field.<locals>.accumulate": _accumulate_field,
    "accumulate_record.<locals>.accumulate": _accumulate_field,
    "take_field.<locals>.take": _take_field,
    "take_record.<locals>.take": _take_field,
    "struct_get.<locals>.get": _get_field,
    "struct_set.<locals>.put": _set_field,
    "nth_cotangent.<locals>.nth": _nth,
    "vector_new.<locals>.new": _new_list,
    **dict.fromkeys(_NUMBERS, _same),
}
