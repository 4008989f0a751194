"""Sums, products, moments, extrema, accumulations, and those that leave out NaN."""

import numpy as np
from numba.core import types

from .nests import jit, nest, number_class, over, subscript, tuple_of
from .table import is_array, is_none, literal_ints, stands_for


def _axes(a, axis):
    """The axes that are written out, counted from 0; None where they are no such axes."""
    given = literal_ints(axis)
    if given is None or not all(-a.ndim <= k < a.ndim for k in given):
        return None
    found = sorted(k % a.ndim for k in given)
    return found if len(set(found)) == len(found) else None


def _asked(a, dtype):
    """The type that a `dtype=` argument asks for, by default the array's own; None for others."""
    if is_none(dtype):
        return a.dtype
    asked = getattr(dtype, "dtype", None) or getattr(dtype, "instance_type", None)
    wider = isinstance(asked, types.Complex) or isinstance(a.dtype, types.Float)
    return asked if isinstance(asked, types.Float | types.Complex) and wider else None


@stands_for(np.sum, method="sum")
def total(a, axis=None, dtype=None):
    if isinstance(a, types.Float | types.Complex) and is_none(axis) and is_none(dtype):
        return jit(["def total(a, axis=None, dtype=None):", "    return a"])
    if not is_array(a) or (asked := _asked(a, dtype)) is None:
        return None
    if is_none(axis):
        return _whole_sum(a, asked)
    if isinstance(axis, types.Integer) and literal_ints(axis) is None:
        return _by_axis(a, lambda k: _sum_along(a, (k,), asked))
    axes = _axes(a, axis)
    return _sum_along(a, tuple(axes), asked) if axes else None


def _whole_sum(a, asked):
    lines = ["def total(a, axis=None, dtype=None):", "    out = number(0)"]
    lines += over(a, [f"out += number(a{subscript(a.ndim)})"])
    return jit([*lines, "    return out"], number=number_class(asked))


def _sum_along(a, axes, asked):
    if len(axes) == a.ndim:
        return _whole_sum(a, asked)
    kept = [k for k in range(a.ndim) if k not in axes]
    shape = tuple_of(f"a.shape[{k}]" for k in kept)
    where = ", ".join(f"i{k}" for k in kept)
    lines = ["def total(a, axis=None, dtype=None):", f"    out = np.zeros({shape}, number)"]
    lines += over(a, [f"out[{where}] += number(a{subscript(a.ndim)})"])
    return jit([*lines, "    return out"], number=number_class(asked))


def _by_axis(a, along):
    """A function for an axis that is known at run time alone."""
    if a.ndim == 1:
        return along(0)
    lines, made = ["def by_axis(a, axis=None, dtype=None):"], {}
    for k in range(a.ndim):
        made[f"along{k}"] = along(k)
        lines += [f"    if axis == {k} or axis == {k - a.ndim}:", f"        return along{k}(a)"]
    return jit([*lines, "    raise ValueError('axis is out of bounds')"], **made)


@stands_for(np.prod, method="prod", of_numbers=True)
def product(a):
    if not is_array(a):
        return None
    lines = ["def product(a):", "    out = number(1)", *over(a, [f"out *= a{subscript(a.ndim)}"])]
    return jit([*lines, "    return out"], number=number_class(a.dtype))


@stands_for(np.mean, method="mean", of_numbers=True)
def mean(a):
    if not is_array(a):
        return None
    nothing = complex(np.nan, np.nan) if isinstance(a.dtype, types.Complex) else np.nan
    lines = ["def mean(a):", "    if a.size == 0:", "        return number(nothing)"]
    lines += ["    out = number(0)", *over(a, [f"out += a{subscript(a.ndim)}"])]
    lines.append("    return number(out / a.size)")
    return jit(lines, number=number_class(a.dtype), nothing=nothing)


def _squared_modulus(a):
    """The square of `val` as Numba computes it."""
    return "(val * np.conj(val)).real" if isinstance(a.dtype, types.Complex) else "val * val"


