"""Functions and methods that are treated by name: arrays made, seen in another shape, multiplied."""

import numpy as np
from numba.core import types

from ..ir.callee import callee_of
from ..reverse.ops.scalar_function import is_scalar
from ..rules.registry import CONSTANT, SCALAR, STOPPING, STRUCTURAL
from . import sets
from .array_values import (
    NotKnownError,
    elementwise,
    merged,
    one_number,
    over_elements,
    store,
    the_array,
)
from .numbers import apply_to, computes
from .values import (
    NOTHING,
    Array,
    Either,
    Range,
    UnknownNumber,
    cast,
    deps_of,
    is_known,
    join,
    new_array,
    unknown_of,
)

ITERATOR = object()
ENDLESS = object()
"""An iterator over a range in a loop whose end is not known: its numbers are not known."""


def step_of(fn, s, call, target):
    """The step of a call that is treated by name, or None."""
    callee = callee_of(fn, call)
    names = [v.name for v in call.args]
    named = {key: v.name for key, v in call.kws}
    if callee.kind == "method":
        return _method(fn, callee, names, named, target)
    if callee.kind == "class" and not named and isinstance(callee.key, type):
        return lambda frame: frame.assign(target, tuple(frame.env[n] for n in names))
    if callee.kind != "function":
        return None
    return _function(fn, callee.key, names, named, target)


def _function(fn, key, names, named, target):
    tys = [types.unliteral(fn.type_of(n)) for n in (*names, *named.values())]
    ty = types.unliteral(fn.type_of(target))
    if _in(key, STOPPING):
        return lambda frame: frame.assign(target, stopped(frame.env[names[0]]))
    if key is np.where and len(names) == 3:
        return _where(fn, names, target, ty)
    known = any(_in(key, rules) for rules in (SCALAR, CONSTANT, STRUCTURAL)) or computes(key)
    if known and not named and tys and all(map(is_scalar, tys)):
        apply = apply_to(key, ty)

        def step(frame):
            frame.assign(target, apply(frame.machine, *(frame.env[n] for n in names)))

        return step
    if isinstance(key, np.ufunc) and not named and isinstance(ty, types.Array):
        if key is np.matmul:
            return product(fn, target, names)
        out = names[key.nin] if len(names) > key.nin else None
        return elementwise(fn, target, key, names[: key.nin], out)
    build = _FUNCTIONS.get(key) if _hashable(key) else None
    return build(fn, names, named, target, ty) if build else None


def _hashable(key):
    try:
        hash(key)
    except TypeError:
        return False
    return True


def _in(key, rules):
    return _hashable(key) and key in rules


def stopped(value):
    """A value whose derivatives are dropped."""
    if type(value) is UnknownNumber:
        return NOTHING
    if type(value) is tuple:
        return tuple(map(stopped, value))
    if type(value) is Array:
        return new_array(value.shape, [stopped(v) for v in value.values()], value.scalar)
    return value


def _where(fn, names, target, ty):
    def choose(machine, condition, a, b):
        scalar = ty.dtype if isinstance(ty, types.Array) else ty
        if is_known(condition):
            return cast(a if condition else b, scalar)
        return cast(join(a, b), scalar)

    def step(frame):
        given = [frame.env[n] for n in names]
        if not isinstance(ty, types.Array):
            frame.assign(target, choose(frame.machine, *map(one_number, given)))
            return
        shape, values = over_elements(frame.machine, choose, given)
        frame.assign(target, frame.machine.made(step, new_array(shape, values, ty.dtype)))

    return step


def _clip(fn, names, named, target, ty):
    """Each element is that of the array, or a limit; None is no limit."""
    if named or len(names) != 3 or not isinstance(ty, types.Array):
        return None
    names = [n for n in names if not isinstance(fn.type_of(n), types.NoneType)]

    def choose(machine, element, *limits):
        for limit in limits:
            element = join(element, limit)
        return cast(element, ty.dtype)

    def step(frame):
        shape, values = over_elements(frame.machine, choose, [frame.env[n] for n in names])
        frame.assign(target, frame.machine.made(step, new_array(shape, values, ty.dtype)))

    return step


# -- ranges and lengths --------------------------------------------------------------------------


def _range(fn, names, named, target, ty):
    def step(frame):
        given = [frame.env[n] for n in names]
        made = Range(0, *given) if len(given) == 1 else Range(*given)
        frame.assign(target, made)

    return step


