"""Fits of stochastic differential equations: by transitions, filters, simulated moments."""

import inspect
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numba.core.dispatcher import Dispatcher

from numbad.errors import ArgumentError, DataError, ModelError
from numbad.fit.likelihood import LikelihoodProblem
from numbad.fit.multistart import run_starts
from numbad.fit.optimize import Minimum
from numbad.fit.profile import Profile
from numbad.fit.report import likelihood_table
from numbad.fit.uncertainty import half_width
from numbad.fit.unknowns import TRANSFORMS, Unknowns, latin_hypercube, read_bounds
from numbad.sde.hidden_state import HiddenState, series


def fit_sde(
    density,
    t,
    y,
    p0,
    *,
    fixed=(),
    bounds=None,
    transforms=None,
    starts=1,
    seed=0,
    executor=None,
    progress=True,
    journal=None,
):
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
    fixed : sequence of str, or mapping
        Parameters that keep their start, or parameter -> the value to hold it at. What has equal bounds is
        fixed, too.
    bounds : mapping or sequence, optional
        Parameter -> (low, high), None for no bound; or such a pair for each.
    transforms : mapping, optional
        Parameter -> "log" or "linear". By default "log" where the start is positive, so that the
        parameter stays so.
    starts, seed, executor, progress, journal : optional
        As in `fit_ode`: local fits from so many starts, `p0` and a Latin hypercube within `bounds`, of which
        the best counts; run by any executor, with a bar, kept in a file from which a run that was killed
        goes on. The result does not depend on executors and interruptions.

    Returns
    -------
    DiffusionFit
        `params`, `stderr` (from the Hessian of the log-likelihood in the transformed parameters, by the delta
        method), `cov`, `loglik`, `aic`, `bic`, `success`, `message`, `summary()`, `profile(name)`.

    Raises
    ------
    ArgumentError, ModelError, DataError
        for parameters that `density` has not, transforms that do not exist, bounds, data or a journal that
        do not fit.

    Notes
    -----
    The optimiser is SciPy's "trust-exact", with gradient and Hessian exact; with bounds, and for profiles,
    "L-BFGS-B" with the exact gradient.

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
    for name, value, least in (("starts", starts, 1), ("seed", seed, 0)):
        if not isinstance(value, int | np.integer) or value < least:
            raise ArgumentError(f"{name} must be a whole number, at least {least}; got {value!r}")
    times, values = (series if isinstance(density, HiddenState) else _series)(t, y)
    names, start = _parameters(density, p0)
    if isinstance(fixed, Mapping):
        _known(fixed, names)
        start |= {name: float(value) for name, value in fixed.items()}
    unknowns, held = _unknowns(names, start, fixed, transforms, bounds)
    problem = LikelihoodProblem(density, tuple(names), unknowns, held, times, values)
    points = latin_hypercube(unknowns, int(starts), seed)
    fits = run_starts(problem, points, int(seed), executor, progress, journal)
    return DiffusionFit(problem, fits)


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


def _known(given, names):
    for name in given:
        if name not in names:
            raise ArgumentError(f"no parameter is called {name!r}, only {', '.join(names)}")


def _unknowns(names, start, fixed, transforms, bounds):
    """What is sought, and name -> value of what is not."""
    fixed, transforms = ([fixed] if isinstance(fixed, str) else fixed), dict(transforms or {})
    _known((*fixed, *transforms), names)
    lower, upper = read_bounds(bounds, names, {})
    pinned = [lower[k] == upper[k] for k in range(len(names))]
    held = {name: start[name] for name in names if name in set(fixed)}
    held |= {name: lower[k] for k, name in enumerate(names) if pinned[k] and name not in held}
    free = [name for name in names if name not in held]
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
    places = [names.index(name) for name in free]
    lower, upper = lower[places], upper[places]
    for k, name in enumerate(free):
        if not lower[k] <= start[name] <= upper[k]:
            raise ModelError(
                f"{name} starts at {start[name]:g}, outside its bounds [{lower[k]:g}, {upper[k]:g}]"
            )
        if kinds[k] == "log":
            lower[k] = max(lower[k], 0.0)
    values = np.array([start[name] for name in free])
    return Unknowns(tuple(free), values, lower, upper, kinds, np.ones(len(free))), held


