"""Polynomials given by their coefficients, the lowest first; cross, outer and Kronecker products."""

import numpy as np
from numba import njit
from numba.core import types
from numpy.polynomial import polynomial

from .nests import jit, nest, number_class, subscript
from .sampled import is_number, is_vector
from .table import is_array, stands_for


def _common(*tys):
    """NumPy's class of numbers of a result, at least in double precision."""
    scalars = [number_class(getattr(ty, "dtype", ty)) for ty in tys]
    return np.result_type(*scalars, np.float64).type


def _of_two(make):
    """The stand-in of a function of two vectors of coefficients."""

    def stand_in(c1, c2):
        return make(_common(c1, c2)) if is_vector(c1) and is_vector(c2) else None

    return stand_in


@njit
def trimmed(c):
    """A series without the zeros at its end; one of zeros alone keeps its first."""
    if len(c) == 0:
        return c
    n = len(c)
    while n > 1 and c[n - 1] == 0:
        n -= 1
    return c[:n]


@njit
def _series(c, number):
    """The coefficients of an argument, as a new array."""
    if len(c) == 0:
        raise ValueError("Coefficient array is empty")
    given = trimmed(c)
    out = np.empty(len(given), number)
    for k in range(len(given)):
        out[k] = given[k]
    return out


def _added(sign):
    lines = ["def added(c1, c2):", "    first, second = series(c1, number), series(c2, number)"]
    lines += ["    out = np.zeros(max(len(first), len(second)), number)"]
    lines += ["    for k in range(len(first)):", "        out[k] = first[k]"]
    lines += ["    for k in range(len(second)):", f"        out[k] {sign}= second[k]"]
    lines.append("    return trimmed(out)")
    return lambda number: jit(lines, number=number, series=_series, trimmed=trimmed)


def _multiplied(number):
    lines = [
        "def multiplied(c1, c2):",
        "    first, second = series(c1, number), series(c2, number)",
    ]
    lines.append("    return trimmed(np.convolve(first, second))")
    return jit(lines, number=number, series=_series, trimmed=trimmed)


stands_for(polynomial.polyadd)(_of_two(_added("+")))
stands_for(polynomial.polysub)(_of_two(_added("-")))
stands_for(polynomial.polymul)(_of_two(_multiplied))


@stands_for(polynomial.polyval)
def value(x, c, tensor=True):
    """By Horner's rule, as Numba has it."""
    if not is_vector(c) or not (is_number(x) or is_array(x)):
        return None
    number = _common(c, x)
    lines = ["def polyval(x, c, tensor=True):"]
    if not isinstance(x, types.Array):
        return jit(
            [*lines, "    return horner(number(x), c)"], horner=_horner(number), number=number
        )
    lines.append("    out = np.empty(x.shape, number)")
    at = subscript(x.ndim)
    body = [f"out{at} = horner(number(x{at}), c)"]
    lines += nest([f"x.shape[{k}]" for k in range(x.ndim)], body)
    return jit([*lines, "    return out"], horner=_horner(number), number=number)


def _horner(number):
    """A function of a number and a vector of coefficients."""
    lines = ["def horner(x, c):", "    n = len(c)", "    y = number(c[n - 1]) + x * 0"]
    lines += ["    for k in range(n - 1, 0, -1):", "        y = number(c[k - 1]) + y * x"]
    return jit([*lines, "    return y"], number=number)


# -- cross products ------------------------------------------------------------------------------


