"""What a fit of a stochastic differential equation returns."""

import json
import warnings
from functools import cached_property

import numpy as np

from numbad.errors import ArgumentError, DataError, ModelError, NumbadWarning
from numbad.fit.likelihood import compiled_density
from numbad.fit.local import FAILURES
from numbad.fit.optimize import Minimum
from numbad.fit.predictive import increasing, predictive_band
from numbad.fit.profile import Profile, better_told, is_better
from numbad.fit.report import likelihood_table
from numbad.fit.result import FitResult
from numbad.fit.transition_residuals import transition_residuals
from numbad.fit.uncertainty import from_hessian, half_width
from numbad.sde.hidden_state import HiddenState

_MOVED = 0.3  # standard errors by which other keys may move an estimate


class DiffusionFit(Minimum):
    """The outcome of `fit_sde`: a `FitResult` by likelihood.

    `cost` is the negative log-likelihood and, with priors, half of the squares of these:
    ``(v - mean) / deviation``, or ``log(v / median) / deviation``. `loglik` is that of the data alone.
    """

    stored = ("loglik", "aic", "bic", "fixed")

    @classmethod
    def from_json(cls, text, density):
        """Return the result that `to_json` wrote; `density` is that of `fit_sde`, which JSON cannot hold.

        Raises `DataError` for a text that is not from `to_json`, and for a density of other parameters.
        """
        from numbad.fit.diffusion_store import load

        try:
            return cls(*load(json.loads(text), density))
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"not a result of fit_sde: {error}") from error

    def _dump(self):
        from numbad.fit.diffusion_store import dump

        return dump(self)

    def summary(self):
        """Return a table of the estimates with standard errors and 95 % intervals, as text."""
        count = len(self.problem.series)
        several = f" of {count} experiments" if count > 1 else ""
        return likelihood_table(self, f"{self.problem.count} {self.problem.counted}{several}")

    __repr__ = __str__ = summary

    def plot(self, path=None, ax=None, *, title=None, xlabel="t", labels=None, ahead=None):
        """Draw the data and what the fit says of them.

        Of a fit by transitions: the series, then the profile of each unknown (twice the loss of
        log-likelihood when it is held) with the line that bounds its 95 % interval. Of a fit by a Kalman
        filter: what was observed, and each component of the state, its mean and 95 % band given the
        observations up to then; in the same panels where the whole state is observed. Each experiment has
        panels of its own. `labels` are the names of what was observed. `ahead`, a time: the median and the
        band of 5 to 95 % of the paths that `predictive_band` tells for so long after the last observation.

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
        experiment=None,
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
        experiment : str, optional
            Which one, where there are several: its parameters are taken, and what was observed in it.

        Raises
        ------
        ArgumentError
            for levels, numbers and times that are none; without `solve` or `y0` where they are needed.
        ModelError
            for an experiment that is none; where the estimates have no normal distribution to draw from: at
            a bound, or not determined by the data; where no path stays finite.

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
        number = self._number(experiment)
        return predictive_band(self, number, ts, key, y0, solve, levels, paths, draws)

    def filtered(self, ts=None, experiment=None):
        """Return what the filter of a fit tells of the state at the estimates: `Filtered(mean, cov, loglik)`.

        Mean (k, n) and covariance (k, n, n) of the state at times `ts`, by default those of the data, given
        all observations up to then: after the last one, a forecast. The parameters count as known.
        `experiment` is the name of one, where there are several.

        Raises
        ------
        ArgumentError
            for times that do not increase, or begin before the data.
        ModelError
            for a fit by transitions or moments, which have no filter; for an experiment that is none.
        """
        if self.problem.hidden is None:
            raise ModelError("this fit is by no filter: there is no state but what was observed")
        number = self._number(experiment)
        one, hidden = self.problem.series[number], self.problem.densities[number]
        times, values, params = one.times, one.values, self._parameters(one)
        if ts is None:
            return hidden.filtered(times, values, params)
        ts = increasing(ts)
        if ts[0] < times[0]:
            raise ArgumentError(f"ts begin before the data, at {ts[0]:g}; these do at {times[0]:g}")
        grid = np.union1d(times, ts)
        seen = np.full((len(grid), values.shape[1]), np.nan)
        seen[np.searchsorted(grid, times)] = values
        found = hidden.filtered(grid, seen, params)
        rows = np.searchsorted(grid, ts)
        return found._replace(mean=found.mean[rows], cov=found.cov[rows])

    def _number(self, experiment):
        """The number of an experiment that is given by name, or not at all where it is the only one."""
        names = [one.name for one in self.problem.series]
        if experiment is None and len(names) == 1:
            return 0
        if experiment not in names or experiment is None:
            listed = ", ".join(map(repr, names))
            raise ModelError(f"experiment={experiment!r}: the experiments are {listed}")
        return names.index(experiment)

    def _parameters(self, one):
        """Parameter of the density -> its estimate, or what it is known to be, in an experiment."""
        estimates = one.parameters(self.x).tolist()
        return dict(zip(self.problem.names, estimates, strict=True))

    def _curve(self, t, experiment, states=False):
        raise ModelError(
            "this result has no curve in time, but paths: predictive_band(ts, key) has their quantiles, and "
            "of a fit by a filter, filtered(ts) the state"
        )

    @cached_property
    def residuals(self):
        """What is standard normal where the model holds, above zero where less was observed than expected.

        Of a fit by a Kalman filter (expected - observed) / deviation: see its `residuals`. Of one by
        transitions, shape (k - 1,), minus the normal quantile of each, given the observation before it: see
        `transition_residuals`. By the name of the experiment where there are several. ModelError for fits by
        simulation, which have none.
        """
        found = {one.name: self._residuals_of(e) for e, one in enumerate(self.problem.series)}
        return found if len(found) > 1 else next(iter(found.values()))

    def _residuals_of(self, number):
        problem, one = self.problem, self.problem.series[number]
        params = self._parameters(one)
        if problem.hidden is not None:
            return problem.hidden.residuals(one.times, one.values, params)
        if isinstance(problem.density, HiddenState):
            raise ModelError("a fit by simulation has no residuals; one by transitions has")
        density = compiled_density(problem.density)
        return transition_residuals(density, one.times, one.values, list(params.values()))

    @property
    def degrees(self):
        raise ModelError(
            "a fit by likelihood has no degrees of freedom: noise is among its parameters"
        )

    residual_std = degrees

    @cached_property
    def message(self):
        return "; ".join([self._reason.rstrip("."), *self._cautions()])

    def _cautions(self):
        yield from super()._cautions()
        if self.problem.is_simulated:
            yield from self._noise()

    def _noise(self):
        """What to know about the simulation that the likelihood rests on."""
        cov, x = self._uncertainty.cov, self.problem.unknowns.internal(self.x)
        try:
            with np.errstate(all="ignore"):  # where the data do not determine something
                moved = self.problem.moved_by_other_keys(x, cov) / np.sqrt(np.diag(cov))
        except FAILURES:
            yield "by other keys the likelihood cannot be evaluated at the estimates: simulate more"
            return
        for name, errors in zip(self.names, moved, strict=True):
            if _MOVED < errors < np.inf and errors == np.nanmax(moved):
                yield (
                    f"other keys move {name} by {errors:.1f} standard errors, which are those of the noise "
                    "of the simulation: simulate more"
                )

    @cached_property
    def _likelihood(self):
        """The log-likelihood of the data, without priors, and how many noise levels it takes: none."""
        return self.problem.priors.cost(self.x)[0] - self.cost, 0

    loglik, aic, log_posterior = FitResult.loglik, FitResult.aic, FitResult.log_posterior

    @property
    def bic(self):
        return self._criterion(np.log(self.problem.count))

    @cached_property
    def _uncertainty(self):
        return from_hessian(self.problem.curvature(self.problem.unknowns.internal(self.x)))

    def profile(self, name, level=0.95):
        """Return the `Profile` of a parameter: the values that a likelihood ratio does not reject.

        With the parameter held, the others are fitted anew; the interval ends where the log-likelihood, with
        priors the log-posterior, is below its maximum by half of chi^2(level; 1). An end is infinite where it
        never is (0 on the log scale, a bound on the logit's). Raises `ModelError` for an unknown name, and
        where the profile finds a better fit than this one, which is a warning where the likelihood is
        simulated.
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
        values = [unknowns.natural_at(index, x, self.x) for x, _ in points]
        low, high = (unknowns.natural_at(index, x, self.x) for x in ends)
        costs = tuple(cost for _, cost in points)
        least = int(np.argmin(costs))
        if is_better(
            costs[least], self.cost, self.problem.count
        ):  # where simulation makes it uneven
            told = better_told(name, values[least], costs[least], self.cost)
            warnings.warn(f"{told}, or simulate more paths", NumbadWarning, stacklevel=2)
        return Profile(
            name, float(self.x[index]), low, high, level, threshold, tuple(values), costs
        )

    def _end(self, index, best, step, threshold, farthest=20.0):
        """Where the cost crosses the threshold on one side; infinite where it does not in 20 errors."""
        from scipy.optimize import brentq

        points, state, unknowns = [], {"x": best}, self.problem.unknowns
        limit = unknowns.internal_bounds[int(step > 0.0), index]
        if not np.isfinite(step):  # the data do not determine it
            return limit, points

        room = (limit - best[index]) / step  # infinite without a bound
        if not room > 0.0:
            return limit, points

        def above(distance):
            x, cost = self._held_at(index, best[index] + distance * step, state["x"])
            state["x"] = x
            points.append((x[index], cost))
            if is_better(cost, self.cost, self.problem.count) and not self.problem.is_simulated:
                value = unknowns.natural_at(index, x[index], self.x)
                raise ModelError(better_told(self.names[index], value, cost, self.cost))
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
            return x, problem.cost(x)
        return problem.held_at(x, others)
