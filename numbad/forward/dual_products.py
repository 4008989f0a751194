"""Products of vectors and matrices of dual numbers.

The values go through BLAS, as the primal's do, so that they agree to the last bit; so do the partials of
large matrices, while loops give those of small ones and of vectors.
"""

import operator

import numpy as np
from numba.core import types
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from ..source import define
from . import dual as d
from .access import assemble_scalar, dtype_like
from .custom import value_of
from .dual_arrays import is_dual_array, with_value
from .dual_reductions import as_zero, is_none
from .linearized import columns_of_partials, rows_of_partials
from .optional_arrays import overload_stand_in
from .stand_ins import stand_for, stand_for_method


def dot(a, b, out=None):
    raise NotImplementedError


@overload_stand_in(dot)
def _dot_into(a, b, out):
    """With the array for the result, which is returned."""
    if is_none(out):
        return lambda a, b, out: dot(a, b)
    if not any(is_dual_array(ty) for ty in (a, b, out)):
        return lambda a, b, out: np.dot(a, b, out)
    if not isinstance(out, types.Array) or out.ndim != max(a.ndim + b.ndim - 2, 0):
        return None

    def into(a, b, out):
        found = dot(a, b)
        if found.shape != out.shape:
            raise ValueError("incompatible output array size for np.dot()")
        out[...] = found
        return out

    return into


@overload_stand_in(dot)
def _dot(a, b):
    if not (is_dual_array(a) or is_dual_array(b)):
        if isinstance(a, types.Array) and isinstance(b, types.Array):
            return lambda a, b: np.dot(a, b)
        return lambda a, b: a * b
    if not (isinstance(a, types.Array) and isinstance(b, types.Array)):
        return lambda a, b: a * b
    return _BY_AXES.get((a.ndim, b.ndim))


def _values(a, b):
    """The product of the values (of the outermost level); it checks the shapes, too."""
    raise NotImplementedError


@overload(_values)
def _overload_values(a, b):
    tag = max(dual.tag for ty in (a, b) for dual in d.duals_in(ty))
    one, other = (f"wide(contiguous({x}, {tag}), {y})" for x, y in ("ab", "ba"))
    names = {"dot": dot, "contiguous": _contiguous, "wide": _as_wide_as}
    return define(f"def values(a, b):\n    return dot({one}, {other})\n", names)


def _contiguous(a, tag):
    """The values of an array in the layout that BLAS takes the primal's in."""
    raise NotImplementedError


@overload(_contiguous, prefer_literal=True)
def _overload_contiguous(a, tag):
    if a.layout == "F" and a.ndim == 2:
        return lambda a, tag: value_of(a.T, tag).T
    return lambda a, tag: value_of(a, tag)


def _as_wide_as(a, b):
    """An array in double precision if another is: adjoints may be, of arrays that are not."""
    raise NotImplementedError


@overload(_as_wide_as)
def _overload_as_wide_as(a, b):
    wide = d.base_scalar(b.dtype)
    if isinstance(a.dtype, types.Float | types.Complex) and a.dtype.bitwidth < wide.bitwidth:
        wide = as_dtype(wide).type
        return lambda a, b: a.astype(wide)
    return lambda a, b: a


def _vector_vector(a, b):
    value = _values(a, b)
    total = as_zero(a) * as_zero(b)
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return with_value(total, value)


def _matrix_vector(a, b):
    values = _values(a, b)
    out = np.empty(a.shape[0], dtype_like(a, b))
    for i in range(a.shape[0]):
        total = as_zero(a) * as_zero(b)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k]
        out[i] = with_value(total, values[i])
    return out


def _vector_matrix(a, b):
    values = _values(a, b)
    out = np.empty(b.shape[1], dtype_like(a, b))
    for j in range(b.shape[1]):
        total = as_zero(a) * as_zero(b)
        for k in range(b.shape[0]):
            total += a[k] * b[k, j]
        out[j] = with_value(total, values[j])
    return out


def _matrix_matrix(a, b):
    values = _values(a, b)
    if a.shape[0] * a.shape[1] * b.shape[1] >= _LARGE:
        return _by_blas(a, b, values)
    out = np.empty((a.shape[0], b.shape[1]), dtype_like(a, b))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = as_zero(a) * as_zero(b)
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            out[i, j] = with_value(total, values[i, j])
    return out


# -- the partials of large matrices: products of the matrices of all partials at once ---------------

_LARGE = 1000  # multiplications, from where on copies cost less than loops


def _by_blas(a, b, values):
    """The product of two matrices, whose values are known."""
    raise NotImplementedError


@overload(_by_blas)
def _overload_by_blas(a, b, values):
    tag = max(dual.tag for ty in (a, b) for dual in d.duals_in(ty))
    moves = [is_dual_array(ty) and ty.dtype.tag == tag for ty in (a, b)]
    n = next(ty.dtype.n for ty, move in zip((a, b), moves, strict=True) if move)
    lines, terms = ["def product(a, b, values):", "    m, q = values.shape"], []
    if moves[0]:
        lines.append(f"    x, y = rows(a, {n}), value_of(b, {tag})")
        lines.append("    left = dot(wide(x, y), wide(y, x))")
        terms.append("left[i * {n} + {p}, j]")
    if moves[1]:
        lines.append(f"    v, w = value_of(a, {tag}), columns(b, {n})")
        lines.append("    right = dot(wide(v, w), wide(w, v))")
        terms.append("right[i, j * {n} + {p}]")
    partials = "".join(f"{' + '.join(terms)}, ".format(n=n, p=p) for p in range(n))
    lines += ["    out = np.empty((m, q), dtype_like(a, b))", "    for i in range(m):"]
    lines += ["        for j in range(q):"]
    lines.append(f"            out[i, j] = assemble_scalar(values[i, j], ({partials}), {tag})")
    used = {"dot": dot, "wide": _as_wide_as}
    used |= {"rows": rows_of_partials, "columns": columns_of_partials}
    used |= {"value_of": value_of, "dtype_like": dtype_like, "assemble_scalar": assemble_scalar}
    return define("\n".join([*lines, "    return out"]) + "\n", {"np": np, **used})


_BY_AXES = {
    (1, 1): _vector_vector,
    (2, 1): _matrix_vector,
    (1, 2): _vector_matrix,
    (2, 2): _matrix_matrix,
}

stand_for(np.dot, dot)
stand_for(operator.matmul, dot)
stand_for_method("dot", dot)


def vdot(a, b):
    raise NotImplementedError


@overload_stand_in(vdot)
def _vdot(a, b):
    if not (is_dual_array(a) or is_dual_array(b)):
        return lambda a, b: np.vdot(a, b)
    if isinstance(d.base_scalar(a.dtype), types.Complex):
        return lambda a, b: dot(np.conjugate(a), b)
    return lambda a, b: dot(a, b)


stand_for(np.vdot, vdot)
