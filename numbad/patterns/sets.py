"""Sets of column numbers: small ones as frozensets, others as the bits of an int.

A float of a stencil depends on a few numbers out of very many, a sum on all of them: the one would
waste the bits, the other would copy itself at every term.
"""

from functools import lru_cache

import numpy as np

EMPTY = frozenset()
MOST = 64  # members of a frozenset


def union(a, b):
    """The union of two sets."""
    if a is b or not b:
        return a
    if not a:
        return b
    if type(a) is frozenset and type(b) is frozenset:
        both = a | b
        return both if len(both) <= MOST else _bits(both)
    return (a if type(a) is int else _bits(a)) | (b if type(b) is int else _bits(b))


def union_all(sets):
    """The union of several sets."""
    found = EMPTY
    for each in sets:
        found = union(found, each)
    return found


@lru_cache(maxsize=1024)
def _bits(members):
    found = 0
    for k in members:
        found |= 1 << k
    return found


def members(a):
    """The members in rising order, as an array."""
    if type(a) is frozenset:
        return np.array(sorted(a), np.int64)
    data = a.to_bytes((a.bit_length() + 7) // 8, "little")
    return np.flatnonzero(np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little"))
