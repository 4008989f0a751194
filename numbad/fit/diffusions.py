"""Fits of stochastic differential equations: by transitions, filters, simulated moments."""

import inspect
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once, look_again, made_of
from numbad.errors import ArgumentError, DataError, ModelError
from numbad.fit.local import LocalFit
from numbad.fit.optimize import Minimum
from numbad.fit.profile import Profile
from numbad.fit.report import likelihood_table
from numbad.fit.uncertainty import half_width
from numbad.fit.unknowns import TRANSFORMS, Unknowns
from numbad.sde.hidden_state import HiddenState, series
from numbad.sde.state_source import returned
from numbad.source import define

_NEGLIGIBLE = 1e-10


def fit_sde(density, t, y, p0, *, fixed=(), transforms=None):
    """Fit an SDE to a series by maximum likelihood: by its transitions, by a filter, by moments.

    Parameters
    ----------
    density : function, Numba dispatcher, filter or simulated moments
        For a scalar equation that is observed without noise:
        `density(t0, y0, t1, y1, *parameters)`: the logarithm of the density of `y1` at `t1`, given `y0` at
        `t0`. `numbad.sde.transitions` has exact ones (`vasicek`, `cir`, `gbm`) and approximations of those of
        any equation, `euler(drift, diffusion)` and `ait_sahalia(drift, diffusion)`. For states of several
        components, observed in part or with noise: a filter from `numbad.sde.filters`, whose parameters are
        those of its drift. For models that can only be simulated: `numbad.sde.moments.simulated`.
    t, y : array_like, shape (k,)
        Increasing times, and what was observed at them. For filters and moments y has the shape (k, m), or
        (k,), and is NaN where nothing was observed.
    p0 : mapping
        Parameter -> start, in the order in which `density` takes them.
    fixed : sequence of str
        Parameters that keep their start.
    transforms : mapping, optional
        Parameter -> "log" or "linear". By default "log" where the start is positive, so that the
        parameter stays so.

    Returns
    -------
    DiffusionFit
        `params`, `stderr` (from the Hessian of the log-likelihood in the transformed parameters, by the delta
        method), `cov`, `loglik`, `aic`, `bic`, `success`, `message`, `summary()`, `profile(name)`.

    Raises
    ------
    ArgumentError, ModelError, DataError
        for parameters that `density` has not, transforms that do not exist, data that do not fit.

    Notes
    -----
    The optimiser is SciPy's "trust-exact", with gradient and Hessian exact.

    Examples
    --------
    >>> import numpy as np
    >>> import numbad as nd
    >>> from numbad.data import load_us_tbill
    >>> from numbad.sde import transitions
    >>> years, rate = load_us_tbill()
    >>> start = {"kappa": 0.2, "theta": 0.05, "sigma": 0.02}
    >>> result = nd.fit.fit_sde(transitions.vasicek, years, rate, start)
    >>> round(result.loglik, 4)
    673.7239
    """
    from scipy import optimize

    by_series = isinstance(density, HiddenState)
    times, values = (series if by_series else _series)(t, y)
    names, start = _parameters(density, p0)
    unknowns, held = _unknowns(names, start, fixed, transforms)
    if by_series:
        whole = density.log_likelihood(times, values, [start[name] for name in names])
        count = density.count(times, values)
    else:
        compiled, count = _compiled(density), len(values) - 1
        found = returned(cpu_target.typing_context, compiled, (types.float64,) * (4 + len(names)))
        if not isinstance(found, types.Float | types.Integer):
            raise ModelError(f"the density must return a number, its logarithm, not {found}")
        whole = _over_transitions(compiled, len(names))
    misfit = _misfit(whole, tuple(names), unknowns.names, unknowns.transforms)
    # Both modes run equally fast for a handful of parameters; for a filter forward mode compiles in a third.
    mode = "forward" if by_series else "auto"
    problem = _Likelihood(misfit, (times, values, held), unknowns, count, mode)
    if by_series:
        problem.counted = density.counted
        problem.hidden = density if density.tells_states else None
    gradient, curvature, args = problem.gradient, problem.curvature, problem.args
    first = misfit(unknowns.internal(unknowns.start), *args)
    if not np.isfinite(first):
        raise ModelError(
            f"the log-likelihood at the start is {-first}: the density there must be positive and finite"
        )

    def cost(x):
        value, slope = gradient(np.array(x), *args)
        # A step to NaN is one that is too long.
        return np.inf if np.isnan(value) else value, slope

    found = optimize.minimize(
        cost,
        unknowns.internal(unknowns.start),
        jac=True,
        hess=lambda x: curvature(np.array(x), *args),
        method="trust-exact",
        options={"gtol": 1e-6, "maxiter": 500},
    )
    natural = tuple(unknowns.natural(found.x).tolist())
    ended = _verdict(found)
    local = LocalFit(
        0, tuple(unknowns.start.tolist()), natural, float(found.fun), int(found.nfev), *ended
    )
    result = DiffusionFit(problem, [local])
    result.fixed = {name: start[name] for name in names if name in set(fixed)}
    return result


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