def _len(fn, names, named, target, ty):
    def step(frame):
        value = frame.env[names[0]]
        if type(value) is Either:
            value = value.arrays[0]
        if type(value) is Range:
            size = len(range(value.start, value.stop, value.step)) if value.known else NOTHING
        else:
            size = value.shape[0] if type(value) is Array else len(value)
        frame.assign(target, size)

    return step


def _slice(fn, names, named, target, ty):
    return lambda frame: frame.assign(target, slice(*(frame.env[n] for n in names)))


# -- new arrays --------------------------------------------------------------------------------


def shape_of(value):
    """A shape as a tuple of ints."""
    shape = value if type(value) is tuple else (value,)
    if not all(type(k) is int for k in shape):
        raise NotKnownError("an array whose size depends on a value")
    return shape


def _filled(fill, like=False):
    """Makes an array of one number; `fill` is None where it is the second argument."""

    def build(fn, names, named, target, ty):
        if not isinstance(ty, types.Array) or not is_scalar(ty.dtype):
            return None
        first = names[0] if names else next(iter(named.values()))
        second = None if fill is not None else (names[1:2] or [named.get("fill_value")])[0]

        def step(frame):
            given = frame.env[first]
            shape = merged(given).shape if like else shape_of(given)
            value = cast(frame.env[second] if fill is None else fill, ty.dtype)
            made = new_array(shape, [value] * int(np.prod(shape)), ty.dtype)
            frame.assign(target, frame.machine.made(step, made))

        return step

    return build


def _known_array(function):
    """Makes an array of known numbers."""

    def build(fn, names, named, target, ty):
        if not isinstance(ty, types.Array):
            return None
        kept = [n for n in names if is_scalar(fn.type_of(n))]

        def step(frame):
            given = [frame.env[n] for n in kept]
            if not all(map(is_known, given)):
                if function is not np.linspace or not is_known(given[-1]):
                    raise NotKnownError("an array whose size depends on a value")
                values = [UnknownNumber(deps_of(tuple(given)))] * (
                    given[2] if len(given) > 2 else 50
                )
            else:
                values = [cast(v, ty.dtype) for v in function(*given).ravel().tolist()]
            shape = (len(values),) if ty.ndim == 1 else function(*given).shape
            frame.assign(target, frame.machine.made(step, new_array(shape, values, ty.dtype)))

        return step

    return build


def _copied(fn, names, named, target, ty):
    if not isinstance(fn.type_of(names[0]), types.Array) or not isinstance(ty, types.Array):
        return None

    def step(frame):
        made = merged(frame.env[names[0]]).copy(ty.dtype)
        frame.assign(target, frame.machine.made(step, made))

    return step


# -- the same elements in another shape -----------------------------------------------------------


def _view(reshape, contiguous=True):
    """A view, by what it does to positions; of a contiguous array alone, where others are copied."""

    def build(fn, names, named, target, ty):
        source = fn.type_of(names[0])
        if named or not isinstance(source, types.Array) or not isinstance(ty, types.Array):
            return None
        if contiguous and source.layout != "C":
            return None

        def step(frame):
            array = the_array(frame.env[names[0]])
            given = [frame.env[n] for n in names[1:]]
            frame.assign(target, array.view(reshape(array.pos, *given)))

        return step

    return build


def _reshaped(pos, *shape):
    shape = shape[0] if len(shape) == 1 and type(shape[0]) is tuple else shape
    return pos.reshape(shape_of(tuple(shape)))


def _transposed(pos, axes=None):
    return pos.transpose(axes)


def _flattened(fn, names, named, target, ty):
    def step(frame):
        made = merged(frame.env[names[0]]).copy()
        made = new_array((made.pos.size,), made.cells, made.scalar)
        frame.assign(target, frame.machine.made(step, made))

    return step


def _fill(fn, names, named, target, ty):
    def step(frame):
        array = the_array(frame.env[names[0]])
        store(frame.machine, array, Ellipsis, frame.env[names[1]])
        frame.assign(target, None)

    return step


# -- linear algebra ----------------------------------------------------------------------------


