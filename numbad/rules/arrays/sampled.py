"""Functions of samples along a line: interpolation, quadrature, phases, convolution."""

import numpy as np
from numba import njit
from numba.core import types
from numba.np.arraymath import binary_search_with_guess

from .nests import jit, nest, number_class, subscript
from .table import is_array, is_none, stands_for


def is_number(ty):
    return isinstance(ty, types.Number | types.Boolean)


def is_vector(ty):
    return isinstance(ty, types.Array) and ty.ndim == 1 and is_number(ty.dtype)


def is_real(ty):
    """Whether a type is of real numbers, or of an array of them."""
    scalar = ty.dtype if isinstance(ty, types.Array) else ty
    return is_number(scalar) and not isinstance(scalar, types.Complex)


# -- interpolation -------------------------------------------------------------------------------


@njit
def _check_samples(xp, fp):
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same size.")


@njit
def _between(x, xp, fp, j):
    """On the line through the points `j` and `j + 1`; where that is NaN, as NumPy and Numba do."""
    x0, x1, y0, y1 = (
        np.float64(xp[j]),
        np.float64(xp[j + 1]),
        np.float64(fp[j]),
        np.float64(fp[j + 1]),
    )
    slope = (y1 - y0) / (x1 - x0)
    y = slope * (x - x0) + y0
    if y == y:
        return y
    if x == x0:
        return y0
    y = slope * (x - x1) + y1
    return y0 if y != y and y0 == y1 else y


@njit
def _interpolated(x, xp, fp, j):
    """The value at `x`, of the interval `j`: a point belongs to the interval on its right."""
    n = len(xp)
    if n == 1 or j == -1:
        return np.float64(fp[0])
    if x != x:
        return np.float64(x)
    return np.float64(fp[n - 1]) if j >= n - 1 else _between(np.float64(x), xp, fp, j)


@njit
def _interval(x, xp, guess):
    if len(xp) == 1:
        return -1
    return 0 if x != x else binary_search_with_guess(x, xp, len(xp), guess)


@stands_for(np.interp)
def interpolation(x, xp, fp):
    if not (is_vector(xp) and is_vector(fp) and is_real(x) and is_real(xp) and is_real(fp)):
        return None
    lines = ["def interp(x, xp, fp):", "    check(xp, fp)"]
    names = {"check": _check_samples, "interval": _interval, "value": _interpolated}
    if not isinstance(x, types.Array):
        return jit([*lines, "    return value(x, xp, fp, interval(x, xp, 0))"], **names)
    at = subscript(x.ndim)
    lines += ["    out, j = np.empty(x.shape), 0"]
    body = [f"j = interval(x{at}, xp, j)", f"out{at} = value(x{at}, xp, fp, j)"]
    lines += nest([f"x.shape[{k}]" for k in range(x.ndim)], body)
    return jit([*lines, "    return out"], **names)


# -- quadrature ----------------------------------------------------------------------------------


def _trapezoid(y, x=None, dx=1.0):
    if not is_array(y) or y.ndim == 0 or isinstance(dx, types.Array):
        return None
    if not is_none(x) and not (isinstance(x, types.Array) and x.ndim in (1, y.ndim)):
        return None
    last = y.ndim - 1
    here = subscript(y.ndim)
    there = here.replace(f"i{last}]", f"i{last} + 1]")
    width = "dx"
    if not is_none(x):
        width = f"(x[i{last} + 1] - x[i{last}])" if x.ndim == 1 else f"(x{there} - x{here})"
    scalars = [y.dtype, *([] if is_none(x) else [x.dtype])]
    start = "complex(0.0, 0.0)" if any(isinstance(t, types.Complex) for t in scalars) else "0.0"
    term = f"total += {width} * ((y{there} + y{here}) / 2.0)"
    inner = ["total = " + start, f"for i{last} in range(y.shape[{last}] - 1):", f"    {term}"]
    lines = ["def trapezoid(y, x=None, dx=1.0):"]
    if last == 0:
        return jit([*lines, *(f"    {line}" for line in inner), "    return total"])
    shape = ", ".join(f"y.shape[{k}]" for k in range(last))
    kind = np.complex128 if start.startswith("c") else np.float64
    lines.append(f"    out = np.empty(({shape},), kind)")
    body = [*inner, f"out{subscript(last)} = total"]
    lines += nest([f"y.shape[{k}]" for k in range(last)], body)
    return jit([*lines, "    return out"], kind=kind)