def _series(t, y):
    times, values = np.asarray(t, dtype=float), np.asarray(y, dtype=float)
    if times.ndim != 1 or times.shape != values.shape or times.size < 2:
        raise DataError(
            f"t and y have one entry for each observation, two at least; shapes {times.shape}, {values.shape}"
        )
    if not (np.isfinite(times).all() and np.isfinite(values).all()):
        row = int(np.flatnonzero(~(np.isfinite(times) & np.isfinite(values)))[0])
        raise DataError(
            f"t and y must be finite, which entry {row} is not: {times[row]}, {values[row]}"
        )
    if not (np.diff(times) > 0.0).all():
        row = int(np.flatnonzero(~(np.diff(times) > 0.0))[0]) + 1
        raise DataError(f"t must increase strictly, which it does not at entry {row}: {times[row]}")
    return times, values


def _parameters(density, p0):
    """The names in the order of the density's parameters, and the start of each."""
    if isinstance(density, HiddenState):
        density, leading = density.drift, 2  # t, y
    elif callable(density):
        leading = 4  # t0, y0, t1, y1
    else:
        raise ArgumentError(
            "density must be a function of (t0, y0, t1, y1, *parameters), a filter from numbad.sde.filters "
            f"or simulated moments, not {density!r}"
        )
    if not isinstance(p0, Mapping) or not p0:
        raise ArgumentError(
            f"p0 gives each parameter its start, such as {{'kappa': 0.2}}; not {p0!r}"
        )
    function = density.py_func if isinstance(density, Dispatcher) else density
    parameters = list(inspect.signature(function).parameters.values())[leading:]
    names = list(p0)
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        wanted = [p.name for p in parameters]
        if set(wanted) != set(names):
            raise ArgumentError(
                f"the {'drift' if leading == 2 else 'density'} takes {', '.join(wanted)}; p0 gives "
                f"{', '.join(names)}"
            )
        names = wanted
    start = {}
    for name in names:
        try:
            start[name] = float(p0[name])
        except (TypeError, ValueError):
            raise ArgumentError(
                f"the start of {name!r} must be a float, not {p0[name]!r}"
            ) from None
    return names, start


def _unknowns(names, start, fixed, transforms):
    transforms = dict(transforms or {})
    for name in (*fixed, *transforms):
        if name not in start:
            raise ArgumentError(f"no parameter is called {name!r}, only {', '.join(names)}")
    free = [name for name in names if name not in set(fixed)]
    if not free:
        raise ArgumentError("all parameters are fixed; leave one free")
    kinds = tuple(transforms.get(name, "log" if start[name] > 0.0 else "linear") for name in free)
    for name, kind in zip(free, kinds, strict=True):
        if kind not in TRANSFORMS[:2]:
            raise ArgumentError(f"transforms[{name!r}] must be 'log' or 'linear', not {kind!r}")
        if kind == "log" and start[name] <= 0.0:
            raise ModelError(
                f"the start of {name!r} must be positive for its logarithm; it is {start[name]}"
            )
    lower = np.array([0.0 if kind == "log" else -np.inf for kind in kinds])
    values = np.array([start[name] for name in free])
    whole = Unknowns(
        tuple(free), values, lower, np.full(len(free), np.inf), kinds, np.ones(len(free))
    )
    return whole, np.array([start[name] for name in names if name not in set(free)])


def _compiled(density):
    if isinstance(density, Dispatcher):
        look_again(density)
        return density
    return made_of(density, "density", jit(error_model="numpy"))


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
def _misfit(whole, names, free, transforms):
    """The negative log-likelihood of internal coordinates, `misfit(x, t, y, held)`."""
    places, held = {name: k for k, name in enumerate(free)}, iter(range(len(names)))
    entries = []
    for name in names:
        if name not in places:
            entries.append(f"held[{next(held)}]")
        else:
            x = f"x[{places[name]}]"
            entries.append(f"np.exp({x})" if transforms[places[name]] == "log" else x)
    parameters = ", ".join(f"p{k}" for k in range(len(names)))
    lines = [
        "def misfit(x, t, y, held):",
        *(f"    p{k} = {entry}" for k, entry in enumerate(entries)),
        f"    return -log_likelihood(t, y, {parameters})",
    ]
    namespace = {"np": np, "log_likelihood": whole}
    return jit(error_model="numpy")(define("\n".join(lines) + "\n", namespace))


