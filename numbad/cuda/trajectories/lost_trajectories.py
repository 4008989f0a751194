"""The trajectories that failed: how many, which is the first, and why."""

import warnings

import numpy as np
from numba.core import types

from numbad.cuda.kernels import DOUBLE, SINGLE, Kernel
from numbad.cuda.trajectories.kernel_source import RAISED, survey
from numbad.errors import IntegrationError, NumbadWarning


def _survey_kernel(precision):
    scalar = {SINGLE: types.float32, DOUBLE: types.float64}[precision]
    tables = types.Array(scalar, 3, "C"), types.Array(scalar, 4, "C")
    return Kernel(survey, (types.int32[::1], *tables, types.int32[::1]))


_SURVEYS = {precision: _survey_kernel(precision) for precision in (SINGLE, DOUBLE)}


class LostTrajectories:
    """Those found so far; `first` is -1 while there are none."""

    def __init__(self, device, precision, told):
        self.device, self.precision, self.told = device, precision, told
        self.count, self.first, self.why = 0, -1, None

    @staticmethod
    def nothing_found(count):
        """The tally before a look at so many: how many failed, and which was the first."""
        return np.array([0, count], np.int32)

    def look(self, portion, stopped, tally, waits):
        """Look at a portion; without waiting for it, NaN are put where there is nothing else."""
        given = [portion.status, portion.ys, portion.slopes, tally]
        self.device.launch(_SURVEYS[self.precision], given, portion.count)
        count, first = self.device.fetched(tally) if waits else (0, 0)
        if count and not self.count:
            self.first, self.why = portion.first + int(first), self._why(portion, stopped, first)
        self.count += int(count)

    @property
    def found(self):
        return self.count, self.first, self.why

    def take(self, found, first):
        """What another process has found, whose trajectories are from `first` on."""
        count, number, why = found
        if count and (not self.count or first + number < self.first):
            self.first, self.why = first + number, why
        self.count += count

    def _why(self, portion, stopped, first):
        """Why a trajectory failed."""
        at = slice(first, first + 1)
        code = int(self.device.fetched(portion.status[at])[0])
        place = float(self.device.fetched(stopped[at])[0])
        return "fun raised an exception" if code == RAISED else self.told(code, place)

    def tell(self, of):
        """Warn; IntegrationError where none is left."""
        if not self.count:
            return
        told = f"{self.count} of {of} trajectories failed; the first is number {self.first}: {self.why}"
        if self.count == of:
            raise IntegrationError(told)
        warnings.warn(f"{told}. The others are right", NumbadWarning, stacklevel=4)
