"""Means over trajectories on the device: a thread takes the mean of some, the host that of all."""

import numpy as np
from numba import cuda
from numba.core import types

from numbad.cuda.kernels import DOUBLE, SINGLE, Kernel

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


def means(device, status, table, precision):
    """Over the last axis of a table, where the status is 0: how many those are, mean, standard error.

    They are sums in float64, in an order that depends on nothing but the shape.
    """
    *shape, count = table.shape
    rows = int(np.prod(shape))
    parts = max(1, min(count, max(32, _THREADS // rows)))
    found = device.empty((rows, parts, 3), np.float64)
    device.launch(_KERNELS[precision], [status, table.reshape(rows, count), found], rows * parts)
    counts, averages, squares = np.moveaxis(device.fetched(found), -1, 0)
    total = counts.sum(axis=1)
    mean = (counts * averages).sum(axis=1) / total
    squares = (squares + counts * (averages - mean[:, None]) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(squares / (total - 1.0) / total)
    return int(total[0]), mean.reshape(shape), error.reshape(shape)
