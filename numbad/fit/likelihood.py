"""The likelihood of series under an SDE as a problem of many starts, and the search for its maximum."""

import hashlib
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property

import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from numbad.compilation.caching import jit, user_jit
from numbad.compilation.fingerprint import fingerprint
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError, ModelError
from numbad.fit.evaluate import as_dispatcher
from numbad.fit.experiment import about
from numbad.fit.labelled import by_label
from numbad.fit.local import FAILURES, LocalFit
from numbad.fit.problem import digest, remembered
from numbad.sde.hidden_state import HiddenState
from numbad.sde.model_names import function_of
from numbad.sde.state_source import returned
from numbad.source import define

_NEGLIGIBLE = 1e-10  # of log-likelihood
_GRADIENT = 1e-6
_ROUNDING = 1e-14  # of the log-likelihood, relative: what a step gains no more where it is at rest
_MOST_STEPS = 500
_OTHER_KEYS = range(2**32, 2**32 + 4)  # which no series has


class LikelihoodProblem:
    """The problem of `fit_sde`: its cost, the negative log-likelihood and half of the squares of priors.

    Compiled code has the log-likelihood of one series and its derivatives by natural values; the sum over
    series, transforms and priors come on top. `names` are the parameters of the density, `held` is name ->
    value of the parameters that are not sought, `series` are `ObservedSeries`. What `run_starts` wants of a
    problem.
    """

    levels = None
    _last = (None,)

    def __init__(self, density, names, unknowns, priors, held, series):
        from numbad.operators import grad, hessian, jacobian, value_and_grad
        from numbad.operators.forward_sweep import CHUNK, CHUNK_BELOW, balanced

        self.density, self.names, self.series = density, names, series
        self.unknowns, self.priors, self.fixed = unknowns, priors, held
        by_series = isinstance(density, HiddenState)
        if by_series:
            self.densities = [density.for_series(e) for e in range(len(series))]
            for one in series:
                with about(one):
                    start = one.parameters(unknowns.start).tolist()
                    whole = density.log_likelihood(one.times, one.values, start)
            self.count = sum(density.count(one.times, one.values) for one in series)
        else:
            compiled = compiled_density(density)
            self.count = sum(len(one.values) - 1 for one in series)
            found = returned(
                cpu_target.typing_context, compiled, (types.float64,) * (4 + len(names))
            )
            if not isinstance(found, types.Float | types.Integer):
                raise ModelError(f"the density must return a number, its logarithm, not {found}")
            whole = _over_transitions(compiled, len(names))
        self.counted = density.counted if by_series else "transitions"
        self.is_simulated = by_series and density.is_simulated
        self.hidden = density if by_series and density.tells_states else None
        # Of the parameters those that any series has to be found: derivatives are by these alone.
        self._sought = (np.array([one.numbers for one in series]) >= 0).any(axis=0)
        settings = [one.settings for one in self.densities] if by_series else [()] * len(series)
        self._settings = settings
        free = tuple(name for name, sought in zip(names, self._sought, strict=True) if sought)
        misfit = self._misfit = _misfit(whole, names, free, len(settings[0]))
        # Both modes run equally fast for a handful of parameters; for a filter forward mode compiles in a
        # third. Its passes are as wide as there are parameters: those of 16 take longer.
        if by_series:
            count = max(len(free), 1)
            width, inner = balanced(count, CHUNK), balanced(count, CHUNK_BELOW)
            slope = grad(misfit, 0, mode="forward", chunk=inner)
            self._gradient = value_and_grad(misfit, 0, mode="forward", chunk=width)
            self._hessian = jacobian(slope, 0, mode="forward", chunk=width)
        else:
            self._gradient, self._hessian = value_and_grad(misfit, 0), hessian(misfit, 0)

    def _arguments(self, values, settings=None):
        """For each series the numbers of the unknowns that it has, and the arguments of `_misfit`."""
        for one, own in zip(self.series, settings or self._settings, strict=True):
            parameters = one.parameters(values)
            sought, known = parameters[self._sought], parameters[~self._sought]
            given = sought, one.times, one.values, known, *own
            yield one.numbers[self._sought], given

    def cost(self, x):
        """Return the cost at internal coordinates."""
        values = self.unknowns.natural(x)
        return self._misfit_of_all(values) + self.priors.cost(values)[0]

    def _misfit_of_all(self, values):
        return sum(float(self._misfit(*given)) for _, given in self._arguments(values))

    def gradient(self, x):
        """Return the cost at internal coordinates and its gradient by these."""
        values = self.unknowns.natural(x)
        misfit, slope = self._by_values(values)
        cost, by_priors, _ = self.priors.cost(values)
        with np.errstate(all="ignore"):  # far out, where the cost is none
            return misfit + cost, (slope + by_priors) * self.unknowns.slopes(values)

    def _by_values(self, values):
        """The negative log-likelihood and its gradient by natural values; a Hessian there needs it again."""
        point, last = values.tobytes(), self._last
        if last[0] != point:  # one tuple: several threads may run this
            last = self._last = point, *self._of_all_series(values)
        return last[1:]

    def _of_all_series(self, values, settings=None):
        misfit, slope = 0.0, np.zeros(len(values))
        for numbers, given in self._arguments(values, settings):
            of_one, partials = self._gradient(*given)
            varies = numbers >= 0
            misfit += of_one
            np.add.at(slope, numbers[varies], partials[varies])
        return misfit, slope

    def moved_by_other_keys(self, x, cov):
        """How far a step of Newton's method leads from an estimate x by other keys, at the root mean square.

        Internal coordinates; `cov` is the inverse of the curvature there. Of a simulated likelihood.
        """
        values, steps = self.unknowns.natural(x), []
        by_priors = self.priors.cost(values)[1]
        for number in _OTHER_KEYS:
            settings = [one.by_key(number).settings for one in self.densities]
            slope = self._of_all_series(values, settings)[1] + by_priors
            steps.append(cov @ (slope * self.unknowns.slopes(values)))
        return np.sqrt(np.mean(np.square(steps), axis=0))

    def _second_by_values(self, values):
        """The Hessian of the negative log-likelihood by natural values."""
        total = np.zeros((len(values), len(values)))
        for numbers, given in self._arguments(values):
            varies = numbers >= 0
            of_one = self._hessian(*given)[np.ix_(varies, varies)]
            np.add.at(total, np.ix_(numbers[varies], numbers[varies]), of_one)
        return total

    def curvature(self, x):
        """Return the Hessian of the cost by internal coordinates."""
        unknowns = self.unknowns
        values = unknowns.natural(x)
        slope = self._by_values(values)[1]
        _, by_priors, curvature = self.priors.cost(values)
        slopes, bends = unknowns.slopes(values), unknowns.bends(values)
        hessian = self._second_by_values(values) + np.diag(curvature)
        with np.errstate(all="ignore"):
            return hessian * np.outer(slopes, slopes) + np.diag((slope + by_priors) * bends)

    def check(self, start):
        """Raise `ModelError` where the likelihood cannot be evaluated at natural values."""
        each = zip(self.series, self._arguments(np.array(start)), strict=True)
        for one, (_, given) in each:
            with about(one):
                self._check_one(given)
        if not np.isfinite(self.priors.cost(start)[0]):
            raise ModelError("a log-normal prior is of positive numbers, which the start is not")

    def _check_one(self, given):
        try:
            value = self._misfit(*given)
        except ModelError:
            raise
        except FAILURES as error:
            raise ModelError(f"the log-likelihood fails at the start: {error}") from error
        if not np.isfinite(value):
            raise ModelError(
                f"the log-likelihood at the start is {-value}: the density there must be positive and finite"
                + self._where(given)
            )

    def _where(self, given):
        """Which transition has no density, as the end of a message; of a filter nothing is known."""
        if isinstance(self.density, HiddenState):
            return ""
        sought, times, values, *rest = given
        for i in range(1, len(values)):
            pair = slice(i - 1, i + 1)
            if not np.isfinite(found := -self._misfit(sought, times[pair], values[pair], *rest)):
                said = f"from y = {values[i - 1]:g} to {values[i]:g}, t = {times[i - 1]:g} to {times[i]:g}"
                return f", which it is not {said}, entries {i - 1} and {i} (log density {found:g})"
        return ""

    def fit_from(self, index, start):
        """Return the `LocalFit` from natural values `start`; raise `ModelError` if that is no start."""
        self.check(start)
        x = self.unknowns.internal(start)
        slope = self.gradient(x)[1]
        if not np.isfinite(slope).all():
            name = self.unknowns.names[int(np.flatnonzero(~np.isfinite(slope))[0])]
            raise ModelError(
                f"the log-likelihood at the start is finite, but not its derivative by {name!r}: begin "
                "nearer to what the data say"
            )
        found = self._bounded(x) if self.unknowns.bounded else self._free(x)
        values = tuple(self.unknowns.natural(found.x).tolist())
        ended = found.success, found.message
        start = tuple(map(float, start))
        return LocalFit(index, start, values, float(found.fun), int(found.nfev), *ended)

    def held_at(self, x, others):
        """The coordinates `others` fitted from where they are in x: `(x, cost)`."""
        found = self._bounded(x, others)
        return found.x, float(found.fun)

    def _value(self, x):
        """Cost and gradient; infinite where there are none: a step there is one that is too long."""
        try:
            value, slope = self.gradient(x)
        except ModelError:
            raise
        except FAILURES:
            return np.inf, np.zeros(len(x))
        return (value if np.isfinite(slope).all() and not np.isnan(value) else np.inf), slope

    def _curvature_if_any(self, x):
        """The Hessian; SciPy asks for it where a step is tried, too: zero where there is none."""
        try:
            found = self.curvature(x)
        except FAILURES:
            found = np.array(np.nan)
        return found if np.isfinite(found).all() else np.zeros((len(x), len(x)))

    def _free(self, x):
        from scipy.optimize import minimize

        found = minimize(
            self._value,
            x,
            jac=True,
            hess=self._curvature_if_any,
            method="trust-exact",
            options={"gtol": _GRADIENT, "maxiter": _MOST_STEPS},
        )
        found.success, found.message = _verdict(found)
        return found

    def _bounded(self, x, others=None):
        """The same within the bounds; `others` may move, all if None."""
        from scipy.optimize import minimize

        lower, upper = self.unknowns.internal_bounds
        x, movable = np.clip(x, lower, upper), np.ones(len(x), bool) if others is None else others

        def cost(free):
            x[movable] = free
            found, slope = self._value(x)
            return (found, slope[movable]) if np.isfinite(found) else (1e300, np.zeros(len(free)))

        found = minimize(
            cost,
            x[movable],
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(lower[movable], upper[movable], strict=True)),
            options={"gtol": _GRADIENT, "ftol": _ROUNDING, "maxiter": _MOST_STEPS, "maxls": 50},
        )
        x[movable] = found.x
        found.x = x
        return found

    @cached_property
    def digests(self):
        """Digests of model, data and options: what has to agree for two fits to be the same."""
        density, unknowns, priors = self.density, self.unknowns, self.priors
        parts = (
            vars(density).values()
            if isinstance(density, HiddenState)
            else (compiled_density(density),)
        )
        plain = [part for part in parts if not isinstance(part, Dispatcher)]
        functions = [part for part in parts if isinstance(part, Dispatcher)]
        codes = [fingerprint(function) for function in functions]
        if None in codes:
            raise ModelError(
                f"a journal must know {functions[codes.index(None)].__name__} again, but it "
                "uses a global or closure variable whose content cannot be told"
            )
        box = tuple(getattr(unknowns, name).tobytes() for name in ("start", "lower", "upper"))
        return {
            "model or version": digest(type(density).__name__, codes, plain, self.names),
            "data": digest(*(part for one in self.series for part in _told(one))),
            "unknowns": digest(unknowns.names, box, unknowns.transforms, self.fixed),
            "priors": digest(*(getattr(priors, f.name).tobytes() for f in fields(priors))),
        }

    @cached_property
    def _payload(self):
        density = self.density
        if not isinstance(density, HiddenState):
            density = compiled_density(density)
        rest = self.names, self.unknowns, self.priors, self.fixed, self.series
        try:
            blob = pickle.dumps((density, *rest))
        except Exception as error:
            raise ModelError(f"this model cannot be sent to another process: {error}") from error
        return hashlib.sha256(blob).hexdigest(), blob

    def __reduce__(self):
        return _restore, self._payload

    def prepare_to_travel(self):
        """Do now what pickling needs, so that forked workers find the problem compiled."""
        return remembered(self._payload[0], lambda: self)