def _variance(a):
    """Of a whole array, in double precision as Numba's starts from an int."""
    lines = ["def variance(a):", "    m = mean(a)", "    out = 0.0"]
    lines += over(a, [f"val = a{subscript(a.ndim)} - m", f"out += {_squared_modulus(a)}"])
    return jit([*lines, "    return out / a.size"], mean=mean(a))


@stands_for(np.var, method="var", of_numbers=True)
def variance(a):
    return _variance(a) if is_array(a) else None


@stands_for(np.std, method="std", of_numbers=True)
def deviation(a):
    if not is_array(a):
        return None
    return jit(["def deviation(a):", "    return variance(a) ** 0.5"], variance=_variance(a))


# -- extrema: the search is of places, so that the derivative goes to one element --------------------


def _less(a, sign, x, y):
    """Whether `x` comes before `y` in the order of `sign`; complex numbers by their real parts first."""
    if isinstance(a.dtype, types.Complex):
        equal = f"{x}.real == {y}.real and {x}.imag {sign} {y}.imag"
        return f"({x}.real {sign} {y}.real or ({equal}))"
    return f"{x} {sign} {y}"


def _found(a, name, better):
    """The element that is found by going through all; `better` says whether `x` replaces `best`."""
    place = ", ".join(f"r{k}" for k in range(a.ndim)) or "()"
    move = "; ".join(f"r{k} = i{k}" for k in range(a.ndim)) or "pass"
    lines = [f"def {name}(a):", "    if a.size == 0:"]
    lines.append("        raise ValueError('zero-size array to reduction operation not possible')")
    lines += [f"    r{k} = 0" for k in range(a.ndim)]
    body = [f"x, best = a{subscript(a.ndim)}, a[{place}]", f"if {better}:", f"    {move}"]
    return jit([*lines, *over(a, body), f"    return a[{place}]"])


def _extremum(a, sign):
    """As Numba's: the first of equal ones; the first NaN, if any, for floats."""
    if not is_array(a):
        return None
    better = _less(a, sign, "x", "best")
    if isinstance(a.dtype, types.Float):
        better += " or (x != x and best == best)"
    return _found(a, "extremum", better)


@stands_for(np.min, np.amin, method="min", of_numbers=True)
def least(a):
    return _extremum(a, "<")


@stands_for(np.max, np.amax, method="max", of_numbers=True)
def greatest(a):
    return _extremum(a, ">")


def _extremum_without_nan(a, sign):
    """As Numba's: the last of equal ones."""
    if not is_array(a):
        return None
    if isinstance(a.dtype, types.Complex):
        better = _less(a, sign, "x", "best")
        better = f"(np.isnan(best.real) and not np.isnan(x.real)) or {better}"
    else:
        better = f"not np.isnan(x) and not best {sign} x"
    return _found(a, "extremum", better)


@stands_for(np.nanmin, of_numbers=True)
def least_number(a):
    return _extremum_without_nan(a, "<")


@stands_for(np.nanmax, of_numbers=True)
def greatest_number(a):
    return _extremum_without_nan(a, ">")


# -- accumulations -------------------------------------------------------------------------------


def _flat_position(ndim):
    flat = "0" if ndim == 0 else "i0"
    for k in range(1, ndim):
        flat = f"({flat}) * a.shape[{k}] + i{k}"
    return flat


@stands_for(np.cumsum, method="cumsum")
def sums(a, axis=None, dtype=None):
    if not is_array(a) or (asked := _asked(a, dtype)) is None:
        return None
    if is_none(axis) or a.ndim == 1:
        axes = [0] if is_none(axis) else _axes(a, axis)
        return _flat_sums(a, asked) if axes else None
    if isinstance(axis, types.Integer) and literal_ints(axis) is None:
        return _by_axis(a, lambda k: _sums_along(a, k, asked))
    axes = _axes(a, axis)
    return _sums_along(a, *axes, asked) if axes and len(axes) == 1 else None


def _flat_sums(a, asked):
    lines = ["def sums(a, axis=None, dtype=None):", "    out = np.empty(a.size, number)"]
    lines.append("    total = number(0)")
    body = [f"total += number(a{subscript(a.ndim)})", f"out[{_flat_position(a.ndim)}] = total"]
    lines += nest([f"a.shape[{k}]" for k in range(a.ndim)], body)
    return jit([*lines, "    return out"], number=number_class(asked))