stands_for(*(getattr(np, name) for name in ("trapezoid", "trapz") if hasattr(np, name)))(_trapezoid)

# -- phases --------------------------------------------------------------------------------------


@stands_for(np.unwrap)
def unwrapped(p, discont=None, axis=-1, period=2 * np.pi):
    real = is_array(p) and isinstance(p.dtype, types.Float) and p.ndim
    if not real or not (isinstance(period, float) or is_number(period)):
        return None
    last = p.ndim - 1
    here = subscript(p.ndim)
    there = here.replace(f"i{last}]", f"i{last} + 1]")
    first = here.replace(f"i{last}]", "0]")
    lines = [f"def unwrap(p, discont=None, axis=-1, period={2 * np.pi!r}):", "    if axis != -1:"]
    lines.append("        raise ValueError('Value for argument \"axis\" is not supported')")
    lines += ["    high = period / 2", "    out = np.empty(p.shape)"]
    lines.append("    least = high" if is_none(discont) else "    least = discont")
    step = [f"step = np.float64(p{there}) - np.float64(p{here})"]
    step += ["total += correction(step, high, period, least)"]
    step += [f"out{there} = p{there} + total"]
    body = [f"out{first} = p{first}", "total = 0.0", f"for i{last} in range(p.shape[{last}] - 1):"]
    body += [f"    {line}" for line in step]
    lines += nest([f"p.shape[{k}]" for k in range(last)], body)
    return jit([*lines, "    return out"], correction=_correction)


@njit
def _correction(step, high, period, least):
    """What brings a step between phases into `[-high, high]`."""
    if abs(step) < least:
        return 0.0
    within = np.mod(step + high, period) - high
    if within == -high and step > 0:
        within = high
    return within - step


# -- convolution ---------------------------------------------------------------------------------

_MODES = {"valid": "0, n - m + 1", "full": "1 - m, n", "same": "-(m // 2), n - m // 2"}
"""mode -> the first shift of the shorter vector against the longer, and the one after the last."""


def _mode(mode):
    given = mode if isinstance(mode, str) else getattr(mode, "literal_value", None)
    return given if given in _MODES else None


@njit
def _products(long, short, first, stop, backward):
    """Inner products of two vectors, the second shifted against the first."""
    n, m = len(long), len(short)
    out = np.empty(stop - first, long.dtype)
    for k in range(stop - first):
        shift = first + k
        low, high = max(shift, 0), min(shift + m, n)
        where = stop - first - 1 - k if backward else k
        out[where] = np.dot(long[low:high], short[low - shift : high - shift])
    return out


def _sliding(name, default, a, v, mode, second, backward):
    """`second` is the second vector as it is shifted; `backward`: whether its being longer turns all."""
    if not (is_vector(a) and is_vector(v)) or _mode(mode) is None:
        return None
    both = np.result_type(number_class(a.dtype), number_class(v.dtype))
    if both.kind not in "fc":
        return None
    first, stop = _MODES[_mode(mode)].split(", ")
    lines = [f"def {name}(a, v, mode={default!r}):", "    if len(a) == 0 or len(v) == 0:"]
    lines += ["        raise ValueError('the vectors cannot be empty')"]
    lines += ["    turn = len(a) < len(v)", "    n, m = max(len(a), len(v)), min(len(a), len(v))"]
    swapped = f"products({second}.astype(number), a.astype(number)"
    if not backward:
        swapped = "products(v.astype(number), a[::-1].astype(number)"
    lines += ["    if turn:", f"        return {swapped}, {first}, {stop}, {backward})"]
    lines.append(
        f"    return products(a.astype(number), {second}.astype(number), {first}, {stop}, False)"
    )
    return jit(lines, number=both.type, products=_products)


@stands_for(np.convolve)
def convolution(a, v, mode="full"):
    return _sliding("convolve", "full", a, v, mode, "v[::-1]", False)


@stands_for(np.correlate)
def correlation(a, v, mode="valid"):
    conjugate = is_vector(v) and isinstance(v.dtype, types.Complex)
    second = "np.conjugate(v)" if conjugate else "v"
    return _sliding("correlate", "valid", a, v, mode, second, True)
