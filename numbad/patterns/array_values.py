"""Arrays of the interpretation: elements, views, assignments, and functions element by element."""

from functools import reduce

import numpy as np
from numba import typeof
from numba.core import types
from numba.np.numpy_support import from_dtype

from .numbers import apply_to
from .values import (
    NOTHING,
    UNSET,
    Array,
    Either,
    NoWayError,
    UnknownNumber,
    cast,
    is_known,
    join,
    new_array,
    parts,
)


class NotKnownError(Exception):
    """What the interpretation would have to know; refused where it is met."""


def from_python(value):
    """A constant of the program as a value of the interpretation."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return new_array(value.shape, value.ravel().tolist(), from_dtype(value.dtype))
    if isinstance(value, np.generic):
        return value.item()
    if type(value) is tuple:
        return tuple(map(from_python, value))
    return value


def the_array(value):
    """The one array that a value is."""
    if type(value) is Either:
        raise NotKnownError("an array that depends on a branch")
    if type(value) is not Array:
        raise NotKnownError("which is no array here")
    return value


def merged(value):
    """An array to be read from: of several that are possible, what holds for all of them."""
    if type(value) is not Either:
        return the_array(value)
    values = [reduce(join, each) for each in zip(*(a.values() for a in value.arrays), strict=True)]
    return new_array(value.arrays[0].shape, values, value.arrays[0].scalar)


# -- indices -----------------------------------------------------------------------------------


def _plain(index):
    """An index without what is not known: slices of ints, ints, arrays of ints or bools."""
    if type(index) is Array:
        values = index.values()
        if not all(map(is_known, values)):
            raise NotKnownError("an index that depends on a value")
        kind = bool if isinstance(index.scalar, types.Boolean) else np.intp
        return np.array(values, kind).reshape(index.shape)
    if type(index) is slice:
        if any(type(v) is UnknownNumber for v in (index.start, index.stop, index.step)):
            raise NotKnownError("a slice whose ends depend on a value")
        return index
    if index is None or index is Ellipsis or type(index) in (int, bool):
        return index
    raise NotKnownError("an index that depends on a branch")


def positions(array, index):
    """`(positions, sure)`: of the part that an index picks; all that it may pick where it is not sure."""
    try:
        return _positions(array, index)
    except IndexError:
        raise NoWayError from None


def _positions(array, index):
    if type(index) is tuple:
        unknown = [type(k) is UnknownNumber for k in index]
        if any(unknown):
            if len(index) < array.pos.ndim or not all(
                type(k) in (int, UnknownNumber) for k in index
            ):
                raise NotKnownError("a part of an array at an index that depends on a value")
            return array.pos[
                tuple(slice(None) if type(k) is UnknownNumber else k for k in index)
            ], False
        return array.pos[tuple(map(_plain, index))], True
    if type(index) is UnknownNumber:
        if array.pos.ndim > 1:
            raise NotKnownError("a row at an index that depends on a value")
        return array.pos, False
    return array.pos[_plain(index)], True


def _is_fancy(index):
    members = index if type(index) is tuple else (index,)
    return any(type(k) is Array for k in members)


def place(array, k):
    """The position of element `k` of a vector."""
    try:
        return array.line[k]
    except IndexError:
        raise NoWayError from None


# -- loads -------------------------------------------------------------------------------------


def getitem(target, source, index):
    """`target = source[index]`."""
    fixed, name = index
    fixed = from_python(fixed)

    def step(frame):
        env = frame.env
        base, k = env[source], fixed if name is None else env[name]
        if type(base) is Array and type(k) is int and base.line is not None:
            frame.assign(target, base.cells[place(base, k)])
        elif type(base) is Either:
            frame.assign(target, _either(base, lambda a: part(frame, step, a, k)))
        else:
            frame.assign(target, part(frame, step, the_array(base), k))

    return step


def _either(base, take):
    found = UNSET
    for array in base.arrays:
        found = join(found, take(array))
    return found


def part(frame, step, array, index):
    """An element, or a part: a view, but for arrays of numbers and masks."""
    pos, sure = positions(array, index)
    if not sure:
        return any_of(array.cells, pos)
    if not isinstance(pos, np.ndarray):
        return array.cells[pos]
    if _is_fancy(index):
        return frame.machine.made(step, array.view(pos).copy())
    return array.view(pos)


def any_of(cells, pos):
    """What is one of several cells."""
    found = UNSET
    for p in np.ravel(pos).tolist():
        found = join(found, cells[p])
    return NOTHING if found is UNSET else found


# -- stores ------------------------------------------------------------------------------------


def setitem(base, index, value):
    """`base[index] = value`."""
    fixed, name = index
    fixed = from_python(fixed)

    def step(frame):
        env = frame.env
        array, k, v = env[base], fixed if name is None else env[name], env[value]
        if type(array) is Array and type(k) is int and array.line is not None:
            v = cast(one_number(v), array.scalar)
            frame.machine.write(array.cells, place(array, k), v)
            return
        for each in parts(array):
            store(frame.machine, the_array(each), k, v, sure=type(array) is Array)

    return step


def one_number(value):
    """The number that is stored in an element."""
    if type(value) is Array and value.pos.ndim == 0:
        return value.values()[0]
    if type(value) is UnknownNumber or is_known(value):
        return value
    raise NotKnownError("a number that depends on a branch")


def store(machine, array, index, value, sure=True):
    """Assign to an element or a part; `sure` is False where it may be another array that is meant."""
    pos, exact = positions(array, index)
    pos = np.asarray(pos)
    if type(value) is Either:
        value = merged(value)
    if type(value) is Array and exact:
        given = value.values()
        order = np.broadcast_to(np.arange(len(given)).reshape(value.shape), pos.shape)
        values = [given[k] for k in order.ravel().tolist()]
    else:
        values = [one_number(value)] * pos.size
    write = machine.write if sure and exact else machine.write_maybe
    for p, v in zip(pos.ravel().tolist(), values, strict=True):
        write(array.cells, p, cast(v, array.scalar))


# -- element by element --------------------------------------------------------------------------


def elementwise(fn, target, function, names, out):
    """A function of numbers over arrays, broadcast; into the array `out` where one is named."""
    ty = fn.type_of(target)
    scalar = ty.dtype if isinstance(ty, types.Array) else ty
    if isinstance(scalar, types.Tuple | types.UniTuple):
        return None
    apply = apply_to(function, scalar)

    def step(frame):
        given = [frame.env[name] for name in names]
        if out is not None and _read_while_written(the_array(frame.env[out]), given):
            array = the_array(frame.env[out])
            _one_after_the_other(frame.machine, apply, given, array)
            frame.assign(target, array)
            return
        shape, values = over_elements(frame.machine, apply, given)
        if out is None:
            made = new_array(shape, values, scalar)
            made = frame.machine.made(step, made) if isinstance(ty, types.Array) else values[0]
            frame.assign(target, made)
            return
        array = the_array(frame.env[out])
        store(frame.machine, array, Ellipsis, new_array(shape, values, scalar))
        frame.assign(target, array)

    return step


def _read_while_written(array, given):
    """Whether elements of an array are read at other places than where they are written to."""
    read = [a for v in given for a in (v.arrays if type(v) is Either else (v,)) if type(a) is Array]
    return any(a.cells is array.cells and not a.same_as(array) for a in read)


def _one_after_the_other(machine, apply, given, array):
    """The elements in C order, each read after those before it are written, as Numba's loops do it."""
    sources = []
    for value in given:
        if type(value) is Either:
            raise NotKnownError("an array that depends on a branch")
        if type(value) is Array:
            order = np.broadcast_to(value.pos, array.shape).ravel().tolist()
            sources.append((value.cells, order))
        else:
            sources.append(([one_number(value)], [0] * array.pos.size))
    for k, p in enumerate(array.pos.ravel().tolist()):
        read = [cells[order[k]] for cells, order in sources]
        machine.write(array.cells, p, cast(apply(machine, *read), array.scalar))