def _told(one):
    """What a digest of a series is of."""
    arrays = (part.tobytes() for part in (one.times, one.values, one.numbers, one.known))
    return one.name, one.values.shape, *arrays


def _restore(key, blob):
    """The problem of a pickle: one for each process, so that it compiles once."""
    return remembered(key, lambda: LikelihoodProblem(*pickle.loads(blob)))


_OF_AN_EQUATION = (
    "Of a drift and a diffusion, functions of (t, y, *parameters), one is made by "
    "numbad.sde.transitions.euler(drift, diffusion)"
)


def parameters_of(density):
    """The names of the density's parameters in order; None where it takes any."""
    if isinstance(density, HiddenState):
        return density.names
    if not callable(density):
        raise ArgumentError(
            "density must be a function of (t0, y0, t1, y1, *parameters), a filter from numbad.sde.filters "
            f"or simulated moments, not {density!r}. {_OF_AN_EQUATION}"
        )
    function = density.py_func if isinstance(density, Dispatcher) else density
    parameters = list(inspect.signature(function).parameters.values())[4:]  # after t0, y0, t1, y1
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return tuple(p.name for p in parameters)


def check_start(p0):
    """Return p0 as a dict of floats; ArgumentError where it is none."""
    p0 = by_label(p0)
    if not isinstance(p0, Mapping) or not p0:
        raise ArgumentError(
            f"p0 gives each parameter its start, such as {{'kappa': 0.2}}; not {p0!r}"
        )
    start = {}
    for name, value in p0.items():
        try:
            start[name] = float(value)
        except (TypeError, ValueError):
            raise ArgumentError(f"the start of {name!r} must be a float, not {value!r}") from None
    return start


