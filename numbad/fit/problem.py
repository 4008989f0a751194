"""One ODE fit as a value: model, unknowns, observations, options.

What the rest of the fit layer asks of a problem is small, and the problem of `fit.least_squares`
offers it, too: `unknowns`, `control`, and `evaluate(x)`, which returns the residuals and their
Jacobian at internal coordinates x. Here `curve` comes on top, for predictions.
"""

import hashlib
import math
import pickle
import threading
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba.core.errors import NumbaError

from numbad.compilation.fingerprint import fingerprint
from numbad.compilation.meaning import meaning
from numbad.errors import DataError, ModelError, NumbadError
from numbad.fit.data import Observations, label_of
from numbad.fit.doses import functions_of, meanings_of
from numbad.fit.evaluate import Shape, compiled
from numbad.fit.model import packed
from numbad.fit.noise import NoiseLevels
from numbad.fit.priors import Priors
from numbad.fit.unknowns import Unknowns
from numbad.masked_arrays import nan_where_masked


@dataclass(frozen=True)
class FitControl:
    """How to optimise; the names are those of `scipy.optimize.least_squares`."""

    loss: str = "linear"
    f_scale: float = 1.0
    absolute_sigma: bool = False
    ftol: float = 1e-10
    xtol: float = 1e-10
    gtol: float = 1e-10
    max_nfev: int | None = None
    options: tuple = ()  # further ones, (name, value)

    @property
    def known_sigma(self):
        """Whether sigma is the standard deviation itself, not only up to a factor."""
        return self.absolute_sigma and self.loss == "linear"


class Solving(NamedTuple):
    """How the ODE is solved, as in `numbad.ode.solver`, but arrays as tuples."""

    method: str = "Tsit5"
    rtol: float | tuple = 1e-8
    atol: float | tuple = 1e-8
    first_step: float | None = None
    max_step: float = math.inf
    max_steps: int = 100_000
    mass_matrix: tuple | None = None
    sens_errcon: bool = False
    jac_sparsity: tuple | None = None

    def options(self):
        """Return them as `numbad.ode.solver` takes them."""
        options = self._asdict()
        for name in ("jac_sparsity", "mass_matrix"):
            options[name] = _as_matrix(options[name])
        return options


_BY_ENTRIES = "by entries"


def as_entries(given):
    """Return a matrix, sparse or not, as a tuple of its entries; of what is none, `as_tuple`."""
    if given is None:
        return None
    from scipy.sparse import csr_array, issparse

    try:  # SciPy takes a tuple for what a sparse matrix is made of, not for rows
        matrix = csr_array(given if issparse(given) else np.asarray(given))
    except (TypeError, ValueError):
        return as_tuple(given)  # of which the solver tells
    if matrix.ndim != 2:
        return as_tuple(given)
    parts = matrix.indptr, matrix.indices, matrix.data
    return _BY_ENTRIES, matrix.shape, *(tuple(part.tolist()) for part in parts)


def _as_matrix(stored):
    """The sparse matrix that `as_entries` had; anything else as it is."""
    if not isinstance(stored, tuple) or stored[:1] != (_BY_ENTRIES,):
        return stored
    from scipy.sparse import csr_array

    _, shape, starts, columns, values = stored
    return csr_array((values, columns, starts), shape=shape)


def as_tuple(given):
    """Return an array, sparse or not, or a list, as a tuple of tuples; anything else as it is."""
    for method in ("toarray", "tolist"):
        given = getattr(given, method)() if hasattr(given, method) else given
    return tuple(map(as_tuple, given)) if isinstance(given, list | tuple) else given


class Observing(NamedTuple):
    """The observables: compiled functions of (t, y, *parameters), `width` numbers in all.

    Either several functions, each of which returns a number, `scalar`; or one that returns them all.
    `meanings` tells functions whose globals have changed from what they were.
    """

    functions: tuple
    width: int
    scalar: bool
    meanings: tuple


@dataclass(frozen=True, eq=False)
class Trial:
    """One experiment as the solver sees it.

    `known` (see `Shape`) and `y0` hold where numbers do not vary; `unknown[j]` says which of the
    unknowns the j-th number that varies is here, -1 where it is known.
    """

    name: str | None
    observations: Observations
    known: np.ndarray
    y0: np.ndarray
    unknown: np.ndarray

    def given(self, shape):
        """Return what stands for the numbers that vary elsewhere and are known here."""
        return np.concatenate((self.known[list(shape.varied)], self.y0[list(shape.free)]))

    def theta(self, values, shape):
        """Return the numbers that vary, given natural values of the unknowns."""
        return np.where(self.unknown >= 0, values[self.unknown], self.given(shape))


