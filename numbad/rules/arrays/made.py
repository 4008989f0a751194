"""Arrays made of others: powers, differences, counts, grids, conjugates, accumulations without NaN."""

import math

import numpy as np
from numba import njit
from numba.core import types
from numpy.polynomial import polynomial

from .nests import jit, nest, number_class, over, subscript
from .polynomials import trimmed
from .sampled import is_number, is_real, is_vector
from .table import is_array, is_none, stands_for


def _copied(a, function, name):
    """A function applied to each element, as a new array, in Fortran's order as `a` if it is known to be."""
    at = subscript(a.ndim)
    made = "np.empty(a.T.shape, number).T" if a.layout == "F" else "np.empty(a.shape, number)"
    lines = [f"def {name}(a):", f"    out = {made}"]
    lines += over(a, [f"out{at} = {function.format(f'a{at}')}"])
    return jit([*lines, "    return out"], number=number_class(a.dtype))


def _conjugate(a):
    if not is_array(a):
        return None
    return _copied(a, "np.conj({})" if isinstance(a.dtype, types.Complex) else "{}", "conjugate")


stands_for(method="conj")(_conjugate)
stands_for(method="conjugate")(_conjugate)


@stands_for(np.histogram)
def histogram(a, bins=10, range=None):
    """Counts carry no derivative; equal bins reach from the least to the greatest number, or as told.

    Of edges in a list or a tuple Numba's own code does it.
    """
    told = is_array(bins) or isinstance(bins, int | types.Integer | types.Omitted)
    if not told or not is_array(a) or not isinstance(a.dtype, types.Float):
        return None
    given = "" if is_array(bins) else ", ends(a)" if is_none(range) else ", range"
    lines = ["def histogram(a, bins=10, range=None):", f"    return counted(a, bins{given})"]
    return jit(lines, counted=(_counted_between if given == "" else _counted)(a), ends=_ends(a))


def _over(a, body):
    return nest([f"a.shape[{k}]" for k in range(a.ndim)], [f"v = a{subscript(a.ndim)}", *body])


def _ends(a):
    """The least and the greatest number; what is NaN does not count."""
    lines = ["def ends(a):", "    first, last = math.inf, -math.inf"]
    lines += _over(a, ["if first > v:", "    first = v", "if last < v:", "    last = v"])
    return jit([*lines, "    return first, last"], math=math)


def _counted(a):
    """In equal bins; `v` that rounding puts behind the last one is left out, as by Numba."""
    lines = ["def counted(a, n, ends):", "    first, last = ends"]
    lines += ["    if n <= 0:"]
    lines += ["        raise ValueError('histogram(): `bins` should be a positive integer')"]
    lines += ["    if not first <= last:"]
    wrong = "histogram(): max must be larger than min in range parameter"
    lines += [f"        raise ValueError('{wrong}')", "    counts = np.zeros(n, np.intp)"]
    lines += ["    ratio = n / (last - first) if last > first else 0.0"]
    body = ["if last > first and first <= v <= last:", "    k = int((v - first) * ratio)"]
    body += [
        "    if k < n:",
        "        counts[k] += 1",
        "    elif v == last:",
        "        counts[n - 1] += 1",
    ]
    return jit([*lines, *_over(a, body), "    return counts, np.linspace(first, last, n + 1)"])


def _counted_between(a):
    """Between the edges that are given."""
    lines = ["def counted(a, edges):", "    n = edges.size - 1", "    for k in range(n):"]
    lines += ["        if not edges[k] <= edges[k + 1]:"]
    lines += ["            raise ValueError('histogram(): bins must increase monotonically')"]
    lines += ["    counts = np.zeros(n, np.intp)"]
    body = ["if n > 0 and edges[0] <= v <= edges[n]:"]
    body += ["    counts[min(np.searchsorted(edges, v, 'right'), n) - 1] += 1"]
    return jit([*lines, *_over(a, body), "    return counts, edges"])


@stands_for(np.angle)
def phases(z, deg=False):
    if not is_array(z) or not isinstance(z.dtype, types.Complex | types.Float) or deg is not False:
        return None
    real = isinstance(z.dtype, types.Float)
    at = subscript(z.ndim)
    of_real = f"np.nan if z{at} != z{at} else np.pi if np.signbit(z{at}) else 0.0"
    angle = of_real if real else f"np.angle(z{at})"
    lines = ["def angle(z, deg=False):", "    out = np.empty(z.shape, number)"]
    lines += nest([f"z.shape[{k}]" for k in range(z.ndim)], [f"out{at} = {angle}"])
    number = z.dtype if real else z.dtype.underlying_float
    return jit([*lines, "    return out"], number=number_class(number))


def _accumulated(a, start, symbol):
    """Along all elements in C order; what is NaN changes nothing."""
    if not is_array(a):
        return None
    x = f"a{subscript(a.ndim)}"
    lines = ["def accumulated(a):", "    out, total, n = np.empty(a.size, number), start, 0"]
    body = [f"if not np.isnan({x}):", f"    total {symbol}= {x}", "out[n] = total", "n += 1"]
    lines += nest([f"a.shape[{k}]" for k in range(a.ndim)], body)
    number = number_class(a.dtype)
    return jit([*lines, "    return out"], number=number, start=number(start))