def in_order(density, start):
    """The names in the order of the density's parameters, and the start of each, from a mapping."""
    wanted = parameters_of(density)
    names = tuple(start) if wanted is None else wanted
    if set(names) != set(start):
        what, more = "drift", ""
        if not isinstance(density, HiddenState):
            what, more = "density", f", after (t0, y0, t1, y1). {_OF_AN_EQUATION}"
        raise ArgumentError(
            f"the {what} takes {', '.join(names) or 'no parameters'}; p0 gives {', '.join(start)}{more}"
        )
    return names, tuple(start[name] for name in names)


def _verdict(found):
    """Whether SciPy's search converged, and what it says of it.

    It also gives up where rounding hides what a further step would gain. The maximum is found, too, where
    the quadratic there promises less than `_NEGLIGIBLE` of log-likelihood.
    """
    from scipy.linalg import cho_factor, cho_solve

    if found.success or not np.isfinite(found.hess).all():
        return bool(found.success), str(found.message)
    try:
        step = cho_solve(cho_factor(found.hess), found.jac)
    except np.linalg.LinAlgError:  # no maximum there
        return False, str(found.message)
    if 0.5 * found.jac @ step < _NEGLIGIBLE:
        return True, "No step promises a larger log-likelihood."
    return False, str(found.message)