@dataclass(frozen=True, eq=False)
class OdeProblem:
    """The problem of `fit_ode`. Pickles whole, the model by its code.

    `components` name the state; `labels`, None where they are the same, the observables; `fixed` are
    names and values of what could have been unknown; `begin` gives the initial values from the parameters,
    None where they are numbers.
    """

    fun: object
    shape: Shape
    unknowns: Unknowns
    components: tuple | None
    trials: tuple
    control: FitControl
    solving: Solving
    observing: Observing | None = None
    labels: tuple | None = None
    priors: Priors | None = None
    fixed: tuple = ()
    events: tuple = ()
    begin: object = None

    @property
    def log(self):
        """Whether logarithms of model and data are compared."""
        return self.trials[0].observations.log

    @property
    def _functions(self):
        seen = self.observing.functions if self.observing else ()
        begin = () if self.begin is None else (self.begin,)
        return self.fun, *seen, *functions_of(self.events), *begin

    @cached_property
    def _compiled(self):
        return self._compile(self.observing)

    @cached_property
    def _states(self):
        return self._compile(None)

    def _compile(self, observing):
        events, begin = self.events, self.begin
        meanings = meanings_of(events), None if begin is None else meaning(begin)
        return compiled(self.fun, self.shape, self.solving, observing, events, meanings, begin)

    @cached_property
    def _constants(self):
        """What the compiled residuals take besides x, for each trial."""
        shape = self.shape
        free = *self.unknowns.coordinates, self.log
        return [
            (
                *free,
                t.given(shape),
                t.unknown,
                t.known,
                packed(shape.state, t.y0),
                *t.observations.flat,
            )
            for t in self.trials
        ]

    def evaluate(self, x):
        """Return residuals, shape (m,), and Jacobian, shape (m, k), at internal coordinates x.

        The residuals of the trials, one after the other, and then those of the priors. What the
        noise levels are to be found for counts in the units of the data.
        """
        parts = self._data_residuals(x)
        if self.priors:
            parts.append(self._prior_residuals(x))
        if len(parts) == 1:
            return parts[0]
        residuals, jacobians = zip(*parts, strict=True)
        return np.concatenate(residuals), np.concatenate(jacobians)

    def _data_residuals(self, x):
        """Return pairs of residuals and Jacobian, which follow one another."""
        evaluate = self._compiled[1]
        try:
            return [evaluate(x, *constants) for constants in self._constants]
        except NumbaError as error:
            raise self._complaint(error) from error

    def _prior_residuals(self, x):
        values, index = self.unknowns.natural(x), self.priors.index
        residuals, partials = self.priors.residuals(values)
        jacobian = np.zeros((len(residuals), len(self.unknowns)))
        jacobian[np.arange(len(index)), index] = partials * self.unknowns.slopes(values)[index]
        return residuals, jacobian

    def _complaint(self, error):
        """Return what to raise where the solve cannot be compiled: what is wrong with `fun`."""
        from numbad.operators import jacobian

        trial, varied = self.trials[0], list(self.shape.varied)
        known, state = trial.known.copy(), packed(self.shape.state, trial.y0)
        known[varied] = trial.theta(self.unknowns.start, self.shape)[: len(varied)]
        arguments = self.shape.calling.arguments(known[: self.shape.calling.count])
        given = trial.observations.t0, state, *arguments
        try:
            for function in (self.fun, *(self.observing.functions if self.observing else ())):
                jacobian(function, argnums=1)(*given)
        except NumbadError as found:
            return found
        if isinstance(error, NumbadError):
            return error
        idle = ("Failed in", "cannot differentiate generated")
        lines = (line for line in str(error).splitlines() if not line.startswith(idle))
        return ModelError(
            f"cannot compile the solution of {self.fun.__name__}: {next(lines, error)}"
        )

    def curve(self, values, ts, trial=0, states=False):
        """Return what is observed and its derivatives by the unknowns at natural `values`.

        Shapes (len(ts), n) and (len(ts), n, k). Times in any order, none before the initial one.
        With `states`, the components of the state instead of the observables.
        """
        one, ts = self.trials[trial], np.asarray(nan_where_masked(ts), dtype=np.float64)
        t0 = one.observations.t0
        if not (ts >= t0).all():
            raise DataError(f"predictions start at the initial time, {t0:.10g}")
        grid = np.unique(np.append(ts, t0))
        theta = one.theta(np.asarray(values), self.shape)
        curve = (self._states if states else self._compiled)[0]
        found, partials = curve(theta, one.known, packed(self.shape.state, one.y0), grid)
        rows = np.searchsorted(grid, ts)
        gradients = np.zeros((len(ts), found.shape[1], len(self.unknowns)))
        for j, unknown in enumerate(one.unknown):
            if unknown >= 0:
                gradients[:, :, unknown] += partials[rows, :, j]
        return found[rows], gradients

    @cached_property
    def count(self):
        """How many observations there are."""
        return sum(trial.observations.count for trial in self.trials)

    def arrange(self, residuals):
        """Return flat residuals in the form of the data: a dict by experiment, if there are such."""
        if self.trials[0].name is None:
            return self.trials[0].observations.arrange(residuals)
        arranged, used = {}, 0
        for trial in self.trials:
            arranged[trial.name] = trial.observations.arrange(residuals[used:])
            used += trial.observations.count
        return arranged

    @cached_property
    def levels(self):
        """The `NoiseLevels` of noise that are estimated, None where there are none."""
        group = np.concatenate([trial.observations.levels for trial in self.trials])
        sought = [index for index in np.unique(group).tolist() if index >= 0]
        if not sought:
            return None
        labels = self.labels or self.components
        value = np.concatenate([trial.observations.flat[3] for trial in self.trials])
        size = [1.0 if self.log else np.abs(value[group == k]).max() or 1.0 for k in sought]
        numbers = np.array([sought.index(k) if k >= 0 else -1 for k in group.tolist()])
        return NoiseLevels(tuple(label_of(k, labels) for k in sought), numbers, np.array(size))

    @cached_property
    def log_widths(self):
        """The sum of the logarithms of all deviations, as `log_likelihood` takes it."""
        return sum(trial.observations.log_widths for trial in self.trials)

    @cached_property
    def digests(self):
        """Digests of model, data and options: what has to agree for two fits to be the same."""
        codes = [fingerprint(function) for function in self._functions]
        if None in codes:
            raise ModelError(
                f"a journal must know {self._functions[codes.index(None)].__name__} again, but it "
                "uses a global or closure variable whose content cannot be told"
            )
        data = [
            (t.name, t.observations.t0, *map(np.ndarray.tobytes, (t.known, t.y0, t.unknown)))
            for t in self.trials
        ]
        data += [_identity(series) for t in self.trials for series in t.observations.series]
        unknowns = self.unknowns
        box = tuple(getattr(unknowns, name).tobytes() for name in ("start", "lower", "upper"))
        priors = [getattr(self.priors, f.name).tobytes() for f in fields(Priors) if self.priors]
        return {
            "model or version": digest(
                codes, self.shape, self.labels, [e[2:4] for e in self.events]
            ),
            "solver": digest(tuple(self.solving)),
            "data": digest(data),
            "unknowns": digest(unknowns.names, box, unknowns.transforms, self.fixed),
            "options": digest(self.control, priors),
        }

    @cached_property
    def _payload(self):
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        try:
            blob = pickle.dumps(state)
        except Exception as error:
            raise ModelError(f"this model cannot be sent to another process: {error}") from error
        key = hashlib.sha256(blob).hexdigest()
        remembered(key, lambda: self)
        return key, blob

    def __reduce__(self):
        return _restore, self._payload

    def prepare_to_travel(self):
        """Do now what pickling needs, so that forked workers find the problem compiled."""
        return self._payload


_KNOWN, _LOCK = {}, threading.Lock()


def _restore(key, blob):
    """Return the problem of a pickle: one for each process, so that it compiles once."""
    return remembered(key, lambda: OdeProblem(**pickle.loads(blob)))


def remembered(key, make):
    """The problem of a key, made if it is none of the last eight."""
    with _LOCK:
        if key not in _KNOWN:
            problem = make()
            while len(_KNOWN) >= 8:
                _KNOWN.pop(next(iter(_KNOWN)))
            _KNOWN[key] = problem
        return _KNOWN[key]


def _identity(series):
    arrays = (one.tobytes() for one in (series.times, series.values, series.sigma))
    return series.component, series.estimated, *arrays


def digest(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