@stands_for(np.nancumsum)
def sums_of_numbers(a):
    return _accumulated(a, 0, "+")


@stands_for(np.nancumprod)
def products_of_numbers(a):
    return _accumulated(a, 1, "*")


@stands_for(np.ediff1d)
def differences(ary, to_end=None, to_begin=None):
    if not is_array(ary) or not (is_none(to_end) and is_none(to_begin)):
        return None
    lines = ["def differences(ary, to_end=None, to_begin=None):", "    flat = ary.flatten()"]
    lines += ["    out = np.empty(max(flat.size - 1, 0), number)", "    for k in range(out.size):"]
    lines += ["        out[k] = flat[k + 1] - flat[k]", "    return out"]
    return jit(lines, number=number_class(ary.dtype))


@stands_for(np.bincount)
def counts(a, weights=None, minlength=0):
    """With weights, which are added up in double precision."""
    whole = is_vector(a) and isinstance(a.dtype, types.Integer)
    if not whole or is_none(weights) or not (is_vector(weights) and is_real(weights)):
        return None
    lines = ["def bincount(a, weights=None, minlength=0):", "    if len(a) != len(weights):"]
    lines.append("        raise ValueError('the weights and list do not have the same length')")
    lines += ["    most = -1", "    for k in range(len(a)):", "        if a[k] < 0:"]
    lines.append("            raise ValueError('the first argument must be non-negative')")
    lines += ["        most = max(most, a[k])", "    out = np.zeros(max(most + 1, minlength))"]
    lines += ["    for k in range(len(a)):", "        out[a[k]] += weights[k]", "    return out"]
    return jit(lines)


@stands_for(np.vander)
def vandermonde(x, N=None, increasing=False):
    if not (is_vector(x) and is_array(x)):
        return None
    number = np.promote_types(number_class(x.dtype), int).type
    lines = ["def vander(x, N=None, increasing=False):"]
    lines.append(f"    n = {'len(x)' if is_none(N) else 'N'}")
    lines += ["    if n < 0:", "        raise ValueError('Negative dimensions are not allowed')"]
    lines += ["    out = np.empty((len(x), n), number)", "    for i in range(len(x)):"]
    lines += ["        power = number(1)", "        for k in range(n):"]
    lines += ["            out[i, k if increasing else n - 1 - k] = power"]
    lines += ["            power = x[i] * power", "    return out"]
    return jit(lines, number=number)


@stands_for(np.logspace)
def powers_of_ten(start, stop, num=50):
    if not all(is_number(ty) and is_real(ty) for ty in (start, stop)):
        return None
    lines = ["def logspace(start, stop, num=50):"]
    return jit([*lines, "    return np.power(10.0, np.linspace(start, stop, num))"])


@stands_for(np.geomspace)
def geometric(start, stop, num=50):
    if not all(is_number(ty) and is_real(ty) for ty in (start, stop)):
        return None
    lines = ["def geomspace(start, stop, num=50):", "    if start == 0 or stop == 0:"]
    lines.append("        raise ValueError('Geometric sequence cannot include zero')")
    lines += ["    sign = -1 if start < 0 and stop < 0 else 1"]
    lines += ["    first, last = np.log10(sign * start), np.log10(sign * stop)"]
    lines += ["    out = np.power(10.0, np.linspace(first, last, num))"]
    lines += ["    if num > 0:", "        out[0] = sign * start"]
    lines += ["        if num > 1:", "            out[-1] = sign * stop", "    return sign * out"]
    return jit(lines)


@stands_for(np.arange)
def steps(start, stop=None, step=None, dtype=None):
    given = [ty for ty in (start, stop, step) if not is_none(ty)]
    if not is_none(dtype) or not all(is_number(ty) and is_real(ty) for ty in given):
        return None
    if not any(isinstance(ty, types.Float) for ty in given):
        return None
    first, last = ("0", "start") if is_none(stop) else ("start", "stop")
    step = "1" if is_none(step) else "step"
    lines = ["def arange(start, stop=None, step=None, dtype=None):", f"    if {step} == 0:"]
    lines += ["        raise ValueError('Maximum allowed size exceeded')"]
    lines += [f"    out = np.empty(max(int(math.ceil(({last} - {first}) / {step})), 0))"]
    lines += ["    for k in range(out.size):", f"        out[k] = {first} + k * {step}"]
    return jit([*lines, "    return out"], math=math)


@stands_for(np.full_like)
def filled(arr, fill_value, dtype=None, shape=None):
    made_like = arr.dtype if isinstance(arr, types.Array) else arr
    if not is_number(made_like) or not is_number(fill_value) or not is_none(shape):
        return None
    like = "arr" if is_none(dtype) else "arr, dtype"
    lines = ["def full_like(arr, fill_value, dtype=None, shape=None):"]
    lines += [f"    out = np.empty_like({like})", "    out[...] = fill_value", "    return out"]
    return jit(lines)


