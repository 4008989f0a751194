"""Whole-array statements as scalar loops: jitted helpers whose code the adjoint enters.

Written out for the number of axes; an axis of length one is repeated, as NumPy broadcasts.
"""

from functools import cache

import numpy as np
from numba.core import types

from ..ir.array_indices import is_basic_index
from ..rules.arrays import broadcasting
from ..rules.arrays.nests import jit, nest, number_class, subscript


def _jit(lines, namespace):
    return jit(lines, **namespace)


@cache
def array_of_number(dtype):
    """`np.array(x)`, without axes."""
    lines = ["def array(x):", "    out = np.empty((), dtype)", "    out[()] = x"]
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})


@cache
def where_of_numbers(dtype):
    """`np.where(condition, x, y)` of numbers, without axes."""
    lines = ["def where(condition, x, y):", "    out = np.empty((), dtype)"]
    lines += ["    out[()] = x if condition else y", "    return out"]
    return _jit(lines, {"dtype": number_class(dtype)})


@cache
def vector_of(n, dtype):
    """`np.array([x0, x1, ...])`."""
    names = [f"x{k}" for k in range(n)]
    lines = [f"def vector({', '.join(names)}):", f"    out = np.empty({n}, dtype)"]
    lines += [f"    out[{k}] = x{k}" for k in range(n)]
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})


@cache
def matrix_of(rows, columns, dtype):
    """`np.array([[x0, x1], [x2, x3]])`."""
    names = [f"x{k}" for k in range(rows * columns)]
    lines = [f"def matrix({', '.join(names)}):", f"    out = np.empty(({rows}, {columns}), dtype)"]
    lines += [f"    out[{k // columns}, {k % columns}] = x{k}" for k in range(rows * columns)]
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})


def depth_of_lists(ty):
    """How many axes an array of a list has: of numbers, of lists or tuples of them; None for other lists."""
    if isinstance(ty, types.Number | types.Boolean):
        return 0
    if not isinstance(ty, types.List | types.ListType | types.UniTuple | types.NamedUniTuple):
        return None
    inner = depth_of_lists(ty.dtype)
    return None if inner is None else inner + 1


@cache
def array_of_list(depth, dtype):
    """`np.array(l)` of a list of numbers, of lists of numbers, and so on, `depth` of them."""
    lines = ["def array(l):", "    n0 = len(l)"]
    firsts = ["l" + "[0]" * k for k in range(depth)]
    lines += [
        f"    n{k} = len({firsts[k]}) if {' and '.join(f'n{j} > 0' for j in range(k))} else 0"
        for k in range(1, depth)
    ]
    shape = ", ".join(f"n{k}" for k in range(depth))
    lines += [f"    out = np.empty(({shape},), dtype)"]
    items = ["l" + "".join(f"[i{j}]" for j in range(k)) for k in range(depth + 1)]
    for k in range(depth):
        if k:
            lines += [f"{'    ' * (k + 1)}if len({items[k]}) != n{k}:"]
            lines += [f"{'    ' * (k + 2)}raise ValueError('incompatible sequence shape')"]
        lines += [f"{'    ' * (k + 1)}for i{k} in range(n{k}):"]
    index = ", ".join(f"i{k}" for k in range(depth))
    lines += [f"{'    ' * (depth + 1)}out[{index}] = {items[depth]}", "    return out"]
    return _jit(lines, {"dtype": number_class(dtype)})


def _nested_lengths(ty):
    """The shape of a tuple of numbers, or of tuples of one shape; None for other tuples."""
    members = [types.unliteral(t) for t in ty]
    if members and all(isinstance(t, types.Number | types.Boolean) for t in members):
        return (len(members),)
    if not members or not all(isinstance(t, types.BaseTuple) for t in members):
        return None
    inner = {_nested_lengths(t) for t in members}
    first = inner.pop()
    return None if inner or first is None else (len(members), *first)


