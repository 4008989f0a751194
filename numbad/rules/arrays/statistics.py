"""Averages, covariances, medians and quantiles."""

import math

import numpy as np
from numba import njit
from numba.core import types

from .nests import jit, nest, number_class, over, subscript
from .sampled import is_number
from .table import is_array, is_none, stands_for


@stands_for(np.average)
def average(a, axis=None, weights=None):
    if not isinstance(a, types.Array) or not is_none(axis):
        return None
    if is_none(weights):
        return _mean
    return _weighted_mean if isinstance(weights, types.Array) else None


@njit
def _mean(a, axis=None, weights=None):
    return np.mean(a)


@njit
def _weighted_mean(a, axis=None, weights=None):
    if a.shape != weights.shape and weights.ndim != 1:
        raise TypeError("1D weights expected when shapes of a and weights differ.")
    scale = np.sum(weights)
    if scale == 0.0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized.")
    return np.sum(np.multiply(a, weights)) / scale


# -- covariances ---------------------------------------------------------------------------------


def _is_real_table(ty):
    return is_array(ty) and isinstance(ty.dtype, types.Float) and ty.ndim in (1, 2)


def _rows(m, y):
    """A function `(m, y, rowvar)` of the observations, one row for each variable, as a new array."""
    lines = ["def rows(m, y, rowvar):"]
    for name, ty in (("m", m), *([] if is_none(y) else [("y", y)])):
        if ty.ndim == 1:
            lines.append(f"    {name}0, {name}1 = 1, {name}.shape[0]")
        else:
            lines.append(f"    {name}0, {name}1 = {name}.shape")
        one = "" if is_none(y) else f" and {name}0 != 1"
        lines += [f"    turn_{name} = not rowvar{one}", f"    if turn_{name}:"]
        lines.append(f"        {name}0, {name}1 = {name}1, {name}0")
    if is_none(y):
        lines.append("    out = np.empty((m0, m1))")
    else:
        lines += [
            "    if m1 != y1:",
            "        raise ValueError('m and y have incompatible dimensions')",
        ]
        lines.append("    out = np.empty((m0 + y0, m1))")
    lines += _copied(m, "m", "i0")
    lines += [] if is_none(y) else _copied(y, "y", "m0 + i0")
    return jit([*lines, "    return out"])


def _copied(ty, name, row):
    """Lines that copy a vector or a matrix, turned if asked for, to the rows from one on."""
    plain, turned = ("[i1]", "[i0]") if ty.ndim == 1 else ("[i0, i1]", "[i1, i0]")
    body = [f"out[{row}, i1] = {name}{turned} if turn_{name} else {name}{plain}"]
    return nest([f"{name}0", f"{name}1"], body)


@njit
def _covariances(rows, bias, ddof):
    """Of rows that are changed: their deviations from their means, and the products of these."""
    count = rows.shape[1]
    for i in range(rows.shape[0]):
        total = 0.0
        for k in range(count):
            total += rows[i, k]
        mean = total / count
        for k in range(count):
            rows[i, k] -= mean
    products = np.dot(rows, rows.T)
    factor = np.true_divide(1, max(count - ddof, 0.0))
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            products[i, j] *= factor
    return products


def _lines_of_covariance(m, y, ddof):
    lines = ["def cov(m, y=None, rowvar=True, bias=False, ddof=None):"]
    if m.ndim == 2:
        lines += ["    if m.shape[0] == 1:"]
        lines.append(
            "        raise RuntimeError('2D array containing a single row is unsupported')"
        )
    if isinstance(ddof, types.Float):
        lines += ["    if not np.isfinite(ddof) or ddof - int(ddof) != 0:"]
        lines.append("        raise ValueError('ddof must be integral value')")
    lines.append("    less = (0 if bias else 1)" if is_none(ddof) else "    less = ddof")
    lines.append(f"    x = rows(m, {'None' if is_none(y) else 'y'}, rowvar)")
    return lines


@stands_for(np.cov)
def covariance(m, y=None, rowvar=True, bias=False, ddof=None):
    if not _is_real_table(m) or not (is_none(y) or _is_real_table(y)):
        return None
    lines = _lines_of_covariance(m, y, ddof)
    if m.ndim == 1 and is_none(y):
        lines += ["    out = np.empty(())", "    out[()] = np.nan", "    if x.size:"]
        lines += ["        out[()] = covariances(x, bias, less)[0, 0]", "    return out"]
    else:
        lines += [
            "    if x.size == 0:",
            "        out = np.dot(x, x.T)",
            "        out[:, :] = np.nan",
        ]
        lines.append("        return out")
        lines.append("    return covariances(x, bias, less)")
    return jit(lines, rows=_rows(m, y), covariances=_covariances)


@stands_for(np.corrcoef)
def correlation_coefficients(x, y=None, rowvar=True):
    cov = covariance(x, y, rowvar)
    if cov is None:
        return None
    lines = ["def corrcoef(x, y=None, rowvar=True):"]
    lines.append(f"    c = cov(x, {'None' if is_none(y) else 'y'}, rowvar)")
    lines.append("    return c / c" if x.ndim == 1 and is_none(y) else "    return normalized(c)")
    return jit(lines, cov=cov, normalized=_normalized)


