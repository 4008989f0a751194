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

from numbad.errors import DataError, ModelError, NumbadError
from numbad.fingerprint import fingerprint
from numbad.fit.data import Observations
from numbad.fit.evaluate import compiled
from numbad.fit.model import Calling, packed
from numbad.fit.unknowns import Unknowns


@dataclass(frozen=True)
class Control:
    """How to optimise; the names are those of `scipy.optimize.least_squares`."""

    loss: str = "linear"
    f_scale: float = 1.0
    absolute_sigma: bool = False
    ftol: float = 1e-10
    xtol: float = 1e-10
    gtol: float = 1e-10
    max_nfev: int | None = None

    @property
    def known_sigma(self):
        """Whether sigma is the standard deviation itself, not only up to a factor."""
        return self.absolute_sigma and self.loss == "linear"


class Solving(NamedTuple):
    """How the ODE is solved, as in `numbad.ode.solver`."""

    method: str = "Tsit5"
    rtol: float = 1e-8
    atol: float = 1e-8
    first_step: float | None = None
    max_step: float = math.inf
    max_steps: int = 100_000


@dataclass(frozen=True, eq=False)
class OdeProblem:
    """The problem of `fit_ode`. Pickles whole, the model by its code."""

    fun: object
    calling: Calling
    state: str | tuple
    unknowns: Unknowns
    y0: np.ndarray
    free: tuple
    components: tuple | None
    observations: Observations
    control: Control
    solving: Solving

    @cached_property
    def _compiled(self):
        structure = (self.fun, self.calling, self.state, len(self.y0), self.free)
        return compiled(*structure, self.solving)

    @cached_property
    def _start(self):
        return packed(self.state, self.y0)

    @cached_property
    def _constants(self):
        return (self.unknowns.log, self.unknowns.scale, self._start, *self.observations.flat)

    def evaluate(self, x):
        """Return residuals, shape (m,), and Jacobian, shape (m, k), at internal coordinates x."""
        try:
            return self._compiled[1](x, *self._constants)
        except NumbaError as error:
            raise self._complaint(error) from error

    def _complaint(self, error):
        """Return what to raise where the solve cannot be compiled: what is wrong with `fun`."""
        from numbad.operators import jacobian

        values, count = self.unknowns.start, self.calling.count
        arguments = self.calling.arguments(values[:count])
        try:
            jacobian(self.fun, argnums=1)(self.observations.t0, self._start, *arguments)
        except NumbadError as found:
            return found
        if isinstance(error, NumbadError):
            return error
        idle = ("Failed in", "cannot differentiate generated")
        lines = (line for line in str(error).splitlines() if not line.startswith(idle))
        return ModelError(
            f"cannot compile the solution of {self.fun.__name__}: {next(lines, error)}"
        )

    def curve(self, values, ts):
        """Return states and their derivatives by the unknowns at natural `values`.

        Shapes (len(ts), n) and (len(ts), n, k). Times in any order, none before the initial one.
        """
        ts = np.asarray(ts, dtype=np.float64)
        if not (ts >= self.observations.t0).all():
            raise DataError(f"predictions start at the initial time, {self.observations.t0:.10g}")
        grid = np.unique(np.append(ts, self.observations.t0))
        states, partials = self._compiled[0](np.asarray(values), self._start, grid)
        rows = np.searchsorted(grid, ts)
        return states[rows], partials[rows]

    @property
    def count(self):
        """How many observations there are."""
        return self.observations.count

    def arrange(self, residuals):
        """Return flat residuals in the form of the data."""
        return self.observations.arrange(residuals)

    @cached_property
    def digests(self):
        """Digests of model, data and options: what has to agree for two fits to be the same."""
        code = fingerprint(self.fun)
        if code is None:
            raise ModelError(
                f"a journal must know {self.fun.__name__} again, but it uses a global or closure "
                "variable whose content cannot be told"
            )
        series = self.observations.series
        data = [
            (s.component, s.times.tobytes(), s.values.tobytes(), s.sigma.tobytes()) for s in series
        ]
        known = np.delete(self.y0, self.free).tobytes()
        unknowns = self.unknowns
        box = tuple(getattr(unknowns, name).tobytes() for name in ("start", "lower", "upper"))
        return {
            "model or version": _digest(code, self.calling.form, self.state, known),
            "solver": _digest(tuple(self.solving)),
            "data": _digest(self.observations.t0, data),
            "unknowns": _digest(unknowns.names, box, unknowns.log, self.free),
            "options": _digest(self.control),
        }

    @cached_property
    def _payload(self):
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        try:
            blob = pickle.dumps(state)
        except Exception as error:
            raise ModelError(f"this model cannot be sent to another process: {error}") from error
        key = hashlib.sha256(blob).hexdigest()
        with _LOCK:
            _remember(key, self)
        return key, blob

    def __reduce__(self):
        return _restore, self._payload

    def prepare_to_travel(self):
        """Do now what pickling needs, so that forked workers find the problem compiled."""
        return self._payload


_KNOWN, _LOCK = {}, threading.Lock()


def _restore(key, blob):
    """Return the problem of a pickle: one for each process, so that it compiles once."""
    with _LOCK:
        if key not in _KNOWN:
            _remember(key, OdeProblem(**pickle.loads(blob)))
        return _KNOWN[key]


def _remember(key, problem):
    while len(_KNOWN) >= 8:
        _KNOWN.pop(next(iter(_KNOWN)))
    _KNOWN[key] = problem


def _digest(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
