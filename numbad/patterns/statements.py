"""What each kind of statement does to sets: a step, called with the frame that it runs in."""

import operator

import numpy as np
from numba.core import ir, types

from ..errors import UnsupportedError
from ..ir.callee import callee_of
from ..ir.function import unary_function
from ..ir.spelling import spell
from ..reverse.ops.scalar_function import INPLACE, is_scalar
from . import array_values, named_functions
from .callees import call_step
from .machine import told
from .numbers import apply_to
from .values import NOTHING, UNSET, Array, Conflict, NoWayError, Range, UnknownNumber, cast, join


def compiled(fn, s):
    """The step of a statement; None for what does nothing."""
    if isinstance(s, ir.Assign):
        return _assign(fn, s)
    if isinstance(s, ir.SetItem | ir.StaticSetItem):
        return _set_item(fn, s)
    if isinstance(s, ir.Print | ir.Del):
        return None
    return refusing(fn, s)


def refusing(fn, s):
    """The step of a statement that cannot be followed: it refuses, where it is run."""
    message = told(spell(fn, s), s.loc)

    def step(frame):
        raise UnsupportedError(message)

    return step


_REFUSED = TypeError, ValueError, AttributeError, LookupError, array_values.NotKnownError


def guarded(fn, s, do):
    """The step that does something, where what goes wrong within becomes a refusal."""

    def step(frame):
        try:
            do(frame)
        except _REFUSED as error:
            why = f", {error}" if isinstance(error, array_values.NotKnownError) else ""
            raise UnsupportedError(told(spell(fn, s) + why, s.loc)) from error

    return step


def _assign(fn, s):
    value, target = s.value, s.target.name
    if isinstance(value, ir.Var):
        return _copy(value.name, target)
    if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
        return _constant(value.value, target)
    build = _EXPRESSIONS.get(getattr(value, "op", None))
    found = build(fn, s, value, target) if build else None
    return refusing(fn, s) if found is None else guarded(fn, s, found)


def _copy(source, target):
    def step(frame):
        frame.assign(target, frame.env[source])

    return step


def _constant(value, target):
    value = array_values.from_python(value)

    def step(frame):
        frame.assign(target, value)

    return step


# -- numbers and tuples -------------------------------------------------------------------------


def _cast(fn, s, value, target):
    source, ty = value.value.name, fn.type_of(target)
    number = is_scalar(ty) and not isinstance(ty, types.Optional)

    def step(frame):
        given = frame.env[source]
        plain = type(given) is UnknownNumber or isinstance(given, int | float | complex)
        frame.assign(target, cast(given, ty) if number and plain else given)

    return step


def _binary(fn, s, value, target):
    inplace = value.op == "inplace_binop"
    function = INPLACE.get(value.fn, value.immutable_fn) if inplace else value.fn
    left, right = value.lhs.name, value.rhs.name
    tys = fn.type_of(left), fn.type_of(right)
    if any(isinstance(ty, types.Array) for ty in tys):
        if function is operator.matmul:
            return named_functions.product(fn, target, [left, right])
        out = left if inplace and isinstance(tys[0], types.Array) else None
        return array_values.elementwise(fn, target, function, [left, right], out)
    if all(map(is_scalar, tys)):
        apply = apply_to(function, types.unliteral(fn.type_of(target)))

        def step(frame):
            env = frame.env
            frame.assign(target, apply(frame.machine, env[left], env[right]))

        return step
    return _of_constants(target, function, [left, right])


def _of_constants(target, function, names):
    """An operator on tuples, strings and the like: what Python makes of it, where there is no number."""

    def step(frame):
        given = [frame.env[name] for name in names]
        if function is operator.add and all(type(v) is tuple for v in given):
            frame.assign(target, given[0] + given[1])
            return
        if any(isinstance(v, Array | UnknownNumber) or _holds_numbers(v) for v in given):
            raise array_values.NotKnownError("on what is not known")
        frame.assign(target, function(*given))

    return step


def _holds_numbers(value):
    return type(value) is tuple and any(
        isinstance(v, Array | UnknownNumber) or _holds_numbers(v) for v in value
    )


def _unary(fn, s, value, target):
    function, source = unary_function(value), value.value.name
    if isinstance(fn.type_of(source), types.Array):
        return array_values.elementwise(fn, target, function, [source], None)
    if not is_scalar(fn.type_of(source)):
        return _of_constants(target, function, [source])
    apply = apply_to(function, types.unliteral(fn.type_of(target)))

    def step(frame):
        frame.assign(target, apply(frame.machine, frame.env[source]))

    return step


def _build_tuple(fn, s, value, target):
    names = [v.name for v in value.items]

    def step(frame):
        frame.assign(target, tuple(frame.env[name] for name in names))

    return step


