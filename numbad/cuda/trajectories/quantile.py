"""Quantiles over trajectories on the device, exact: the numbers of a row are counted, halving what is left.

A number's bits, read as an integer, grow with it. So that which has k smaller ones is found by halving the
range of integers as often as there are bits, and one count over the row each time; counts are integers, the
same in any order.
"""

import numpy as np
from numba import cuda
from numba.core import types

from numbad.cuda.kernels import DOUBLE, SINGLE, Kernel
from numbad.errors import UnsupportedError
from numbad.sde.quantiles_of_paths import Quantiles, checked_levels

_THREADS = 2**17
_BITS = {SINGLE: np.int32, DOUBLE: np.int64}


def quantiles(*levels):
    """Quantiles over trajectories, for `reduce` of `nd.cuda.ensemble`.

    Parameters
    ----------
    levels : floats
        Each from 0 to 1: 0.5 is the median.

    Returns
    -------
    object
        With `reduce=` it, `nd.cuda.ensemble` returns `Quantiles(values, levels, paths, failed)`, as
        `nd.sde.ensemble` does with `nd.sde.quantiles`, which is taken as well: exact quantiles, between two
        numbers on the line through them, as `numpy.quantile` has them (R. J. Hyndman, Y. Fan, The American
        Statistician 50 (1996), definition 7).

    Raises
    ------
    ArgumentError
        for levels that are none.

    Examples
    --------
    ::

        bands = nd.cuda.ensemble(solve, y0s, ts, args, key, reduce=nd.cuda.quantiles(0.05, 0.5, 0.95))
        low, median, high = bands.values  # each (len(ts), n)
    """
    return checked_levels("nd.cuda.quantiles", levels)


def _counter(largest):
    def count_up_to(status, bits, bounds, found):
        """How many numbers of a row have at most a bound's place; a thread counts some of a row."""
        thread = cuda.grid(1)
        rows, targets, parts = found.shape
        if thread < rows * targets * parts:
            part, target, row = (
                thread % parts,
                thread // parts % targets,
                thread // parts // targets,
            )
            bound, count = bounds[row, target], 0
            for i in range(part, status.size, parts):
                place = np.int64(bits[row, i])
                if place < 0:
                    place = -1 - (place & largest)
                count += status[i] == 0 and place <= bound
            found[row, target, part] = count

    return count_up_to


def _kernel(precision):
    bits = {SINGLE: types.int32, DOUBLE: types.int64}[precision]
    given = types.int32[::1], bits[:, ::1], types.int64[:, ::1], types.int64[:, :, ::1]
    return Kernel(_counter(int(np.iinfo(_BITS[precision]).max)), given)


_KERNELS = {precision: _kernel(precision) for precision in (SINGLE, DOUBLE)}


class QuantileSearch:
    """Collects all trajectories, and finds quantiles among them."""

    bytes_fixed, bytes_each = 2 * 8 * _THREADS, 0
    whole = (
        "Quantiles need all trajectories at once. Ways out: fewer output times, precision='float32', "
        "or reduce='mean'"
    )

    def __init__(self, device, precision, levels, derivatives):
        if derivatives:
            raise UnsupportedError(
                "nd.cuda.ensemble has no derivatives of quantiles: the mean of derivatives is not that of a "
                "quantile. Leave derivatives= out, or take a mean"
            )
        self.device, self.precision, self.levels = device, precision, levels

    def add(self, portion):
        self.portion = portion

    def result(self, failed):
        *shape, count = self.portion.ys.shape
        good = int((self.device.fetched(self.portion.status) == 0).sum())
        places = np.array(self.levels) * (good - 1)
        below = np.floor(places).astype(np.int64)
        ranks = np.concatenate([below, np.minimum(below + 1, good - 1)])
        table = self.portion.ys.reshape(int(np.prod(shape)), count)
        low, high = np.split(self._of_ranks(table, ranks).astype(float), 2, axis=1)
        found = low + (places - below) * (high - low)
        return Quantiles(found.T.reshape(-1, *shape), tuple(self.levels), good, failed)

    def _of_ranks(self, table, ranks):
        """In each row of a table, the numbers that so many others are below."""
        rows, count = table.shape
        kind = _BITS[self.precision]
        low = np.full((rows, len(ranks)), np.iinfo(kind).min, np.int64)
        high = np.full((rows, len(ranks)), np.iinfo(kind).max, np.int64)
        parts = max(1, min(count, _THREADS // low.size))
        bits, found = table.view(kind), self.device.empty((*low.shape, parts), np.int64)
        while (low < high).any():
            middle = (low & high) + ((low ^ high) >> 1)
            given = [self.portion.status, bits, self.device.copied(middle, np.int64), found]
            self.device.launch(_KERNELS[self.precision], given, low.size * parts)
            enough = self.device.fetched(found).sum(axis=2) > ranks
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        return _numbers(low, kind)


def _numbers(places, kind):
    """The floats with places in the order."""
    bits = np.where(places < 0, (-1 - places) | np.iinfo(kind).min, places).astype(kind)
    return bits.view({np.int32: np.float32, np.int64: np.float64}[kind])
