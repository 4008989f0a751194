"""Keys: what random numbers are a function of, and how independent ones are made of one."""

import numpy as np
from numba.core import types
from numba.extending import overload

from numbad.random.generator_compiling import a_key, an_integer, inlined, public
from numbad.random.philox import block

_WORD = np.uint64(32)

# Domains of counters: blocks of different uses never meet, whatever the numbers.
NORMALS, UNIFORMS, KEYS, CHILDREN = np.uint32(0), np.uint32(1), np.uint32(2), np.uint32(3)
ZERO = np.uint32(0)


def key(seed):
    """A key: all random numbers of `numbad.random` and `numbad.sde` are functions of one.

    Parameters
    ----------
    seed : int
        Any integer of 64 bits; different ones give independent numbers.

    Returns
    -------
    numpy.uint64
        It can be kept in arrays and passed to compiled code. To derivatives it is a constant.

    Raises
    ------
    ArgumentError
        where `seed` is no integer.

    Examples
    --------
    >>> import numbad as nd
    >>> key = nd.random.key(42)
    >>> round(nd.random.normal(key, 0), 6) == round(nd.random.normal(key, 0), 6)
    True
    """
    return np.uint64(_key(seed))


@public(an_integer)
def _key(seed):
    return np.uint64(seed)


@inlined
def _joined(low, high):
    return (np.uint64(high) << _WORD) | np.uint64(low)


def split(key, num=None):
    """Two keys, or `num` keys, whose numbers are independent of one another's and of `key`'s.

    Parameters
    ----------
    key : numpy.uint64
        From `nd.random.key`.
    num : int, optional
        How many; an array of shape (num,) holds them. Without it, a tuple of two.

    Returns
    -------
    tuple of two keys, or array of `num` keys

    Raises
    ------
    ArgumentError
        where `key` is no key.

    Examples
    --------
    >>> import numbad as nd
    >>> for_prices, for_rates = nd.random.split(nd.random.key(1))
    >>> nd.random.split(for_prices, 3).shape
    (3,)
    """
    if num is None:
        return tuple(map(np.uint64, _split(key)))
    return _split_many(key, num)


@public(a_key)
def _split(key):
    a, b, c, d = block(key, np.uint64(0), ZERO, KEYS)
    return _joined(a, b), _joined(c, d)


@public(a_key, an_integer)
def _split_many(key, num):
    keys = np.empty(num, np.uint64)
    for k in range(num):
        a, b, c, d = block(key, np.uint64(k // 2), ZERO, KEYS)
        keys[k] = _joined(a, b) if k % 2 == 0 else _joined(c, d)
    return keys


def fold_in(key, number):
    """The key that belongs to `number` under `key`: one for each path, day or worker, in any order.

    Parameters
    ----------
    key : numpy.uint64
        From `nd.random.key`.
    number : int
        Any integer of 64 bits.

    Returns
    -------
    numpy.uint64

    Raises
    ------
    ArgumentError
        where `key` is no key or `number` no integer.

    Examples
    --------
    >>> import numbad as nd
    >>> key = nd.random.key(1)
    >>> bool(nd.random.fold_in(key, 3) != nd.random.fold_in(key, 4))
    True
    """
    return np.uint64(_fold_in(key, number))


@public(a_key, an_integer)
def _fold_in(key, number):
    a, b, _, _ = block(key, np.uint64(number), ZERO, CHILDREN)
    return _joined(a, b)


# The two differ from the functions above in Python alone, where Numba hands 64-bit integers out as ints:
# keys stay `numpy.uint64`, by which they are told from other integers.
@overload(key)
def _key_in_nopython(seed):
    return lambda seed: _key(seed)


@overload(split)
def _split_in_nopython(key, num=None):
    if isinstance(num, types.Omitted | types.NoneType) or num is None:
        return lambda key, num=None: _split(key)
    return lambda key, num=None: _split_many(key, num)


@overload(fold_in)
def _fold_in_in_nopython(key, number):
    return lambda key, number: _fold_in(key, number)