@njit
def _normalized(c):
    """By the roots of the diagonal, in Numba's order, and not beyond one."""
    n = c.shape[0]
    deviations = np.empty(n)
    for i in range(n):
        deviations[i] = np.sqrt(c[i, i])
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            first, second = max(i, j), min(i, j)
            x = c[i, j] / deviations[first] / deviations[second]
            out[i, j] = np.sign(x) if np.fabs(x) > 1 else x
    return out


# -- order statistics ----------------------------------------------------------------------------


def _numbers(a, asked):
    """A function that gathers what is no NaN, and counts it."""
    x = f"a{subscript(a.ndim)}"
    lines = ["def numbers(a):", "    out, n = np.empty(a.size, number), 0"]
    lines += over(a, [f"if not np.isnan({x}):", f"    out[n] = {x}", "    n += 1"])
    return jit([*lines, "    return out[:n]"], number=number_class(asked))


@njit
def _middle(items):
    """The median of items none of which is NaN, by the numbers of those in the middle."""
    n = len(items)
    if n == 0:
        return np.nan
    order = np.argsort(items)
    if n % 2:
        return items[order[n // 2]]
    return (items[order[n // 2 - 1]] + items[order[n // 2]]) / 2


def _median(a, without_nan):
    if not is_array(a) or not isinstance(a.dtype, types.Float):
        return None
    lines = ["def median(a):", "    items = numbers(a)"]
    if not without_nan:
        lines += ["    if items.size < a.size:", "        items = items[:0]"]
    lines.append("    return middle(items)")
    return jit(lines, numbers=_numbers(a, a.dtype), middle=_middle)


@stands_for(np.median)
def median(a):
    """Of values among which is NaN it is NaN, as NumPy's is; Numba's is any of them then."""
    return _median(a, False)


@stands_for(np.nanmedian)
def median_of_numbers(a):
    return _median(a, True)


@njit
def _infinite_least(items):
    """Whether Numba gives NaN for the least of items some of which are infinite."""
    above = below = 0
    for x in items:
        above += x == np.inf
        below += x == -np.inf
    finite = len(items) - above - below
    if finite == len(items):
        return False
    few = finite == 0 or (above == 1 and len(items) == 2) or below > 1
    return few or (finite == 1 and above > 1 and below != 1)


@njit
def _ranks(items, order, percent):
    """The ranks of the two items that a quantile lies between, the same for one; -1 for NaN."""
    n = len(items)
    if n == 0 or (n == 1 and not np.isfinite(items[0])):
        return -1, -1
    if n == 1 or percent == 100:
        return (n - 1, n - 1) if np.isfinite(items[order[n - 1]]) else (-1, -1)
    if percent == 0:
        return (-1, -1) if _infinite_least(items) else (0, 0)
    low = math.floor(1 + (n - 1) * np.true_divide(percent, 100.0)) - 1
    return int(low), int(low) + 1


@njit
def _quantile(items, order, percent):
    """Linear between the closest ranks; `order` are the numbers of the items as they are sorted."""
    low, high = _ranks(items, order, percent)
    if low < 0:
        return np.nan
    if low == high:
        return items[order[low]]
    part = 1 + (len(items) - 1) * np.true_divide(percent, 100.0) - (low + 1)
    return items[order[low]] * (1 - part) + items[order[high]] * part


@njit
def _check(q, most):
    if not 0.0 <= q <= most:
        raise ValueError("Quantiles must be in the range [0, 1], percentiles in [0, 100]")


def _quantiles(a, q, most, without_nan):
    """The stand-in of a function whose quantiles go up to `most`."""
    kind = q.dtype if isinstance(q, types.Array) else q
    real = is_array(a) and isinstance(a.dtype, types.Float) and is_number(kind)
    if not real or isinstance(kind, types.Complex):
        return None
    lines = ["def quantiles(a, q):", "    items = numbers(a)"]
    if not without_nan:
        lines += ["    if items.size < a.size:", "        items = items[:0]"]
    lines.append("    order = np.argsort(items)")
    if isinstance(q, types.Array) and q.ndim:
        lines += ["    out, k = np.empty(q.size), 0"]
        body = [f"one = q{subscript(q.ndim)}", "check(one, most)"]
        body += ["out[k] = quantile(items, order, one * factor)", "k += 1"]
        lines += [*nest([f"q.shape[{k}]" for k in range(q.ndim)], body), "    return out"]
    else:
        at = "[()]" if isinstance(q, types.Array) else ""
        lines += [f"    check(q{at}, most)", f"    return quantile(items, order, q{at} * factor)"]
    names = {"numbers": _numbers(a, types.float64), "check": _check, "quantile": _quantile}
    return jit(lines, most=most, factor=100.0 / most, **names)


@stands_for(np.percentile)
def percentile(a, q):
    return _quantiles(a, q, 100.0, False)


@stands_for(np.nanpercentile)
def percentile_of_numbers(a, q):
    return _quantiles(a, q, 100.0, True)


@stands_for(np.quantile)
def quantile(a, q):
    return _quantiles(a, q, 1.0, False)


@stands_for(np.nanquantile)
def quantile_of_numbers(a, q):
    return _quantiles(a, q, 1.0, True)
