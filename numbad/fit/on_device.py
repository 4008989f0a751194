"""Fits on a GPU: what all experiments need at all starts that go on, found in one launch.

Every start is an optimisation by SciPy in a thread of its own, which waits where it needs a solution. When
all that go on wait, the thread that called integrates for all of them. What a start is answered depends on
nothing but what it asked for, so the order of threads decides nothing.
"""

import threading
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib import import_module
from itertools import islice
from queue import SimpleQueue

import numpy as np

from numbad.compilation.caching import jit
from numbad.errors import ModelError
from numbad.fit.evaluate import numbers_at, residuals_of, seen_from
from numbad.fit.multistart import run_start
from numbad.fit.problem import OdeProblem, digest

DEVICES = ("cpu", "cuda")
# So many starts go on at once: each has a thread.
MOST_AT_ONCE = 1024
_CURVES = "numbad.cuda.trajectories.fit_curves"  # it builds on this layer, and is loaded on demand


def on_device(problem, sensitivity, executor):
    """Return a problem as it is fitted on the GPU; ModelError where that has no code for it."""
    curves = import_module(_CURVES)
    problem = replace(problem, shape=problem.shape._replace(adjoint=sensitivity == "adjoint"))
    for reason in _refusals(problem, executor, curves.missing):
        raise ModelError(
            f'fit_ode with device="cuda" has no code for {reason}. Way out: device="cpu", the default'
        )
    given = {field.name: getattr(problem, field.name) for field in fields(problem)}
    return ProblemOnDevice(**given, curves=curves.FitCurves(problem))


def _refusals(problem, executor, missing):
    """Give what a GPU has no code for, by the name of the argument."""
    shape, solving = problem.shape, problem.solving
    if executor is not None:
        yield "executor= (all starts go to the GPU together; leave executor= out)"
    if problem.events:
        yield "events= and tstops="
    if shape.doses:
        yield "experiments= with doses"
    if problem.begin is not None:
        yield "y0= as a function (give numbers, or fit_y0=)"
    for name in ("mass_matrix", "jac_sparsity"):
        if getattr(solving, name) is not None:
            yield f"{name}="
    if shape.adjoint:
        yield 'sensitivity="adjoint" (leave sensitivity= out)'
    if shape.state == "array":
        yield "fun whose state is an array: one of over 16 components, or that takes no tuple"
    if shape.calling.form == "array":
        yield "p0 of more than 64 numbers in one argument"
    solver = missing(problem)
    if solver is not None:
        yield solver


@dataclass(frozen=True, eq=False)
class ProblemOnDevice(OdeProblem):
    """The problem of `fit_ode` whose curves `curves` finds: see `FitCurves`."""

    curves: object = None

    def _data_residuals(self, x):
        theta, inner = _numbers(x, *self._coordinates)
        found = self.curves([theta])[0]
        if isinstance(found, Exception):
            raise found
        if self.observing is not None:
            found = self._seen(theta, *found)
        return [_residuals(*found, inner, self.log, *self._compared)]

    def _seen(self, theta, states, partials, first):
        """What the observables make of the states of all experiments, and its derivatives, in such tables."""
        seen = seen_from(self.observing, self.shape)
        found = np.full((len(states), self.observing.width, len(theta)), np.nan)
        slopes = np.full((*found.shape[:2], theta.shape[1], len(theta)), np.nan)
        for e, trial in enumerate(self.trials):
            ts = trial.observations.flat[0]
            own = slice(len(ts))
            tables = (
                np.ascontiguousarray(table[own, ..., first + e]) for table in (states, partials)
            )
            curve = seen(theta[e], trial.known, ts, (*tables, theta[e]))
            found[own, :, e], slopes[own, ..., e] = curve
        return found, slopes, 0

    @cached_property
    def _coordinates(self):
        """What `_numbers` takes besides x."""
        given = np.array([trial.given(self.shape) for trial in self.trials])
        return *self.unknowns.coordinates, given, self._compared[0]

    @cached_property
    def _compared(self):
        """What `_residuals` takes last: the numbers that are unknown, and the observations."""
        unknown = np.array([trial.unknown for trial in self.trials])
        counts = [trial.observations.count for trial in self.trials]
        ends = np.cumsum([0, *counts])
        flat = zip(*(trial.observations.flat[1:] for trial in self.trials), strict=True)
        return unknown, ends, *map(np.concatenate, flat)

    @cached_property
    def digests(self):
        """Those of the problem; a GPU rounds otherwise."""
        return {**super().digests, "solver": digest(tuple(self.solving), "cuda")}

    def fit_together(self, starts, waiting):
        """Yield the fits from starts, those whose numbers wait, as they end."""
        desk, later, asking = SimpleQueue(), iter(waiting), []

        def begun(count):
            return {_Start(self, index, starts[index], desk) for index in islice(later, count)}

        going = begun(MOST_AT_ONCE)
        try:
            while going:
                if len(asking) == len(going):
                    self._answer(asking)
                    asking = []
                start, fit = desk.get()
                if fit is None:
                    asking.append(start)
                    continue
                going.remove(start)
                going |= begun(1)
                if isinstance(fit, BaseException):
                    raise fit
                yield fit
        finally:
            for start in going:
                start.answers.put(None)

    def _answer(self, asking):
        """Integrate for starts that wait."""
        asking.sort(key=lambda start: start.index)
        found = self.curves([start.asked for start in asking])
        for start, answer in zip(asking, found, strict=True):
            start.answers.put(answer)


class _Start:
    """The fit from one start, in a thread that puts (start, None) on a desk where it asks, and its fit."""

    def __init__(self, problem, index, values, desk):
        self.index, self.desk, self.answers, self.asked = index, desk, SimpleQueue(), None
        given = replace(problem, curves=self._ask), index, values
        threading.Thread(target=self._run, args=given, name=f"start {index}", daemon=True).start()

    def _run(self, *given):
        try:
            self.desk.put((self, run_start(*given)))
        except BaseException as error:
            self.desk.put((self, error))

    def _ask(self, points):
        (self.asked,) = points
        self.desk.put((self, None))
        answer = self.answers.get()
        if answer is None:
            raise _AbandonedError
        return [answer]


class _AbandonedError(BaseException):
    """Ends a thread whose fit nobody waits for any more."""


@jit
def _numbers(x, kind, box, given, unknown):
    """The numbers that vary in each experiment, shape (experiments, k), and derivatives by x."""
    theta, inner = np.empty(given.shape), np.empty(len(x))
    for e in range(len(given)):
        theta[e], inner = numbers_at(x, kind, box, given[e], unknown[e])
    return theta, inner


@jit(nogil=True)
def _residuals(states, partials, first, inner, log, unknown, ends, row, component, value, weight):
    """The residuals of all experiments, one after the other, and their Jacobian.

    The tables are those of `FitCurves`.
    """
    residuals, jacobian = np.empty(len(value)), np.empty((len(value), len(inner)))
    for e in range(len(unknown)):
        own = slice(ends[e], ends[e + 1])
        residuals[own], jacobian[own] = residuals_of(
            states[:, :, first + e], partials[:, :, :, first + e], inner, log, unknown[e],
            row[own], component[own], value[own], weight[own],
        )  # fmt: skip
    return residuals, jacobian
