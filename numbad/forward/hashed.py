"""Dual numbers in sets, as keys of dictionaries, and in `hash`: by their values.

Of equal elements the first one is kept, with its partials, as the function itself keeps it.
"""

import operator

from numba.core import types
from numba.extending import overload, overload_method

from .access import strip
from .dual import Dual


@overload_method(Dual, "__hash__")
def _hash(x):
    return lambda x: hash(strip(x))


@overload(operator.contains)
def _contains(collection, key):
    """Sets of constants do not hold what is asked for."""
    if not isinstance(collection, types.Set) or not isinstance(key, Dual):
        return None
    if isinstance(collection.dtype, Dual):
        return None
    return lambda collection, key: strip(key) in collection
