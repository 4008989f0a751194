"""Memory on the GPU for what an adjoint keeps of trajectories, which share it one after the other."""

import numpy as np

from numbad.cuda.device import in_units
from numbad.cuda.trajectories.accelerator import bytes_of
from numbad.cuda.trajectories.adjoint_march import rows_of
from numbad.cuda.trajectories.portions import FEWEST
from numbad.errors import DeviceError

# What it may take, in bytes: some waves of all threads that a GPU has room for.
LARGEST = 2**33
# Rows of tables begin where lines of the GPU's memory do: a line that two warps write goes there twice.
IN_LINES = 32


class Workspace:
    """Tables of outputs, of their cotangents and of steps; how many steps there were; who had no room.

    Outputs are rows of `width` numbers; `record` says how steps are kept.
    """

    def __init__(self, device, precision, outputs, width, record, budget):
        self.device, self.precision = device, precision
        self.outputs, self.width, self.record = outputs, width, record
        self.budget = budget
        self.tables, self._memory, self._size, self._held = None, None, 0, None

    def slots(self, room):
        """How many trajectories of so many steps go at once."""
        most = int(self.budget // self._bytes_each(room))
        return most - most % IN_LINES if most > IN_LINES else most

    def check(self, room, count):
        """DeviceError where not even a few of `count` trajectories have room for so many steps."""
        if self.slots(room) < min(FEWEST, count):
            raise DeviceError(
                f"nd.cuda.ensemble: the adjoint keeps {room} steps of each trajectory, "
                f"{in_units(self._bytes_each(room))}, and has {in_units(self.budget)} of memory on the GPU. "
                "Ways out: derivatives= without loss=, which keep none; precision='float32'; longer steps"
            )

    def reserve(self, room, slots):
        """Make the tables for so many trajectories of so many steps, in the memory that there is."""
        wanted = room, slots if slots < IN_LINES else -(-slots // IN_LINES) * IN_LINES
        if wanted == self._held:
            return
        kinds = self._kinds(*wanted)
        if bytes_of(kinds) > self._size:
            self.tables = self._memory = None  # first let go of what there is
            self._size = bytes_of(kinds)
            self._memory = self.device.empty((self._size,), np.uint8)
        self.tables, self._held = self.device.carved(self._memory, kinds), wanted

    def _kinds(self, room, slots):
        """Shapes and kinds of the tables."""
        outputs = self.outputs, self.width, slots
        steps = rows_of(self.record, room), self.width + self.record.numbers, slots
        tables = [(shape, self.precision) for shape in (outputs, outputs, steps)]
        return [*tables, ((slots,), np.int32), ((slots,), np.int32)]

    def _bytes_each(self, room):
        return bytes_of(self._kinds(room, IN_LINES)) / IN_LINES


def budget(device):
    """What is left to a workspace of the memory that is free now."""
    return min(LARGEST, device.free() // 2)