@stands_for(np.cumprod, method="cumprod")
def products(a):
    if not is_array(a):
        return None
    lines = ["def products(a):", "    out, total = np.empty(a.size, number), number(1)"]
    body = [f"total *= a{subscript(a.ndim)}", f"out[{_flat_position(a.ndim)}] = total"]
    lines += nest([f"a.shape[{k}]" for k in range(a.ndim)], body)
    return jit([*lines, "    return out"], number=number_class(a.dtype))


def _sums_along(a, axis, asked):
    counts = [f"a.shape[{k}]" for k in range(a.ndim)]
    others = [c for k, c in enumerate(counts) if k != axis]
    names = [f"i{k}" for k in range(a.ndim) if k != axis]
    lines = ["def sums(a, axis=None, dtype=None):", "    out = np.empty(a.shape, number)"]
    for level, (name, count) in enumerate(zip(names, others, strict=True)):
        lines.append("    " * (level + 1) + f"for {name} in range({count}):")
    deep = "    " * a.ndim
    lines += [f"{deep}total = number(0)", f"{deep}for i{axis} in range({counts[axis]}):"]
    lines.append(f"{deep}    total += number(a{subscript(a.ndim)})")
    lines.append(f"{deep}    out{subscript(a.ndim)} = total")
    return jit([*lines, "    return out"], number=number_class(asked))


# -- without NaN -----------------------------------------------------------------------------------


def _without_nan(a, start, symbol):
    if not is_array(a):
        return None
    x = f"a{subscript(a.ndim)}"
    lines = ["def reduction(a):", f"    out = number({start})"]
    lines += over(a, [f"if not np.isnan({x}):", f"    out {symbol}= {x}"])
    return jit([*lines, "    return out"], number=number_class(a.dtype))


@stands_for(np.nansum, of_numbers=True)
def total_of_numbers(a):
    return _without_nan(a, 0, "+")


@stands_for(np.nanprod, of_numbers=True)
def product_of_numbers(a):
    return _without_nan(a, 1, "*")


@stands_for(np.nanmean, of_numbers=True)
def mean_of_numbers(a):
    """In double precision, as Numba's starts from a float."""
    if not is_array(a):
        return None
    x = f"a{subscript(a.ndim)}"
    start = "complex(0.0, 0.0)" if isinstance(a.dtype, types.Complex) else "0.0"
    lines = ["def mean(a):", f"    out = {start}", "    count = 0"]
    lines += over(a, [f"if not np.isnan({x}):", f"    out += {x}", "    count += 1"])
    return jit([*lines, "    return np.true_divide(out, count)"])


def _variance_of_numbers(a):
    x = f"a{subscript(a.ndim)}"
    lines = ["def variance(a, axis=None, dtype=None, out=None, ddof=0):", "    m = mean(a)"]
    lines += ["    total, count = 0.0, 0"]
    body = [f"if not np.isnan({x}):", f"    val = {x} - m"]
    lines += over(a, [*body, f"    total += {_squared_modulus(a)}", "    count += 1"])
    lines += ["    if count <= ddof:", "        return np.nan"]
    return jit([*lines, "    return np.true_divide(total, count - ddof)"], mean=mean_of_numbers(a))


def _plainly(axis, dtype, out):
    """Whether nothing is asked for that Numba has not."""
    return is_none(axis) and is_none(dtype) and is_none(out)


@stands_for(np.nanvar, of_numbers=True)
def variance_of_numbers(a, axis=None, dtype=None, out=None, ddof=0):
    return _variance_of_numbers(a) if is_array(a) and _plainly(axis, dtype, out) else None


@stands_for(np.nanstd, of_numbers=True)
def deviation_of_numbers(a, axis=None, dtype=None, out=None, ddof=0):
    if not is_array(a) or not _plainly(axis, dtype, out):
        return None
    lines = ["def deviation(a, axis=None, dtype=None, out=None, ddof=0):"]
    lines.append("    return variance(a, None, None, None, ddof) ** 0.5")
    return jit(lines, variance=_variance_of_numbers(a))
