"""A loss of each trajectory and its gradient, by the discrete adjoint, in a workspace of limited size."""

import math
from collections import namedtuple
from functools import cached_property

import numpy as np
from numba.core import types
from numba.core.registry import cpu_target

from numbad.cuda.trajectories.adjoint_kernels import (
    BACK_RAISED,
    LOSS_NOT_A_NUMBER,
    LOSS_RAISED,
    AdjointProblem,
    back_kernel,
    loss_kernel,
    recording_kernel,
)
from numbad.cuda.trajectories.adjoint_march import NO_ROOM, even_step, record_of
from numbad.cuda.trajectories.averages import Means
from numbad.cuda.trajectories.collection import Portion
from numbad.cuda.trajectories.ode_march import check_keys
from numbad.cuda.trajectories.portions import FEWEST
from numbad.cuda.trajectories.workspace import Workspace, budget
from numbad.errors import ArgumentError, UnsupportedError
from numbad.operators.operator_dispatcher import as_dispatcher
from numbad.sde.ensemble_source import reduced_type

Losses = namedtuple("Losses", "values gradients status")
Losses.__doc__ = """What `ensemble` returns with a loss.

`values`, shape (trajectories,): the loss of each trajectory. `gradients`, shape (trajectories, numbers), with
an entry for each number that was asked for, in order. `status`, shape (trajectories,): 0 where a trajectory
reached its end; elsewhere both are NaN.
"""

# So many adaptive steps there is room for at first, and so many times as many where some took more.
STEPS, MORE = 128, 4
# Of more than so many trajectories, these are tried first: room is made for this share of them.
SAMPLE, SHARE = 4096, 0.99
# Where one of so many trajectories has no room, there is more for all that follow.
FEW = 8

_REASONS = {
    LOSS_RAISED: "loss raised an exception",
    LOSS_NOT_A_NUMBER: (
        "the loss is NaN, or the loops in it change more numbers than its tape has room for (16 KiB: see "
        "tape= of nd.cuda.grad)"
    ),
    BACK_RAISED: (
        "a loop in fun, drift or diffusion changes more numbers than the tape of its derivative has room for"
    ),
    NO_ROOM: (
        "its steps need more memory than is free on the GPU; derivatives= without loss= needs none for them"
    ),
}