@cache
def array_of_tuple(ty, dtype):
    """`np.array(t)` of a tuple of numbers, or of such tuples; None for other tuples."""
    shape = _nested_lengths(ty)
    if shape is None:
        return None
    lines = ["def array(t):", f"    out = np.empty({shape}, dtype)"]
    for index in np.ndindex(shape):
        member = "".join(f"[{k}]" for k in index)
        lines.append(f"    out[{', '.join(map(str, index))}] = t{member}")
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})


@cache
def taken(ndim, index_ndim, dtype):
    """`np.take(a, numbers)`: elements by their numbers in C order."""
    flat = "a" if ndim == 1 else "a.ravel()"
    index = subscript(index_ndim, index_ndim)
    counts = [f"numbers.shape[{k}]" for k in range(index_ndim)]
    lines = ["def take(a, numbers):", f"    flat, out = {flat}, np.empty(numbers.shape, dtype)"]
    body = [f"n = numbers{index}", "if n >= a.size or n < -a.size:"]
    body += ["    raise IndexError('Index out of bounds')", f"out{index} = flat[n]"]
    lines += nest(counts, body)
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})


@cache
def taken_along(ndim, axis, dtype):
    """`np.take(a, numbers, axis)` for an array of numbers of one axis."""
    counts = ["numbers.shape[0]" if k == axis else f"a.shape[{k}]" for k in range(ndim)]
    source = ", ".join(f"numbers[i{k}]" if k == axis else f"i{k}" for k in range(ndim))
    lines = ["def take(a, numbers):", f"    out = np.empty(({', '.join(counts)},), dtype)"]
    lines += nest(counts, [f"out{subscript(ndim, ndim)} = a[{source}]"])
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})


@cache
def copy_of(ndim, dtype, layout="C"):
    """A copy in C order, or in Fortran's where the layout is "F"."""
    index, turn = subscript(ndim, ndim), layout == "F" and ndim > 1
    axes = reversed(range(ndim)) if turn else range(ndim)
    shape = ", ".join(f"a.shape[{k}]" for k in axes)
    made = f"np.empty(({shape}{',' if ndim else ''}), dtype){'.T' if turn else ''}"
    lines = ["def copy(a):", f"    out = {made}"]
    lines += nest([f"a.shape[{k}]" for k in range(ndim)], [f"out{index} = a{index}"])
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})


@cache
def flat_copy_of(ndim, dtype):
    """A copy as one axis, in C order."""
    flat = "0"
    for k in range(ndim):
        flat = f"({flat}) * a.shape[{k}] + i{k}"
    lines = ["def flatten(a):", "    out = np.empty(a.size, dtype)"]
    body = [f"out[{flat}] = a{subscript(ndim, ndim)}"]
    lines += nest([f"a.shape[{k}]" for k in range(ndim)], body)
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})


@cache
def assignment(out_ndim, ndim, overlapping):
    """`out[...] = a`, element by element; `a` is a scalar where `ndim` is 0."""
    lines = ["def assign(out, a):"]
    if ndim > out_ndim:
        return _assignment_of_one(out_ndim, ndim, overlapping)
    source, counts = "a", [f"out.shape[{k}]" for k in range(out_ndim)]
    if ndim:
        lines += broadcasting.steps("a", ndim, counts, of="assigned_step")
        source = f"a{subscript(ndim, out_ndim, 'as')}"
    if overlapping and ndim:
        lines.insert(1, "    a = duplicate(a)")
    lines += nest(counts, [f"out{subscript(out_ndim, out_ndim)} = {source}"])
    namespace = {"duplicate": np.copy}
    return _jit(lines, namespace)


def _assignment_of_one(out_ndim, ndim, overlapping):
    """The same where `a` has more axes than `out`: those in front have length one."""
    lines = ["def assign(out, a):"]
    for k in range(ndim - out_ndim):
        lines += [
            f"    if a.shape[{k}] != 1:",
            "        raise ValueError('cannot assign slice from input of different size')",
        ]
    lines.append(f"    fill(out, a[{', '.join('0' * (ndim - out_ndim))}])")
    return _jit(lines, {"fill": assignment(out_ndim, out_ndim, overlapping)})


