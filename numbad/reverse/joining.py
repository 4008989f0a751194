"""Arrays put together as one: jitted helpers with scalar loops, as in `loops`."""

from functools import cache

from ..rules.arrays.nests import nest, number_class, subscript
from .array_loops import _jit

_MISFIT = (
    "        raise ValueError('all the input array dimensions except for the axis must match')"
)


def _place(kind, ndim, axis, k):
    """Where element `i0, i1, ...` of member `k` goes; `start` is where the member begins."""
    index = [f"i{d}" for d in range(ndim)]
    if kind == "along":
        index[axis] = f"start + i{axis}"
    elif kind == "new":
        index.insert(axis, str(k))
    else:  # a vector as a layer of depth
        index = ["0", "i0", str(k)]
    return ", ".join(index)


def _shape(kind, ndim, axis, n):
    shape = [f"x0.shape[{d}]" for d in range(ndim)]
    if kind == "along":
        shape[axis] = " + ".join(f"x{k}.shape[{axis}]" for k in range(n))
    elif kind == "new":
        shape.insert(axis, str(n))
    else:
        shape = ["1", "x0.shape[0]", str(n)]
    return ", ".join(shape)


@cache
def joined(kind, ndim, axis, n, dtype):
    """A tuple of `n` arrays of `ndim` axes, one after another "along" an axis, or along a "new" one."""
    lines = ["def join(members):"]
    lines += [f"    x{k} = members[{k}]" for k in range(n)]
    for k in range(1, n):
        for d in range(ndim):
            if kind != "along" or d != axis:
                lines += [f"    if x{k}.shape[{d}] != x0.shape[{d}]:", _MISFIT]
    lines += [f"    out = np.empty(({_shape(kind, ndim, axis, n)},), dtype)", "    start = 0"]
    for k in range(n):
        counts = [f"x{k}.shape[{d}]" for d in range(ndim)]
        place = _place(kind, ndim, axis, k)
        lines += nest(counts, [f"out[{place}] = x{k}{subscript(ndim, ndim)}"])
        if kind == "along":
            lines.append(f"    start += x{k}.shape[{axis}]")
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})


@cache
def appended(first, second, dtype):
    """`np.append(a, b)` of vectors and scalars, whose numbers of axes are given."""
    parts = (("a", first), ("b", second))
    size = " + ".join(f"{name}.shape[0]" if ndim else "1" for name, ndim in parts)
    lines = ["def append(a, b):", f"    out = np.empty({size}, dtype)", "    n = 0"]
    for name, ndim in parts:
        if ndim:
            lines += [f"    for k in range({name}.shape[0]):", f"        out[n + k] = {name}[k]"]
        else:
            lines.append(f"    out[n] = {name}")
        lines.append(f"    n += {f'{name}.shape[0]' if ndim else '1'}")
    return _jit([*lines, "    return out"], {"dtype": number_class(dtype)})