def compiled_density(density):
    return as_dispatcher(density, "density", "density", user_jit(error_model="numpy"))


@built_once(lambda density, _: density)
def _over_transitions(density, count):
    """`log_likelihood(t, y, *parameters)`: the sum over transitions."""
    parameters = ", ".join(f"p{k}" for k in range(count))
    text = (
        f"def log_likelihood(t, y, {parameters}):\n"
        "    total = 0.0\n"
        "    for i in range(1, t.size):\n"
        f"        total += density(t[i - 1], y[i - 1], t[i], y[i], {parameters})\n"
        "    return total\n"
    )
    return jit(error_model="numpy")(define(text, {"density": density}))


@built_once(lambda whole, *_: whole)
def _misfit(whole, names, free, count):
    """The negative log-likelihood of natural values of what is free, `misfit(values, t, y, held, *settings)`.

    `count`: how many settings `whole` takes before the parameters.
    """
    settings = "".join(f", s{k}" for k in range(count))
    held = iter(range(len(names)))
    entries = [
        f"values[{free.index(name)}]" if name in free else f"held[{next(held)}]" for name in names
    ]
    lines = [f"return -log_likelihood(t, y{settings}, {', '.join(entries)})"]
    head = f"misfit(values, t, y, held{settings})"
    return jit(error_model="numpy")(function_of(head, lines, {"log_likelihood": whole}))
