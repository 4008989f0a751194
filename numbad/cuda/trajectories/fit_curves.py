"""The curves of a fit on a GPU: an experiment with the numbers of one start in each thread.

Other than in `ensemble`, a trajectory has the times of its experiment: its steps are those of the CPU.
"""

import numpy as np
from numba.core import types

from numbad.compilation.memo import built_once
from numbad.cuda.kernels import DOUBLE, Kernel
from numbad.cuda.trajectories.accelerator import Accelerator
from numbad.cuda.trajectories.given import LeafArray
from numbad.cuda.trajectories.kernel_source import RAISED, argument_types, kernel_function
from numbad.cuda.trajectories.ode_march import METHODS, OWN_RULE, OdePlan, beyond, goes, march_with
from numbad.cuda.trajectories.portions import portion, portions
from numbad.cuda.trajectories.seeds import chunk_size, passes
from numbad.errors import IntegrationError
from numbad.fit.evaluate import listed_numbers, named_class, state_source
from numbad.forward.dualize import has_own_rule
from numbad.ode import solver
from numbad.ode.failure import SolveError
from numbad.ode.methods import find_method

_WAY_OUT = 'device="cpu", the default, does the same without one'
_FEWER = 'Take fewer times of observation, or device="cpu"'


def missing(problem):
    """What there is no code for in the solver of a fit, None where all goes."""
    method = find_method(problem.solving.method)
    if not goes(method):
        return f"method={problem.solving.method!r}; {METHODS}"
    if has_own_rule(problem.fun):
        return OWN_RULE
    return beyond(method, problem.shape.components)


class FitCurves:
    """The solutions of all experiments, and their derivatives by what varies, at several points at once."""

    def __init__(self, problem):
        self.device, self.shape, trials = Accelerator(), problem.shape, problem.trials
        self.device.need('fit_ode with device="cuda"', _WAY_OUT)
        solve = solver(problem.fun, **problem.solving.options())
        times = [trial.observations.flat[0] for trial in trials]
        self.outputs = np.array([len(ts) for ts in times])
        table = np.zeros((len(trials), self.outputs.max()))
        for row, ts in zip(table, times, strict=True):
            row[: len(ts)] = ts
        constants = np.array([[*t.known[: self.shape.scalars], *t.y0] for t in trials])
        copied = self.device.copied
        self.constants = [copied(constants, np.float64), copied(table, np.float64)]
        self.constants.append(copied(self.outputs, np.int64))
        self.kernels = _kernels(OdePlan.of(*solve.origin), self.shape, self.outputs)

    def __call__(self, points):
        """Return for each point (states, partials, first), or the error of the first experiment that failed.

        A point has the numbers that vary in each experiment, shape (experiments, k). In the tables, shapes
        (outputs, n, rows) and (outputs, n, k, rows), the experiments of a point are the rows from `first` on,
        NaN beyond the outputs of an experiment.
        """
        theta = np.concatenate(points)
        found = [
            self._portion(theta[a : a + m], a) for a, m in portions(len(theta), self._size(theta))
        ]
        states, partials, status, stopped = map(_joined, zip(*found, strict=True))
        own = len(self.outputs)
        starts = [slice(k * own, (k + 1) * own) for k in range(len(points))]
        return [_failure(status[at], stopped[at]) or (states, partials, at.start) for at in starts]

    def _size(self, theta):
        """How many trajectories go at once."""
        count, numbers = theta.shape
        each = 8 * (self.outputs.max() * self.shape.components * (1 + numbers) + numbers + 2)
        return portion(self.device.free(), count, 0, each, who="fit_ode", way_out=_FEWER)

    def _portion(self, theta, first):
        """Integrate trajectories, of which the first is so manieth of all."""
        device, (count, numbers) = self.device, theta.shape
        shape = int(self.outputs.max()), self.shape.components
        tables = [(*shape, count), (*shape, numbers, count), (count,), (count,)]
        kinds = zip(tables, (np.float64, np.float64, np.int32, np.float64), strict=True)
        states, partials, status, stopped = device.several_empty(list(kinds))
        asked, before = device.several_copied([theta, np.array([first])])
        given = [asked, *self.constants, before, status, stopped, states, partials]
        for kernel in self.kernels:
            device.launch(kernel, given, count)
        return [device.fetched(table) for table in (states, partials, status, stopped)]


def _joined(tables):
    """Tables of portions as one."""
    return tables[0] if len(tables) == 1 else np.concatenate(tables, axis=-1)


def _failure(status, stopped):
    """Why the first of the experiments that failed did, None where none has."""
    failed = np.flatnonzero(status)
    if not len(failed):
        return None
    code, time = int(status[failed[0]]), float(stopped[failed[0]])
    return IntegrationError("fun raised an exception") if code == RAISED else SolveError(code, time)


def _kernels(plan, shape, outputs):
    """The kernels of all passes."""
    count, width = len(shape.varied) + len(shape.free), shape.components
    between = bool((outputs != 2).any())
    chunk = chunk_size(plan.states(range(3 if between else 2), width), width, DOUBLE)
    if plan.problem.control_partials:  # what takes part in the control of steps stays together
        chunk = count
    seeds = passes([(0, column) for column in range(count)], chunk)
    return [_kernel(plan.problem, plan.settings, shape, between, each) for each in seeds]


@built_once(lambda problem, *_: problem.fun)
def _kernel(problem, settings, shape, between, seeds):
    """The kernel `(theta, constants, times, outputs, first, status, stopped, states, partials)`."""
    leaf = LeafArray(0, "f", True, len(shape.varied) + len(shape.free), "C")
    parameters, initial = listed_numbers(
        shape,
        lambda j: seeds.read(leaf, j, f"leaf0[i, {j}]"),
        "constants[e, {}]".format,
        lambda i: f"constants[e, {shape.scalars + i}]",
    )
    further = "".join(f"{one}, " for one in shape.calling.listed(parameters))
    body = [
        "e = (i + first[0]) % outputs.size",
        "ts = times[e, : outputs[e]]",
        f"state = {state_source(shape.state, initial)}",
        f"code, stopped_at, row = march(i, ts, tables, state, ({further}))",
    ]
    more = {
        "constants": types.float64[:, ::1],
        "times": types.float64[:, ::1],
        "outputs": types.int64[::1],
        "first": types.int64[::1],
    }
    names = {
        "march": march_with(problem, settings, between, seeds),
        "State": named_class(shape.state),
        "Parameters": named_class(shape.calling.form),
    }
    function = kernel_function([leaf], list(more), body, names, seeds)
    return Kernel(function, argument_types([leaf], more.values(), seeds))