@stands_for(np.asarray_chkfinite)
def known_finite(a, dtype=None):
    """The array itself, once it has been looked through."""
    if not is_array(a):
        return None
    lines = ["def asarray_chkfinite(a, dtype=None):"]
    lines += [] if is_none(dtype) else ["    a = np.asarray(a, dtype)"]
    test = [f"if not np.isfinite(a{subscript(a.ndim)}):"]
    test += ["    raise ValueError('array must not contain infs or NaNs')"]
    lines += nest([f"a.shape[{k}]" for k in range(a.ndim)], test)
    return jit([*lines, "    return a"])


@stands_for(np.nan_to_num)
def finite(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """A number, or a copy of an array; of complex ones Numba's own code does it."""
    alone = isinstance(x, types.Float)
    if not alone and not (is_array(x) and isinstance(x.dtype, types.Float) and copy is True):
        return None
    number = number_class(x if alone else x.dtype)
    low = "least" if is_none(neginf) else "neginf"
    high = "most" if is_none(posinf) else "posinf"
    value, out = ("x", "out") if alone else ("x[at]", "out[at]")
    test = [f"if np.isnan({value}):", f"    {out} = nan"]
    test += [f"elif {value} == -np.inf:", f"    {out} = {low}"]
    test += [f"elif {value} == np.inf:", f"    {out} = {high}"]
    lines = ["def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):"]
    if alone:
        lines += ["    out = x", *(f"    {line}" for line in test), "    return out"]
    else:
        lines += ["    out = np.copy(x)", "    for at in np.ndindex(x.shape):"]
        lines += [*(f"        {line}" for line in test), "    return out"]
    return jit(lines, least=np.finfo(number).min, most=np.finfo(number).max)


@njit
def _places(obj, size):
    """Where in the result the values go that are inserted before these elements."""
    places = np.empty(len(obj), np.int64)
    for k in range(len(obj)):
        if obj[k] < -size or obj[k] > size:
            raise IndexError("index is out of bounds for the given array size")
        places[k] = obj[k] + size if obj[k] < 0 else obj[k]
    for rank, k in enumerate(np.argsort(places, kind="mergesort")):
        places[k] += rank
    return places


@njit
def _block(first, count, size):
    """The places of values that are inserted one after the other before one element."""
    if first < -size or first > size:
        raise IndexError("index is out of bounds for the given array size")
    return np.arange(count) + (first + size if first < 0 else first)


@stands_for(np.insert)
def inserted(arr, obj, values, axis=None):
    """Into the flattened array, of whose type the result is."""
    several = is_vector(obj) and isinstance(obj.dtype, types.Integer)
    known = is_number(values) or (isinstance(values, types.Array) and is_number(values.dtype))
    if not is_array(arr) or not is_none(axis) or not known:
        return None
    if not several and not isinstance(obj, types.Integer):
        return None
    lines = ["def insert(arr, obj, values, axis=None):", "    old = arr.flatten()"]
    if isinstance(values, types.Array):
        lines += ["    new = values.flatten()", "    count = new.size"]
        value = "new[k] if count > 1 else new[0]"
    else:
        lines.append("    count = 1")
        value = "values"
    if several:
        lines += ["    if len(obj) == 1:", "        places = block(obj[0], count, old.size)"]
        lines += ["    else:", "        if count != 1 and count != len(obj):"]
        lines.append("            raise ValueError('as many values as indices, or one')")
        lines.append("        places = places_of(obj, old.size)")
    else:
        lines.append("    places = block(obj, count, old.size)")
    lines += ["    out = np.empty(old.size + places.size, number)"]
    lines += ["    fresh = np.zeros(out.size, np.bool_)", "    for k in range(places.size):"]
    lines += ["        fresh[places[k]] = True", f"        out[places[k]] = {value}", "    n = 0"]
    lines += ["    for k in range(out.size):", "        if not fresh[k]:"]
    lines += ["            out[k] = old[n]", "            n += 1", "    return out"]
    names = {"places_of": _places, "block": _block, "number": number_class(arr.dtype)}
    return jit(lines, **names)


@stands_for(np.divmod)
def quotients_and_remainders(x1, x2):
    if not (is_array(x1) or is_array(x2)):
        return None
    return jit(["def divmod(x1, x2):", "    return np.floor_divide(x1, x2), np.remainder(x1, x2)"])


@stands_for(polynomial.polyint)
def antiderivative(c, m=1):
    if not is_vector(c):
        return None
    number = np.result_type(number_class(c.dtype), np.float64).type
    lines = ["def polyint(c, m=1):", "    out = np.empty(len(c) + m, number)"]
    lines += ["    for k in range(len(c)):", "        out[k] = c[k]"]
    lines += ["    for n in range(len(c), len(c) + m):", "        for j in range(n, 1, -1):"]
    lines += ["            out[j] = out[j - 1] / j", "        out[1] = out[0]"]
    lines += ["        out[0] = out[0] * 0", "    return trimmed(out)"]
    return jit(lines, number=number, trimmed=trimmed)