def _is_index_array(ty):
    return (
        isinstance(ty, types.Array)
        and ty.ndim == 1
        and isinstance(ty.dtype, types.Integer | types.Boolean)
    )


def indexed_assignment(base, index, ndim, overlapping):
    """`a[index] = v` for slices, or for one array of numbers or a mask; None for other indices.

    overlapping: whether `v` may share memory with `a`
    """
    if is_basic_index(index):
        return _slice_assignment(_view_ndim(base, index), ndim, overlapping)
    if _is_index_array(index):
        kind = "mask" if isinstance(index.dtype, types.Boolean) else "numbers"
        return _scatter(base.ndim, ndim, kind, overlapping and ndim > 0)
    if isinstance(index, types.Array) and isinstance(index.dtype, types.Boolean):
        return _full_mask_assignment(base.ndim) if index.ndim == base.ndim and ndim == 0 else None
    if isinstance(index, types.BaseTuple):
        way = _along(base, index.types)
        return way and _scatter_axis(_view_ndim(base, index), ndim, base.dtype, *way)
    return None


def _view_ndim(base, index):
    members = index.types if isinstance(index, types.BaseTuple) else (index,)
    lost = sum(isinstance(types.unliteral(t), types.Integer) for t in members)
    new = sum(isinstance(t, types.NoneType) for t in members)
    return base.ndim - lost + new


@cache
def _slice_assignment(out_ndim, ndim, overlapping):
    inner = assignment(out_ndim, ndim, overlapping)
    return _jit(["def assign(a, index, v):", "    fill(a[index], v)"], {"fill": inner})


@cache
def _scatter(base_ndim, ndim, kind, overlapping):
    """Along the first axis: to the rows with these numbers, or those that a mask chooses."""
    rest = base_ndim - 1
    value_rest = max(ndim - 1, 0) if ndim == base_ndim else ndim
    per_row = ndim == base_ndim and ndim > 0
    value = "v[n]" if per_row else "v"
    if rest == 0:
        store = f"a[where] = {value}"
    else:
        store = f"fill(a[where], {value})"
    lines = ["def assign(a, index, v):", "    n = 0", "    for k in range(index.shape[0]):"]
    if overlapping:
        lines.insert(1, "    v = duplicate(v)")
    if kind == "mask":
        lines += ["        if index[k]:", "            where = k", f"            {store}"]
        lines += ["            n += 1"]
    else:
        lines += ["        where = index[k]", f"        {store}", "        n += 1"]
    namespace = {"fill": assignment(rest, value_rest, False)} if rest else {}
    return _jit(lines, {**namespace, "duplicate": np.copy})


@cache
def _full_mask_assignment(ndim):
    index = subscript(ndim, ndim)
    lines = ["def assign(a, index, v):"]
    counts = [f"a.shape[{k}]" for k in range(ndim)]
    lines += nest(counts, [f"if index{index}:", f"    a{index} = v"])
    return _jit(lines, {})


def gathering(base, index):
    """`a[index]` for one array of numbers or a mask along the first axis; None otherwise."""
    if _is_index_array(index):
        kind = "mask" if isinstance(index.dtype, types.Boolean) else "numbers"
        return _gather(base.ndim, base.dtype, kind)
    if isinstance(index, types.Array) and isinstance(index.dtype, types.Boolean):
        return _gather_masked(base.ndim, base.dtype) if index.ndim == base.ndim else None
    if isinstance(index, types.BaseTuple):
        way = _along(base, index.types)
        return way and _gather_axis(_view_ndim(base, index), base.dtype, *way)
    return None