@stands_for(np.cross)
def cross_product(a, b):
    both = isinstance(a, types.Array) and isinstance(b, types.Array)
    if not both or not all(ty.ndim in (1, 2) and is_number(ty.dtype) for ty in (a, b)):
        return None
    number = np.promote_types(number_class(a.dtype), number_class(b.dtype)).type
    if np.dtype(number).kind not in "fc":
        return None
    lines = ["def cross(a, b):", "    check(a, b)"]
    if a.ndim == b.ndim == 1:
        lines += ["    out = np.empty(3, number)", "    fill(out, a, b)", "    return out"]
        return jit(lines, check=_check_lengths, fill=_cross, number=number)
    lines.append("    n = 1")
    rows = []
    for name, ty in (("a", a), ("b", b)):
        rows.append(name if ty.ndim == 1 else f"{name}[i * {name}_step]")
        if ty.ndim == 2:
            lines += [f"    {name}_step = 0 if {name}.shape[0] == 1 else 1", f"    if {name}_step:"]
            lines += [f"        if n != 1 and n != {name}.shape[0]:"]
            lines.append("            raise ValueError('unable to broadcast argument')")
            lines.append(f"        n = {name}.shape[0]")
    lines += ["    out = np.empty((n, 3), number)", "    for i in range(n):"]
    lines += [f"        fill(out[i], {rows[0]}, {rows[1]})", "    return out"]
    return jit(lines, check=_check_lengths, fill=_cross, number=number)


@njit
def _check_lengths(a, b):
    first, second = a.shape[-1], b.shape[-1]
    if first not in (2, 3) or second not in (2, 3):
        raise ValueError("Incompatible dimensions for cross product\\n(dimension must be 2 or 3)")
    if first == 2 and second == 2:
        raise ValueError("Dimensions for both inputs is 2.")


@njit
def _third(x):
    return x[2] if len(x) == 3 else x[0] * 0


@njit
def _cross(out, a, b):
    a2, b2 = _third(a), _third(b)
    out[0] = a[1] * b2 - a2 * b[1]
    out[1] = a2 * b[0] - a[0] * b2
    out[2] = a[0] * b[1] - a[1] * b[0]


# -- outer products ------------------------------------------------------------------------------


@stands_for(np.outer)
def outer_product(a, b):
    scalars = [getattr(ty, "dtype", ty) for ty in (a, b)]
    numbers = [is_array(ty) or isinstance(ty, types.Number) for ty in (a, b)]
    if not all(numbers) or not all(map(is_number, scalars)):
        return None
    number = np.promote_types(*map(number_class, scalars)).type
    if np.dtype(number).kind not in "fc":
        return None
    lines = ["def outer(a, b):"]
    for name, ty in (("a", a), ("b", b)):
        if getattr(ty, "ndim", 0) != 1:
            lines.append(f"    {name} = np.asarray({name}).ravel()")
    lines.append("    out = np.empty((a.size, b.size), number)")
    lines += nest(["a.size", "b.size"], ["out[i0, i1] = a[i0] * b[i1]"])
    return jit([*lines, "    return out"], number=number)


# -- Kronecker products --------------------------------------------------------------------------


@stands_for(np.kron)
def kronecker_product(a, b):
    both = isinstance(a, types.Array) and isinstance(b, types.Array)
    if not both or not all(ty.ndim in (1, 2) and is_number(ty.dtype) for ty in (a, b)):
        return None
    number = number_class(a.dtype)  # Numba's result has the type of the first
    if np.promote_types(number, number_class(b.dtype)).type is not number:
        return None
    if np.dtype(number).kind not in "fc":
        return None
    flat = a.ndim == b.ndim == 1
    rows, at = {1: "1", 2: "{0}.shape[0]"}, {1: "{0}[{2}]", 2: "{0}[{1}, {2}]"}
    lines = ["def kron(a, b):"]
    lines += [
        f"    {x}m, {x}n = {rows[t.ndim].format(x)}, {x}.shape[-1]" for x, t in (("a", a), ("b", b))
    ]
    lines.append("    out = np.empty((am * bm, an * bn), number)")
    product = f"{at[a.ndim].format('a', 'i0', 'i2')} * {at[b.ndim].format('b', 'i1', 'i3')}"
    lines += nest(["am", "bm", "an", "bn"], [f"out[i0 * bm + i1, i2 * bn + i3] = {product}"])
    return jit([*lines, "    return out[0]" if flat else "    return out"], number=number)
