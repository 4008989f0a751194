"""Arrays made of others: powers, differences, counts, grids, conjugates, accumulations without NaN."""

import numpy as np
from numba.core import types
from numpy.polynomial import polynomial

from .nests import jit, nest, number_class, subscript
from .polynomials import trimmed
from .sampled import is_number, is_real, is_vector
from .table import is_array, is_none, stands_for


def _copied(a, function, name):
    """A function applied to each element, as a new array."""
    at = subscript(a.ndim)
    lines = [f"def {name}(a):", "    out = np.empty(a.shape, number)"]
    body = [f"out{at} = {function.format(f'a{at}')}"]
    lines += nest([f"a.shape[{k}]" for k in range(a.ndim)], body)
    return jit([*lines, "    return out"], number=number_class(a.dtype))


def _conjugate(a):
    if not is_array(a):
        return None
    return _copied(a, "np.conj({})" if isinstance(a.dtype, types.Complex) else "{}", "conjugate")


stands_for(method="conj")(_conjugate)
stands_for(method="conjugate")(_conjugate)


def _accumulated(a, start, symbol):
    """Along all elements in C order; what is NaN changes nothing."""
    if not is_array(a):
        return None
    x = f"a{subscript(a.ndim)}"
    lines = ["def accumulated(a):", "    out, total, n = np.empty(a.size, number), start, 0"]
    body = [f"if {x} == {x}:", f"    total {symbol}= {x}", "out[n] = total", "n += 1"]
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


@stands_for(np.full_like)
def filled(arr, fill_value, dtype=None, shape=None):
    if not is_array(arr) or not is_none(dtype) or not is_none(shape) or not is_number(fill_value):
        return None
    lines = ["def full_like(arr, fill_value, dtype=None, shape=None):"]
    lines += ["    out = np.empty_like(arr)", "    out[...] = fill_value", "    return out"]
    return jit(lines)


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
