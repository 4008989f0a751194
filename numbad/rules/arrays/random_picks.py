"""Elements picked or reordered at random: their places are drawn, as Numba draws the elements."""

import random

import numpy as np
from numba import njit
from numba.core import types

from .nests import jit, number_class
from .sampled import is_vector
from .table import is_array, is_none, stands_for


@stands_for(np.random.choice)
def choice(a, size=None, replace=True):
    if not (is_vector(a) and is_array(a)):
        return None
    lines = ["def choice(a, size=None, replace=True):"]
    if is_none(size):
        return jit([*lines, "    return a[np.random.choice(len(a))]"])
    lines += ["    places = np.random.choice(len(a), size, replace)"]
    lines += ["    out = np.empty(places.shape, number)", "    for at in np.ndindex(places.shape):"]
    lines += ["        out[at] = a[places[at]]", "    return out"]
    return jit(lines, number=number_class(a.dtype))


def _permutation(parameters, drawn, x):
    if not is_array(x) or x.ndim == 0:
        return None
    lines = [f"def permutation({parameters}):", f"    order = {drawn}", "    out = x.copy()"]
    lines += ["    for k in range(len(order)):", "        out[k] = x[order[k]]", "    return out"]
    return jit(lines)


@stands_for(np.random.permutation)
def permutation(x):
    return _permutation("x", "np.random.permutation(x.shape[0])", x)


@stands_for(method="permutation")
def permutation_by_generator(rng, x):
    """Along the first axis."""
    if not isinstance(rng, types.NumPyRandomGeneratorType):
        return None
    return _permutation("rng, x", "rng.permutation(x.shape[0])", x)


# -- in place ------------------------------------------------------------------------------------


@njit
def _reorder(x, order):
    before = x.copy()
    for k in range(x.shape[0]):
        x[k] = before[order[k]]


@njit
def shuffle(x):
    order = np.arange(x.shape[0])
    np.random.shuffle(order)  # noqa: NPY002  (what users call)
    _reorder(x, order)


@njit
def shuffle_by_python(x):
    order = np.arange(x.shape[0])
    random.shuffle(order)
    _reorder(x, order)


@njit
def shuffle_by_generator(rng, x):
    """Along the first axis."""
    order = np.arange(x.shape[0])
    rng.shuffle(order)
    _reorder(x, order)


@stands_for(method="shuffle")
def shuffle_of_a_generator(rng, x):
    known = isinstance(rng, types.NumPyRandomGeneratorType) and is_array(x) and x.ndim > 0
    return shuffle_by_generator if known else None