def product(fn, target, names):
    """`a @ b`: an element depends on all of a row and all of a column."""
    ty = fn.type_of(target)
    if len(names) != 2 or not all(isinstance(fn.type_of(n), types.Array) for n in names):
        return None

    def step(frame):
        a, b = (merged(frame.env[n]) for n in names)
        if frame.machine.interactions is not None:
            _multiplied(frame.machine.interactions, a, b)
        rows = [deps_of(a.view(pos)) for pos in np.atleast_2d(a.pos)]
        columns = [deps_of(b.view(pos)) for pos in np.atleast_2d(b.pos.T)]
        values = [UnknownNumber(sets.union(r, c)) for r in rows for c in columns]
        if not isinstance(ty, types.Array):
            frame.assign(target, values[0])
            return
        shape = a.shape[:-1] + b.shape[1:]
        frame.assign(target, frame.machine.made(step, new_array(shape, values, ty.dtype)))

    return step


def _multiplied(interactions, a, b):
    """What a product of matrices brings together: numbers that are multiplied, term by term."""
    for row in np.atleast_2d(a.pos):
        for column in np.atleast_2d(b.pos.T):
            for p, q in zip(row.tolist(), column.tolist(), strict=True):
                interactions.add(deps_of(a.cells[p]), deps_of(b.cells[q]))


def _dot(fn, names, named, target, ty):
    return None if named else product(fn, target, names)


def _dense(shape):
    """A function of linear algebra each of whose numbers depends on all that goes in."""

    def build(fn, names, named, target, ty):
        scalar = ty.dtype if isinstance(ty, types.Array) else ty
        if named or unknown_of(scalar, sets.EMPTY) is None:
            return None

        def step(frame):
            given = [frame.env[n] for n in names]
            deps = sets.union_all(map(deps_of, given))
            if frame.machine.interactions is not None:
                frame.machine.interactions.add(deps, deps)
            value = unknown_of(scalar, deps)
            if isinstance(ty, types.Array):
                found = shape(*(merged(v).shape for v in given))
                value = new_array(found, [value] * int(np.prod(found)), scalar)
                value = frame.machine.made(step, value)
            frame.assign(target, value)

        return step

    return build


def _method(fn, callee, names, named, target):
    owner = fn.type_of(callee.owner)
    build = _METHODS.get(callee.key)
    if build is None or not isinstance(owner, types.Array):
        return None
    ty = types.unliteral(fn.type_of(target))
    return build(fn, [callee.owner.name, *names], named, target, ty)


_READING = (
    np.argmax,
    np.argmin,
    np.any,
    np.all,
    np.count_nonzero,
    np.searchsorted,
    np.size,
    np.ndim,
)


def _constant_number(fn, names, named, target, ty):
    if unknown_of(ty, sets.EMPTY) is not NOTHING:
        return None
    return lambda frame: frame.assign(target, NOTHING)


_FUNCTIONS = {
    **dict.fromkeys(_READING, _constant_number),
    range: _range,
    len: _len,
    slice: _slice,
    np.zeros: _filled(0),
    np.empty: _filled(NOTHING),
    np.ones: _filled(1),
    np.full: _filled(None),
    np.zeros_like: _filled(0, like=True),
    np.empty_like: _filled(NOTHING, like=True),
    np.ones_like: _filled(1, like=True),
    np.full_like: _filled(None, like=True),
    np.arange: _known_array(np.arange),
    np.linspace: _known_array(np.linspace),
    np.eye: _known_array(np.eye),
    np.identity: _known_array(np.identity),
    np.copy: _copied,
    np.ravel: _view(np.ravel),
    np.reshape: _view(_reshaped),
    np.transpose: _view(_transposed, contiguous=False),
    np.asarray: _view(lambda pos: pos),
    np.ascontiguousarray: _view(lambda pos: pos),
    np.clip: _clip,
    np.sort: _dense(lambda a: a),
    np.dot: _dot,
    np.vdot: _dot,
    np.linalg.solve: _dense(lambda a, b: b),
    np.linalg.inv: _dense(lambda a: a),
    np.linalg.cholesky: _dense(lambda a: a),
    np.linalg.det: _dense(None),
    np.linalg.norm: _dense(None),
}

_METHODS = {
    "copy": _copied,
    "astype": lambda fn, names, named, target, ty: _copied(fn, names[:1], {}, target, ty),
    "ravel": _view(np.ravel),
    "reshape": _view(_reshaped),
    "transpose": _view(_transposed, contiguous=False),
    "flatten": _flattened,
    "fill": _fill,
    "clip": _clip,
    "dot": _dot,
    "argmax": _constant_number,
    "argmin": _constant_number,
    "any": _constant_number,
    "all": _constant_number,
}
