"""Memory on the GPU for what an adjoint keeps of trajectories, which share it one after the other."""

import math

import numpy as np

from numbad.cuda.device import in_units
from numbad.cuda.trajectories.adjoint_march import ROWS_BESIDES
from numbad.cuda.trajectories.portions import FEWEST
from numbad.errors import DeviceError

# What it may take, in bytes: some waves of all threads that a GPU has room for.
LARGEST = 2**34


class Workspace:
    """Tables of outputs, of their cotangents and of steps; and how many steps there were.

    Outputs are rows of `width` numbers, steps of `kept`.
    """

    def __init__(self, device, precision, outputs, width, kept, budget):
        self.device, self.precision = device, precision
        self.outputs, self.width, self.kept = outputs, width, kept
        self.budget = budget
        self.tables, self._order, self._held = None, None, (0, 0)

    def slots(self, room):
        """How many trajectories of so many steps go at once."""
        return int(self.budget // self._bytes_each(room))

    def check(self, room, count):
        """DeviceError where not even a few of `count` trajectories have room for so many steps."""
        if self.slots(room) < min(FEWEST, count):
            raise DeviceError(
                f"nd.cuda.ensemble: the adjoint keeps {room} steps of each trajectory, "
                f"{in_units(self._bytes_each(room))}, and has {in_units(self.budget)} of memory on the GPU. "
                "Ways out: derivatives= without loss=, which keep none; precision='float32'; longer steps"
            )

    def reserve(self, room, slots):
        """Make the tables for so many trajectories of so many steps."""
        if self.tables and room == self._held[0] and slots <= self._held[1]:
            return
        self.tables = self._order = None  # first let go of what there is
        tables = [
            self.device.empty((*shape, slots), self.precision) for shape in self._shapes(room)
        ]
        self.tables = [*tables, self.device.empty((slots,), np.int32)]
        self._order = self.device.copied(np.arange(slots), np.int32)
        self._held = room, slots

    def numbers(self, some):
        """Ascending numbers of trajectories as an array on the device and what is to be added to it."""
        if some[-1] - some[0] == some.size - 1:  # no copy keeps the GPU waiting
            return self._order[: some.size], some[0]
        return self.device.copied(some, np.int32), 0

    def _shapes(self, room):
        """Those of the tables, without the axis of trajectories."""
        outputs = self.outputs, self.width
        return outputs, outputs, (room + ROWS_BESIDES, self.kept)

    def _bytes_each(self, room):
        numbers = sum(map(math.prod, self._shapes(room)))
        return 8 + numbers * np.dtype(self.precision).itemsize


def budget(device):
    """What is left to a workspace of the memory that is free now."""
    return min(LARGEST, device.free() // 2)