def over_elements(machine, apply, given):
    """The shape and the values of a function `(machine, *args)` over broadcast arrays and numbers."""
    given = [merged(v) if isinstance(v, Array | Either) else v for v in given]
    shapes = [v.shape if type(v) is Array else () for v in given]
    shape = np.broadcast_shapes(*shapes)
    columns = []
    for value, own in zip(given, shapes, strict=True):
        elements = value.values() if type(value) is Array else [one_number(value)]
        order = np.broadcast_to(np.arange(len(elements)).reshape(own), shape)
        columns.append([elements[k] for k in order.ravel().tolist()])
    return shape, [apply(machine, *each) for each in zip(*columns, strict=True)]


# -- attributes ----------------------------------------------------------------------------------


def attribute(fn, target, source, name, ty):
    """`target = source.name`; None for an attribute that is not followed."""
    if isinstance(fn.type_of(target), types.BoundFunction):
        return lambda frame: frame.assign(target, None)
    if name == "real" and not isinstance(ty.dtype, types.Complex):
        return lambda frame: frame.assign(target, frame.env[source])
    take = _ATTRIBUTES.get(name)
    if take is None:
        return None

    def step(frame):
        value = frame.env[source]
        if type(value) is Either:
            frame.assign(target, _either(value, take))
        else:
            frame.assign(target, take(the_array(value)))

    return step


_ATTRIBUTES = {
    "shape": lambda a: a.shape,
    "size": lambda a: a.pos.size,
    "ndim": lambda a: a.pos.ndim,
    "T": lambda a: a.view(a.pos.T),
    "dtype": lambda a: types.DType(a.scalar),
}


def scalar_type(dtype, fallback):
    """The Numba type of the elements that a `dtype` argument asks for."""
    if dtype is None:
        return fallback
    if isinstance(dtype, types.DType):
        return dtype.dtype
    if isinstance(dtype, type | np.dtype | str):
        return from_dtype(np.dtype(dtype))
    found = typeof(dtype)
    return getattr(found, "dtype", fallback)