class LossGradient:
    """What is taken of the trajectories of a request; a workspace that they share one after the other."""

    def __init__(self, request, loss):
        self.request, self.loss, self.device = request, loss, request.device
        self.usual, self.workspace, self.nobody = None, None, None

    @classmethod
    def of(cls, request, loss):
        """Of what a user gives as loss; ArgumentError or UnsupportedError where that cannot be."""
        if not callable(loss):
            raise ArgumentError(
                "nd.cuda.ensemble: loss is a function of the array (len(ts), n) of one trajectory, which "
                f"returns a float, not {loss!r}"
            )
        if request.reduce not in (None, "mean"):
            raise ArgumentError(
                "nd.cuda.ensemble: with loss=, reduce is None or 'mean', of the loss and its gradient"
            )
        if not request.by:
            raise ArgumentError(
                "nd.cuda.ensemble: loss= comes with derivatives=, which say what its gradient is by"
            )
        cls.check_plan(request)
        loss = as_dispatcher("nd.cuda.ensemble", getattr(loss, "py_func", loss))
        returned = reduced_type(cpu_target.typing_context, loss)
        if not isinstance(returned, types.Float):
            raise ArgumentError(f"nd.cuda.ensemble: loss returns one float, not {returned}")
        return cls(request, loss)

    @staticmethod
    def check_plan(request):
        """UnsupportedError where there is no adjoint of what the solver does."""
        if request.plan.events:
            raise UnsupportedError(
                "nd.cuda.ensemble has no adjoint of events. Way out: derivatives= without loss=, by forward "
                "mode; reduce= takes means of a function"
            )
        check_keys(request.keys)

    @cached_property
    def budget(self):
        """The bytes that the workspace may take."""
        return budget(self.device)

    def kernels(self, times):
        """Those of the way there, of the loss and of the way back. ArgumentError where there is no step."""
        if len(times) < 2:
            raise ArgumentError("nd.cuda.ensemble: with loss=, ts are two times or more")
        there, back = self.there_and_back(times)
        return [there, loss_kernel(self.loss, self.request.precision), back]

    def there_and_back(self, times):
        """The kernels that record trajectories and that go back along them."""
        request, plan = self.request, self.request.plan
        given = plan.problem, plan.settings, request.y0, request.args
        made = AdjointProblem(*given, len(times) != 2, request.precision)
        return recording_kernel(made), back_kernel(made, tuple(request.by))

    def told(self, code, place, times):
        """Why a trajectory failed."""
        return _REASONS.get(code) or self.request.plan.told(code, place, times)

    def result(self, found):
        """What was collected, with the name of what it is."""
        if isinstance(found, Means):
            slopes = found.derivatives[0, 0]
            return found._replace(
                mean=float(found.mean[0, 0]), error=float(found.error[0, 0]), derivatives=slopes
            )
        return Losses(found.ys[:, 0, 0], found.derivatives[:, 0, 0], found.status)

    # -- a portion ----------------------------------------------------------------------------------

    def portion(self, kernels, times, given, first, count):
        """The losses of some trajectories, and where they stopped, from leaves and times on the device.

        Values are in the place of ys, gradients in that of slopes.
        """
        precision, numbers = self.request.precision, len(self.request.by)
        shapes = (1, 1, count), (1, 1, numbers, count), (count,), (count,)
        kinds = zip(shapes, (precision, precision, np.int32, precision), strict=True)
        *tables, stopped = self.device.several_empty(list(kinds))
        found = Portion(first, count, *tables)
        self._begin(times)
        if self.adaptive and count > SAMPLE and self.workspace.slots(STEPS) >= SAMPLE:
            self.usual = self._steps_of_most(kernels[0], given, found, stopped)
        self._sweep_all(kernels, given, found, stopped)
        return found, stopped

    def _begin(self, times):
        """A workspace, and for how many steps there is room at first."""
        if self.workspace is not None:
            return
        request, (self.usual, record) = self.request, self.room(times)
        given = request.precision, len(times), request.width, record
        self.workspace = Workspace(self.device, *given, self.budget)
        self.workspace.check(self.usual, request.count)
        self.nobody = self.device.empty((0,), np.int32)

    def room(self, times):
        """For how many steps there is room at first, and how they are recorded."""
        problem, settings = self._problem()
        record = record_of(problem, settings)
        if self.adaptive:
            return STEPS, record
        steps = math.ceil(1.001 * abs(times[-1] - times[0]) / even_step(settings))
        return int(min(steps, settings.max_steps)) + 1, record

    def _problem(self):
        return self.request.plan.problem, self.request.plan.settings

    @property
    def adaptive(self):
        return self._problem()[0].tableau.adaptive

    @property
    def most(self):
        """How many steps a trajectory may take; what takes more fails."""
        return self._problem()[1].max_steps

    def _steps_of_most(self, record, given, found, stopped):
        """How many steps there is to be room for, from what a sample of the trajectories takes."""
        some = np.linspace(0, found.count - 1, SAMPLE).astype(np.int32)
        numbers, room = self.device.copied(some, np.int32), STEPS
        while True:
            counts = self.device.copied([0, SAMPLE, 0], np.int32)
            self.workspace.reserve(room, SAMPLE)
            ys, _, states, steps, missed = self.workspace.tables
            results = numbers, counts, found.status, stopped, ys, states, steps, missed
            self.device.launch(record, [*given, *results], SAMPLE)
            taken = np.quantile(self.device.fetched(steps[:SAMPLE]), SHARE, method="higher")
            if taken < room:
                return int(taken) + 1
            more = min(MORE * room, self.most)
            if more == room or self.workspace.slots(more) < SAMPLE:
                return room
            room = more

    def _sweep_all(self, kernels, given, found, stopped):
        """As many at once as there is room for, and again those of more steps than there was room for."""
        todo, later, room = range(found.count), {}, self.usual
        while len(todo):
            slots = self.workspace.slots(room)
            if slots == 0:
                return  # of those that have no room even alone, as their status says
            some, todo = todo[:slots], todo[slots:]
            self.workspace.reserve(room, len(some))
            missed = self._sweep(some, kernels, given, found, stopped)
            more = min(MORE * room, self.most)
            if missed.size:
                later.setdefault(more, []).append(missed)
            if missed.size * FEW > len(some) and self.workspace.slots(more) >= FEWEST:
                self.usual = max(self.usual, more)
            if len(todo):
                room = max(room, self.usual)
            elif later:
                room = min(later)
                todo = np.sort(np.concatenate(later.pop(room)))

    def _sweep(self, some, kernels, given, found, stopped):
        """There and back, of a range or an array of trajectories; the numbers of those without room."""
        is_range = isinstance(some, range)
        numbers = self.nobody if is_range else self.device.copied(some, np.int32)
        counts = self.device.copied([some[0] if is_range else 0, len(some), 0], np.int32)
        ys, seeds, states, steps, missed = self.workspace.tables
        values, slopes, status = found.ys, found.slopes, found.status
        arguments = (
            [*given, numbers, counts, status, stopped, ys, states, steps, missed],
            [numbers, counts, status, ys, seeds, values, slopes],
            [*given, numbers, counts, status, seeds, states, steps, slopes],
        )
        for kernel, each in zip(kernels, arguments, strict=True):
            self.device.launch(kernel, each, len(some))
        without = 0
        if self.adaptive:
            without = int(self.device.fetched(counts)[2])
        return self.device.fetched(missed[:without]) if without else np.zeros(0, np.int32)
