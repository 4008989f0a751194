"""Candidates of jumps as functions of (key, path, cell): how many a cell has, where, what belongs to each.

Of a process of jumps of rate at most `bound`, candidates come at that rate, each is taken with probability
rate / bound (P. Lewis, G. Shedler, Naval Research Logistics Quarterly 26 (1979) 403-413: thinning).
"""

import math

import numpy as np

from numbad.compilation.caching import enable
from numbad.errors import DataError, UnsupportedError
from numbad.forward.dual import duals_in
from numbad.random.box_muller import open_unit
from numbad.random.generator_compiling import DrawDispatcher
from numbad.random.philox import block
from numbad.sde.grid import constant

BY_RATE = (
    "the rate of jumps decides whether one happens, by a comparison: the derivative of a path by it is zero, "
    "that of a mean is not. Way out: weights. Let the rate be nd.stop_gradient(rate), and carry w in the "
    "state, with the drift stop_gradient(rate) - rate, and w + log(rate / stop_gradient(rate)) after a jump; "
    "the mean of exp(w) times what is made of a path has the right derivative"
)
WRONG_RATE = "the rate of jumps must lie between 0 and its bound, which it does not"
_COUNTS, _PLACES, _MARKS = np.uint32(20), np.uint32(21), np.uint32(22)  # domains, see `brownian`
_NUMBER, _WORD = np.uint32(8), np.uint64(32)
MOST = 100.0  # candidates in a cell, on average


@constant
def count_candidates(key, path, cell, mean):
    """How many candidates a cell has: Poisson's law, by inversion."""
    a, b, _, _ = block(key, np.uint64(cell), np.uint32(path), _COUNTS)
    u, n, chance = open_unit(a, b), 0, math.exp(-mean)
    below = chance
    while u > below and chance > 0.0:
        n += 1
        chance *= mean / n
        below += chance
    return n


@constant
def candidate(key, path, cell, number):
    """Where it is in the cell (0 to 1), a number within (0, 1) that decides, and a key of its own."""
    number = np.uint32(number) << _NUMBER
    a, b, c, d = block(key, np.uint64(cell), np.uint32(path), number | _PLACES)
    e, f, _, _ = block(key, np.uint64(cell), np.uint32(path), number | _MARKS)
    return open_unit(a, b), open_unit(c, d), (np.uint64(e) << _WORD) | np.uint64(f)


class RateDispatcher(DrawDispatcher):
    """A function of a rate, by which nothing is differentiated."""

    def numbad_pullback(self, wrt):
        raise UnsupportedError(BY_RATE)


def _plain(name, ty):
    if any(True for _ in duals_in(ty)):
        raise UnsupportedError(BY_RATE)


def _of_rate(function):
    options = {"nopython": True, "error_model": "numpy", "nogil": True}
    dispatcher = RateDispatcher(function, targetoptions=options)
    dispatcher.checks = (_plain,)
    return enable(dispatcher)


@_of_rate
def is_taken(rate, level, bound):
    """Whether a candidate is a jump."""
    if not 0.0 <= rate <= bound * (1.0 + 1e-12):
        raise DataError(WRONG_RATE)
    return level * bound < rate


@_of_rate
def unit_of(rate):
    """1.0, by which the state after a jump is multiplied: so that derivatives by the rate are refused."""
    return 1.0
