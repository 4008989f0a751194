"""Where trajectories go: to arrays on the host, portion by portion, or to arrays that stay on the GPU.

A collector has `bytes_fixed` and `bytes_each`, what it needs on the GPU besides the trajectories; `whole`,
why all trajectories must go at once, if they must; `add(portion)` and `result(failed)`; and for what other
processes have collected `found`, which can be pickled, and `take(found, first)`.
"""

from collections import namedtuple

import numpy as np

Trajectories = namedtuple("Trajectories", "ys derivatives status")
Trajectories.__doc__ = """What `ensemble` returns.

`ys`, shape (trajectories, len(ts), n): the solutions, NaN from the output on that a trajectory failed to
reach. `derivatives`, shape (trajectories, len(ts), n, numbers), with an entry for each number that was asked
for, in order; None where none was. `status`, shape (trajectories,): 0 where a trajectory reached its end.
"""

# What the kernels have written: trajectories are along the last axis; `slopes` is None without derivatives.
Portion = namedtuple("Portion", "first count ys slopes status")


class OnHost:
    """Arrays of NumPy's."""

    whole, bytes_fixed, bytes_each = None, 0, 0

    def __init__(self, device, count):
        self.device, self.count, self.tables = device, count, None

    @property
    def found(self):
        return self.tables

    def add(self, portion):
        tables = [
            None if table is None else self.device.fetched(table)
            for table in (portion.ys, portion.slopes, portion.status)
        ]
        self.take(tables, portion.first)

    def take(self, tables, first):
        if tables[-1].size == self.count:
            self.tables = tables
        else:
            self._put(tables, first)

    def _put(self, tables, first):
        if self.tables is None:
            self.tables = [
                None if t is None else np.empty((*t.shape[:-1], self.count), t.dtype)
                for t in tables
            ]
        for table, part in zip(self.tables, tables, strict=True):
            if part is not None:
                table[..., first : first + part.shape[-1]] = part

    def result(self, failed):
        ys, slopes, status = self.tables
        turned = None if slopes is None else np.moveaxis(slopes, -1, 0)
        return Trajectories(np.moveaxis(ys, -1, 0), turned, status)


class OnDevice:
    """The arrays that the kernels have written."""

    bytes_fixed, bytes_each = 0, 0
    whole = (
        "Arrays on the GPU come back whole where some are given there. Ways out: y0s and args as NumPy "
        "arrays, whose results come in portions; reduce=; fewer output times"
    )

    def __init__(self, device):
        self.device = device

    def add(self, portion):
        self.portion = portion

    def result(self, failed):
        turned = self.device.trajectories_first
        slopes = self.portion.slopes
        return Trajectories(
            turned(self.portion.ys), None if slopes is None else turned(slopes), self.portion.status
        )