class DiffusionFit(Minimum):
    """The outcome of `fit_sde`: a `FitResult` without residuals; `cost` is the negative log-likelihood."""

    stored = ("loglik", "aic", "bic", "fixed")

    def summary(self):
        """Return a table of the estimates with standard errors and 95 % intervals, as text."""
        return likelihood_table(self, f"{self.problem.count} {self.problem.counted}")

    __repr__ = __str__ = summary

    def plot(self, path=None, ax=None, *, title=None, xlabel="t", labels=None, ahead=None):
        """Draw the data and what the fit says of them.

        Of a fit by transitions: the series, then the profile of each unknown (twice the loss of
        log-likelihood when it is held) with the line that bounds its 95 % interval. Of a fit by a Kalman
        filter: what was observed, and each component of the state, its mean and 95 % band given the
        observations up to then; in the same panels where the whole state is observed. `labels` are the
        names of what was observed. `ahead`, a time: the median and the band of 5 to 95 % of the paths that
        `predictive_band` tells for so long after the last observation.

        `path`, `ax` and what is raised are as in `FitResult.plot`.
        """
        from numbad.fit.diffusion_report import draw

        return draw(self, path, ax, title, xlabel, labels, ahead)

    def predictive_band(
        self,
        ts,
        key,
        *,
        y0=None,
        solve=None,
        levels=(0.05, 0.5, 0.95),
        paths=10_000,
        draws=500,
    ):
        """Return quantiles of the paths that the fit predicts, shape (levels, len(ts), n).

        Paths are simulated from `y0` at `ts[0]`, each with parameters drawn from the normal distribution of
        the estimates on the scale on which they are fitted. They are paths of the equation: noise of
        observations is not in them.

        Parameters
        ----------
        ts : array_like
            Increasing times, in the units of the data.
        key : numpy.uint64
            From `nd.random.key`.
        y0 : float, tuple or array, optional
            The state at `ts[0]`, as `solve` takes it; by default what was observed then.
        solve : dispatcher, optional
            From `nd.sde.solver`, of a drift and a diffusion that take all parameters of the fit, those held
            fixed included, in the order in which the density takes them. By default, for densities of
            `numbad.sde.transitions`: the method "SRA1" for `vasicek` and `ozaki`, "SRIW1" for `gbm`, else
            "EulerMaruyama" (of `cir` with full truncation at zero), with steps of a twentieth of the median
            time between observations.
        levels : sequence of floats
            Of the quantiles, between 0 and 1.
        paths : int
            How many in all; rounded up to a multiple of `draws`.
        draws : int or None
            How many parameters are drawn. None: paths at the estimates alone, without their uncertainty.

        Raises
        ------
        ArgumentError
            for levels, numbers and times that are none; without `solve` or `y0` where they are needed.
        ModelError
            where the estimates have no normal distribution to draw from: at a bound, or not determined by the
            data; where no path stays finite.

        Notes
        -----
        Paths that end in NaN or infinity are left out, and so are draws outside of the bounds; a
        `NumbadWarning` counts both, and gives the first parameters of which paths are lost. Quantiles are
        those of the paths at each time by itself. Their random error is that of so many paths, and of so
        many draws.

        Examples
        --------
        >>> import numbad as nd
        >>> from numbad.data import load_us_tbill
        >>> from numbad.sde import transitions
        >>> years, rate = load_us_tbill()
        >>> start = {"kappa": 0.2, "theta": 0.05, "sigma": 0.02}
        >>> fit = nd.fit.fit_sde(transitions.vasicek, years, rate, start, fixed={"theta": 0.05})
        >>> ts = years[-1] + np.array([0.0, 1.0, 2.0])
        >>> low, middle, high = fit.predictive_band(ts, nd.random.key(0), paths=2000, draws=100)
        >>> low.shape, bool(low[0, 0] == high[0, 0] == rate[-1]), bool(low[2, 0] < low[1, 0])
        ((3, 1), True, True)
        """
        from numbad.fit.predictive import predictive_band

        return predictive_band(self, ts, key, y0, solve, levels, paths, draws)

    def _curve(self, t, experiment, states=False):
        raise ModelError(
            "this result has no model in time, but paths: predictive_band(ts, key) has their quantiles"
        )

    @property
    def message(self):
        notes = [self._reason.rstrip(".")]
        active = self.problem.unknowns.active(self.x)
        if active:
            notes.append(f"at a bound: {', '.join(active)}; standard errors ignore bounds")
        failed = sum(not np.isfinite(fit.cost) for fit in self.starts)
        if failed:
            notes.append(f"{failed} of {len(self.starts)} starts could not be evaluated")
        return "; ".join(notes)

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

        limit = self.problem.unknowns.internal_bounds[int(step > 0.0), index]
        room = (limit - best[index]) / step  # infinite without a bound
        if not room > 0.0:
            return limit, points

        def above(distance):
            x, cost = self._held_at(index, best[index] + distance * step, state["x"])
            state["x"] = x
            points.append((x[index], cost))
            return cost - threshold

        near, far = 0.0, min(1.0, room)
        while (rise := above(far)) < 0.0 and far < min(farthest, room):
            near, far = far, min(1.6 * far, room)
        if not rise >= 0.0:
            return limit if far == room else np.copysign(np.inf, step), points
        found = brentq(above, near, far, xtol=1e-6)
        return best[index] + found * step, points

    def _held_at(self, index, value, start):
        """The other parameters fitted with one held, and the cost."""
        problem = self.problem
        others = np.arange(len(start)) != index
        x = np.array(start)
        x[index] = value
        if not others.any():
            return x, float(problem.fun(x, *problem.args))
        return problem.held_at(x, others)
