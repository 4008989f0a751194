"""`normal` and `uniform`: random numbers as functions of a key and a number."""

import numpy as np

from numbad.random.box_muller import normal_pair, open_unit
from numbad.random.generator_compiling import a_key, an_integer, inlined, public
from numbad.random.keys import NORMALS, UNIFORMS, ZERO
from numbad.random.philox import block

# A block gives two numbers. Of each run of 2 * HALF numbers the first half takes the first ones of HALF
# blocks, the second half the second ones: arrays are then filled in order, by vectors.
HALF = 64
_SHIFT, _RUN, _IN_HALF = np.uint64(7), np.uint64(6), np.uint64(HALF - 1)


@inlined
def _block_of(i):
    return ((i >> _SHIFT) << _RUN) | (i & _IN_HALF)


@inlined
def _is_second(i):
    return (i & np.uint64(HALF)) != np.uint64(0)


@inlined
def _two_normals(key, number):
    a, b, c, d = block(key, number, ZERO, NORMALS)
    return normal_pair(a, b, c, d)


@inlined
def _two_uniforms(key, number):
    a, b, c, d = block(key, number, ZERO, UNIFORMS)
    return open_unit(a, b), open_unit(c, d)


@public(a_key, an_integer)
def normal(key, i):
    """Number `i` of the standard normal numbers of a key.

    It is a function of `key` and `i` alone, the same bits in any order and any thread.

    Parameters
    ----------
    key : numpy.uint64
        From `nd.random.key`, `split` or `fold_in`.
    i : int
        Any integer of 64 bits; different ones give independent numbers.

    Returns
    -------
    float
        Of mean 0 and variance 1, by Box and Muller (1958) from a block of Philox4x32-10 (Salmon et al.,
        2011); its absolute value is below 8.6.

    Raises
    ------
    ArgumentError
        where `key` is no key or `i` no integer.

    Examples
    --------
    A Monte Carlo loop, and its derivative by the volatility:

    >>> import math
    >>> import numbad as nd
    >>> def call(vol, key, paths):
    ...     total = 0.0
    ...     for i in range(paths):
    ...         total += max(math.exp(vol * nd.random.normal(key, i) - 0.5 * vol**2) - 1.0, 0.0)
    ...     return total / paths
    >>> vega = nd.grad(call, mode="reverse")(0.2, nd.random.key(0), 100_000)
    >>> abs(vega - math.exp(-0.005) / math.sqrt(2.0 * math.pi)) < 0.01      # Black and Scholes
    True
    """
    number = np.uint64(i)
    first, second = _two_normals(key, _block_of(number))
    return second if _is_second(number) else first


@public(a_key, an_integer)
def uniform(key, i):
    """Number `i` of the numbers of a key that are uniform on the open interval (0, 1).

    Parameters, errors and meaning as for `normal`; the two are independent of each other. Of 52 random bits.

    Examples
    --------
    >>> import numbad as nd
    >>> 0.0 < nd.random.uniform(nd.random.key(5), 0) < 1.0
    True
    """
    number = np.uint64(i)
    first, second = _two_uniforms(key, _block_of(number))
    return second if _is_second(number) else first


@public(a_key, an_integer)
def normals(key, n):
    """The first `n` normal numbers of a key as an array: those of `normal`, at half the price.

    Examples
    --------
    >>> import numbad as nd
    >>> key = nd.random.key(5)
    >>> bool(nd.random.normals(key, 1000)[700] == nd.random.normal(key, 700))
    True
    """
    out = np.empty(n)
    whole = n // (2 * HALF)
    for run in range(whole):
        left = out[2 * HALF * run : 2 * HALF * run + HALF]
        right = out[2 * HALF * run + HALF : 2 * HALF * (run + 1)]
        for j in range(HALF):
            left[j], right[j] = _two_normals(key, np.uint64(run * HALF + j))
    for i in range(whole * 2 * HALF, n):
        out[i] = normal(key, i)
    return out


@public(a_key, an_integer)
def uniforms(key, n):
    """The first `n` uniform numbers of a key as an array: those of `uniform`, at half the price.

    Examples
    --------
    >>> import numbad as nd
    >>> key = nd.random.key(5)
    >>> bool(nd.random.uniforms(key, 100)[70] == nd.random.uniform(key, 70))
    True
    """
    out = np.empty(n)
    whole = n // (2 * HALF)
    for run in range(whole):
        left = out[2 * HALF * run : 2 * HALF * run + HALF]
        right = out[2 * HALF * run + HALF : 2 * HALF * (run + 1)]
        for j in range(HALF):
            left[j], right[j] = _two_uniforms(key, np.uint64(run * HALF + j))
    for i in range(whole * 2 * HALF, n):
        out[i] = uniform(key, i)
    return out
