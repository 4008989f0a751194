"""Means over trajectories on the device: a thread takes the mean of some, the host that of all."""

from collections import namedtuple

import numpy as np
from numba import cuda
from numba.core import types

from numbad.cuda.kernels import DOUBLE, SINGLE, Kernel

Means = namedtuple("Means", "mean error derivatives paths failed")
Means.__doc__ = """What `ensemble` returns with reduce="mean".

`mean` of the solutions and its standard `error`, shape (len(ts), n); the mean of `derivatives`, shape
(len(ts), n, numbers), or None; how many `paths` they are over, those that reached their end; `failed`: the
number of the first that did not, -1 if all did.
"""

# Count, mean and sum of squared deviations of the rows of a table.
Moments = namedtuple("Moments", "count mean squares")

_THREADS = 2**17  # of all columns together: their means are a few MB to copy


def _partial_means(status, table, found):
    """Count, mean and sum of squared deviations of every so manieth entry of a row; B. P. Welford (1962)."""
    thread = cuda.grid(1)
    parts = found.shape[1]
    if thread < found.shape[0] * parts:
        row, part = thread // parts, thread % parts
        count, mean, squares = 0.0, 0.0, 0.0
        for i in range(part, status.size, parts):
            if status[i] == 0:
                count += 1.0
                off = table[row, i] - mean
                mean += off / count
                squares += off * (table[row, i] - mean)
        found[row, part, 0] = count
        found[row, part, 1] = mean
        found[row, part, 2] = squares


def _kernel(precision):
    scalar = {SINGLE: types.float32, DOUBLE: types.float64}[precision]
    given = types.int32[::1], types.Array(scalar, 2, "C"), types.Array(types.float64, 3, "C")
    return Kernel(_partial_means, given)


_KERNELS = {precision: _kernel(precision) for precision in (SINGLE, DOUBLE)}


def moments(device, status, table, precision):
    """The moments over the last axis of a table, of where the status is 0.

    They are sums in float64, in an order that depends on nothing but the shape.
    """
    *shape, count = table.shape
    rows = int(np.prod(shape))
    parts = max(1, min(count, max(32, _THREADS // rows)))
    found = device.empty((rows, parts, 3), np.float64)
    device.launch(_KERNELS[precision], [status, table.reshape(rows, count), found], rows * parts)
    counts, averages, squares = np.moveaxis(device.fetched(found), -1, 0)
    return _shaped(_merged(counts.T, averages.T, squares.T), shape)


def _merged(counts, means, squares):
    """The moments of what is made of parts, which lie along the first axis."""
    total = counts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean = (counts * means).sum(axis=0) / total
    apart = np.where(counts > 0.0, means - mean, 0.0)
    return Moments(total, mean, (squares + counts * apart**2).sum(axis=0))


def _shaped(found, shape):
    return Moments(*(part.reshape(shape) for part in found))


def merged(parts):
    """The moments of several portions."""
    counts, means, squares = (np.stack(each) for each in zip(*parts, strict=True))
    return _merged(counts, np.where(counts > 0.0, means, 0.0), squares)


def standard_error(found):
    """That of the mean; NaN of a single number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(found.squares / (found.count - 1.0) / found.count)


class Averages:
    """Collects means."""

    whole, bytes_fixed, bytes_each = None, 3 * 8 * _THREADS, 0

    def __init__(self, device, precision):
        self.device, self.precision, self.found = device, precision, []

    def add(self, portion):
        tables = [portion.ys] if portion.slopes is None else [portion.ys, portion.slopes]
        given = self.device, portion.status
        self.found.append([moments(*given, table, self.precision) for table in tables])

    def take(self, found, first):
        self.found += found

    def result(self, failed):
        found, *slopes = (merged(parts) for parts in zip(*self.found, strict=True))
        by = slopes[0].mean if slopes else None
        return Means(found.mean, standard_error(found), by, int(found.count.flat[0]), failed)