def _along(base, index):
    """`(parts, where, axis, front, mask)` of `a[1:, numbers]`: one array of numbers or a mask beside
    slices and ints.

    parts: the source of the index of the part that the others leave; where: the member of the index, along
        which axis of the part, whether its axis is the first of the result, as NumPy has it where an int
        stands apart, and whether it is a mask. None for other indices.
    """
    chosen = [k for k, ty in enumerate(index) if _is_index_array(ty)]
    ints = [k for k, ty in enumerate(index) if isinstance(ty, types.Integer)]
    gaps = [k for k, ty in enumerate(index) if isinstance(ty, types.EllipsisType)]
    slices = sum(isinstance(ty, types.SliceType) for ty in index)
    given = len(ints) + slices + 1
    if len(chosen) != 1 or len(gaps) > 1 or given + len(gaps) != len(index) or given > base.ndim:
        return None
    where = chosen[0]
    mask = isinstance(index[where].dtype, types.Boolean)
    front = max([*ints, where]) - min([*ints, where]) > len(ints)
    if front and mask:  # where Numba's axis is not NumPy's
        return None
    parts = [f"index[{k}]" if k != where else ":" for k in range(len(index))]
    axis = where - sum(k < where for k in ints)
    if gaps:
        axis += base.ndim - len(index) if gaps[0] < where else 0
        parts[gaps[0]] = "..."
    return ", ".join(parts), where, axis, front, mask


def _part_and_where(ndim, parts, where, axis, front, mask):
    """Lines that find the sliced part and the numbers along the axis, the counts, and an element."""
    where = f"index[{where}]"
    order = list(range(ndim))  # of the part's axes in the result
    if front:
        order.insert(0, order.pop(axis))
    counts = ["n" if k == axis else f"part.shape[{k}]" for k in order]
    places = [f"i{order.index(k)}" for k in range(ndim)]
    places[axis] = f"where[{places[axis]}]"
    element = ", ".join(places)
    lines = [f"    part = a[{parts}]"]
    lines += [f"    where = {f'np.nonzero({where})[0]' if mask else where}"]
    lines += ["    n = where.shape[0]", f"    out = np.empty(({', '.join(counts)},), dtype)"]
    return lines, counts, f"part[{element}]"


@cache
def _gather_axis(ndim, dtype, *way):
    found, counts, element = _part_and_where(ndim, *way)
    lines = ["def gather(a, index):", *found]
    lines += nest(counts, [f"out{subscript(ndim, ndim)} = {element}"])
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})


@cache
def _scatter_axis(ndim, value_ndim, dtype, *way):
    found, counts, element = _part_and_where(ndim, *way)
    lines = ["def assign(a, index, v):", *found, "    fill(out, v)"]
    lines += nest(counts, [f"{element} = out{subscript(ndim, ndim)}"])
    fill = assignment(ndim, value_ndim, overlapping=False)
    return _jit(lines, {"dtype": number_class(dtype), "fill": fill})


@cache
def _gather(ndim, dtype, kind):
    shape = ", ".join(["count", *(f"a.shape[{k}]" for k in range(1, ndim))])
    count = ["    count = index.shape[0]"]
    if kind == "mask":
        count = ["    count = 0", "    for k in range(index.shape[0]):"]
        count += ["        if index[k]:", "            count += 1"]
    move = "out[n] = a[where]" if ndim == 1 else "fill(out[n], a[where])"
    lines = ["def gather(a, index):", *count, f"    out = np.empty(({shape},), dtype)", "    n = 0"]
    lines.append("    for k in range(index.shape[0]):")
    if kind == "mask":
        lines += ["        if index[k]:", "            where = k", f"            {move}"]
        lines += ["            n += 1"]
    else:
        lines += ["        where = index[k]", f"        {move}", "        n += 1"]
    namespace = {"dtype": number_class(dtype)}
    if ndim > 1:
        namespace["fill"] = assignment(ndim - 1, ndim - 1, False)
    return _jit([*lines, "    return out"], namespace)


@cache
def _gather_masked(ndim, dtype):
    index = subscript(ndim, ndim)
    counts = [f"a.shape[{k}]" for k in range(ndim)]
    lines = ["def gather(a, index):", "    count = 0"]
    lines += nest(counts, [f"if index{index}:", "    count += 1"])
    lines += ["    out = np.empty(count, dtype)", "    n = 0"]
    lines += nest(counts, [f"if index{index}:", f"    out[n] = a{index}", "    n += 1"])
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})