class _Likelihood:
    """The problem of `fit_sde`: its negative log-likelihood, and derivatives by internal coordinates."""

    levels = hidden = None
    counted = "transitions"

    def __init__(self, fun, args, unknowns, count, mode):
        from numbad.operators import grad, hessian, jacobian, value_and_grad

        self.fun, self.args, self.unknowns, self.count = fun, args, unknowns, count
        self.gradient = value_and_grad(fun, 0, mode=mode)
        if mode == "forward":
            self.curvature = jacobian(grad(fun, 0, mode=mode), 0, mode=mode)
        else:
            self.curvature = hessian(fun, 0)


class DiffusionFit(Minimum):
    """The outcome of `fit_sde`: a `FitResult` without residuals; `cost` is the negative log-likelihood."""

    stored = ("loglik", "aic", "bic", "fixed")

    def summary(self):
        """Return a table of the estimates with standard errors and 95 % intervals, as text."""
        return likelihood_table(self, f"{self.problem.count} {self.problem.counted}")

    __repr__ = __str__ = summary

    def plot(self, path=None, ax=None, *, title=None, xlabel="t", labels=None):
        """Draw the data and what the fit says of them.

        Of a fit by transitions: the series, then the profile of each unknown (twice the loss of
        log-likelihood when it is held) with the line that bounds its 95 % interval. Of a fit by a Kalman
        filter: what was observed, and each component of the state, its mean and 95 % band given the
        observations up to then; in the same panels where the whole state is observed. `labels` are the
        names of what was observed.

        `path`, `ax` and what is raised are as in `FitResult.plot`.
        """
        from numbad.fit.diffusion_report import draw

        return draw(self, path, ax, title, xlabel, labels)

    @property
    def loglik(self):
        return -self.cost

    @property
    def aic(self):
        return 2.0 * len(self.x) - 2.0 * self.loglik

    @property
    def bic(self):
        return len(self.x) * np.log(self.problem.count) - 2.0 * self.loglik

    @cached_property
    def _uncertainty(self):
        from numbad.fit.uncertainty import from_hessian

        problem = self.problem
        return from_hessian(problem.curvature(problem.unknowns.internal(self.x), *problem.args))

    def profile(self, name, level=0.95):
        """Return the `Profile` of a parameter: the values that a likelihood ratio does not reject.

        With the parameter held, the others are fitted anew; the interval ends where the log-likelihood is
        below its maximum by half of chi^2(level; 1). An end is 0 (on the log scale) or infinite where it
        never is.
        """
        if name not in self.names:
            raise ModelError(f"no unknown is called {name!r}, only {', '.join(self.names)}")
        if not 0.0 < level < 1.0:
            raise ModelError(f"level must be between 0 and 1, got {level!r}")
        index, unknowns = self.names.index(name), self.problem.unknowns
        threshold = self.cost + 0.5 * half_width(level, None, known_sigma=True) ** 2
        best = unknowns.internal(self.x)
        width = np.sqrt(self._uncertainty.cov[index, index])
        ends, points = [], [(best[index], self.cost)]
        for side in (-1.0, 1.0):
            end, found = self._end(index, best, side * width, threshold)
            points += found
            ends.append(end)
        points.sort()
        values = [self._natural(index, x) for x, _ in points]
        low, high = (self._natural(index, x) for x in ends)
        costs = tuple(cost for _, cost in points)
        return Profile(
            name, float(self.x[index]), low, high, level, threshold, tuple(values), costs
        )

    def _natural(self, index, x):
        with np.errstate(over="ignore"):
            return float(np.exp(x) if self.problem.unknowns.transforms[index] == "log" else x)

    def _end(self, index, best, step, threshold, farthest=20.0):
        """Where the cost crosses the threshold on one side; infinite where it does not in 20 errors."""
        from scipy.optimize import brentq

        points, state = [], {"x": best}
        if not np.isfinite(step):  # the data do not determine it
            return np.copysign(np.inf, step), points

        def above(distance):
            x, cost = self._held_at(index, best[index] + distance * step, state["x"])
            state["x"] = x
            points.append((x[index], cost))
            return cost - threshold

        far = 1.0
        while (rise := above(far)) < 0.0 and far < farthest:
            far *= 1.6
        if not rise >= 0.0:
            return np.copysign(np.inf, step), points
        found = brentq(above, 0.0 if far == 1.0 else far / 1.6, far, xtol=1e-6)
        return best[index] + found * step, points

    def _held_at(self, index, value, start):
        """The other parameters fitted with one held, and the cost."""
        from scipy.optimize import minimize

        problem = self.problem
        gradient, others = problem.gradient, np.arange(len(start)) != index
        x = np.array(start)
        x[index] = value
        if not others.any():
            return x, float(problem.fun(x, *problem.args))

        def cost(free):
            x[others] = free
            found, slope = gradient(x, *problem.args)
            return (found, slope[others]) if np.isfinite(found) else (1e300, np.zeros(others.sum()))

        ended = minimize(cost, start[others], jac=True, method="BFGS", options={"gtol": 1e-6})
        x[others] = ended.x
        return x, float(ended.fun)