def _build_list(fn, s, value, target):
    """A list, which the call that makes an array of it does not look at; nothing else takes it."""
    return lambda frame: frame.assign(target, Conflict("list"))


def _exhaust(fn, s, value, target):
    return _copy(value.value.name, target)


# -- loops over a range --------------------------------------------------------------------------


def _getiter(fn, s, value, target):
    source = value.value.name

    def step(frame):
        given = frame.env[source]
        if type(given) is not Range:
            raise array_values.NotKnownError("which is no range")
        if frame.weak:
            frame.assign(target, named_functions.ENDLESS)
        else:
            frame.assign(target, (named_functions.ITERATOR, [given.start], given))

    return step


def _iternext(fn, s, value, target):
    source = value.value.name

    def step(frame):
        given = frame.env[source]
        if given is named_functions.ENDLESS or frame.weak:
            frame.assign(target, (NOTHING, NOTHING))
            return
        _, cells, over = given
        k = cells[0]
        if not over.known or type(k) is UnknownNumber:
            frame.assign(target, (NOTHING, NOTHING))
            return
        more = k < over.stop if over.step > 0 else k > over.stop
        if more:
            frame.machine.set(cells, 0, k + over.step)
        frame.assign(target, (k, more))

    return step


def _pair(place):
    def build(fn, s, value, target):
        source = value.value.name

        def step(frame):
            frame.assign(target, frame.env[source][place])

        return step

    return build


# -- parts --------------------------------------------------------------------------------------


def _getattr(fn, s, value, target):
    source, name, ty = value.value.name, value.attr, fn.type_of(value.value)
    if isinstance(ty, types.Array):
        return array_values.attribute(fn, target, source, name, ty)
    if isinstance(ty, types.BaseNamedTuple):
        return _item(source, ty.fields.index(name), target)
    if is_scalar(ty) and name in ("real", "imag"):
        part = np.real if name == "real" else np.imag
        apply = apply_to(part, fn.type_of(target))
        return lambda frame: frame.assign(target, apply(frame.machine, frame.env[source]))
    known = fn.constant(s.target)
    if known is not None or isinstance(ty, types.Module):
        return _constant(known, target)
    return _bound(target) if isinstance(fn.type_of(target), types.BoundFunction) else None


def _bound(target):
    """A method, which the call finds by itself."""
    return lambda frame: frame.assign(target, None)


def _item(source, k, target):
    return lambda frame: frame.assign(target, frame.env[source][k])


def _getitem(fn, s, value, target):
    source, ty = value.value.name, fn.type_of(value.value)
    if isinstance(ty, types.Array):
        if isinstance(fn.type_of(target), types.Record | types.NestedArray):
            return None
        return array_values.getitem(target, source, _index(value))
    if isinstance(ty, types.BaseTuple):
        return _tuple_item(target, source, _index(value))
    return None


def _tuple_item(target, source, index):
    fixed, name = index

    def step(frame):
        members, k = frame.env[source], fixed if name is None else frame.env[name]
        if type(k) is UnknownNumber:
            found = UNSET
            for member in members:
                found = join(found, member)
            frame.assign(target, found)
        elif type(k) is int and not -len(members) <= k < len(members):
            raise NoWayError
        else:
            frame.assign(target, members[k])

    return step


def _index(access):
    """`(index, None)` for one that is written in the code, `(None, name)` for a variable."""
    if isinstance(access, ir.StaticSetItem) or getattr(access, "op", "") == "static_getitem":
        return access.index, None
    return None, access.index.name


def _set_item(fn, s):
    base = fn.type_of(s.target)
    if not isinstance(base, types.Array) or isinstance(base.dtype, types.Record):
        return refusing(fn, s)
    return guarded(fn, s, array_values.setitem(s.target.name, _index(s), s.value.name))


# -- calls --------------------------------------------------------------------------------------


def _call(fn, s, value, target):
    if isinstance(fn.type_of(value.func), types.ExceptionClass):
        return _constant(None, target)
    if value.vararg is not None and callee_of(fn, value).kind != "dispatcher":
        return None
    found = named_functions.step_of(fn, s, value, target)
    return found or call_step(fn, s, value, compiled)


_EXPRESSIONS = {
    "call": _call,
    "cast": _cast,
    "binop": _binary,
    "inplace_binop": _binary,
    "unary": _unary,
    "build_list": _build_list,
    "build_tuple": _build_tuple,
    "exhaust_iter": _exhaust,
    "getiter": _getiter,
    "iternext": _iternext,
    "pair_first": _pair(0),
    "pair_second": _pair(1),
    "getattr": _getattr,
    "getitem": _getitem,
    "typed_getitem": _getitem,
    "static_getitem": _getitem,
}
