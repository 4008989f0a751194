"""What a fit returns."""

import json
from functools import cached_property

import numpy as np

from numbad.errors import DataError, ModelError
from numbad.fit.multistart import best
from numbad.fit.noise import Weighted, log_likelihood, with_degrees
from numbad.fit.uncertainty import check_level, half_width, uncertainty


class FitResult:
    """The outcome of a fit; printing it shows `summary()`.

    Attributes
    ----------
    params : dict
        Unknown -> estimate, in the units in which it was given.
    stderr : dict
        Unknown -> standard error; inf where the data do not determine the unknown, NaN where there
        are no degrees of freedom. By the delta method where a transform is fitted: of a logarithm,
        estimate times the standard error of the logarithm.
    x : array, shape (k,)
        The estimates alone.
    cov, correlation : array, shape (k, k)
        Covariance and correlation of the estimates, in the order of `params`.
    cost : float
        Half the sum of the (robust) losses of the residuals, those of priors included; with
        ``sigma="estimate"`` the sum of log noise over the observations on top.
    residuals : array or dict
        (model - data) / sigma in the form of the data, NaN where missing; with ``scale="log"``,
        (log(model) - log(data)) / sigma. By the name of the experiment where there are several.
    residual_std : float
        Residual standard deviation, sqrt(sum of squares / (observations - unknowns)); a prior counts
        as an observation.
    loglik : float
        Logarithm of the likelihood of the data, Gaussian, log-normal with ``scale="log"``: at the
        given sigma where that is absolute; otherwise at the most likely noise, sigma times one
        factor, or a level for each observable with ``sigma="estimate"``. NaN with a robust loss, and
        where no level is the most likely one.
    aic, bic : float
        2 k - 2 loglik and k log(observations) - 2 loglik, k the number of unknowns and of noise
        levels estimated (H. Akaike, 1974; G. Schwarz, 1978). NaN where the estimates are not those of
        maximum likelihood: with priors or a robust loss.
    noise : dict
        Observable -> standard deviation, where ``sigma="estimate"``: the most likely one, the root of
        the mean square of its residuals.
    fixed : dict
        What could have been unknown and is fixed -> its value.
    success : bool
        Whether the optimiser converged; not where ``sigma="estimate"`` found data that the model meets
        exactly beside others, for which there is no best level.
    message : str
        Why it stopped, and what to know about the estimates.
    nfev : int
        Evaluations of residuals and Jacobian, over all starts.
    starts : tuple
        Each start's local fit: ``index``, ``start``, ``values``, ``cost``, ``nfev``, ``success``,
        ``message``.
    """

    stored = ("residuals", "residual_std", "degrees", "loglik", "aic", "bic", "noise", "fixed")

    def __init__(self, problem, fits):
        found = best(fits)
        self.problem = problem
        self.starts = tuple(fits)
        self.names = problem.unknowns.names
        self.x = np.array(found.values)
        self.cost = found.cost
        self.nfev = sum(fit.nfev for fit in fits)
        self._reason = found.message
        labels = problem.levels.labels if problem.levels else ()
        self.noise = dict(zip(labels, found.noise, strict=True))
        self._met_exactly = problem.levels.met_exactly(found.noise) if problem.levels else []
        self.success = found.success and not self._met_exactly
        self.fixed = dict(getattr(problem, "fixed", ()))

    @property
    def params(self):
        return dict(zip(self.names, self.x.tolist(), strict=True))

    @cached_property
    def _at_optimum(self):
        """Residuals, flat, and Jacobian at the estimates."""
        problem, levels = self.problem, tuple(self.noise.values())
        problem = Weighted(problem, levels) if levels else problem
        return problem.evaluate(problem.unknowns.internal(self.x))

    @cached_property
    def residuals(self):
        return self.problem.arrange(self._at_optimum[0])

    @cached_property
    def _uncertainty(self):
        residuals, jacobian = self._at_optimum
        if self.noise:
            residuals, jacobian = with_degrees(self.problem.levels, residuals, jacobian)
        problem = self.problem
        return uncertainty(residuals, jacobian, problem.control, len(problem.priors))

    @cached_property
    def residual_std(self):
        return float(np.sqrt(self._uncertainty.variance))

    @cached_property
    def degrees(self):
        """Degrees of freedom: observations less unknowns."""
        return self._uncertainty.degrees

    @cached_property
    def _likelihood(self):
        """The log-likelihood of the data, and how many noise levels were estimated for it."""
        problem, residuals = self.problem, self._at_optimum[0]
        if problem.control.loss != "linear" or self._met_exactly:
            return np.nan, 0
        data = residuals[: problem.count]
        if not self.noise:
            return log_likelihood(data, problem.log_widths, problem.control.known_sigma)
        penalty = problem.levels.penalty(tuple(self.noise.values()))
        return log_likelihood(data, problem.log_widths + penalty, True)[0], len(self.noise)

    @property
    def loglik(self):
        return float(self._likelihood[0])

    @property
    def aic(self):
        return self._criterion(2.0)

    @property
    def bic(self):
        return self._criterion(np.log(len(self._at_optimum[0])))

    def _criterion(self, price):
        """Return the price of each number that was estimated, less twice the log-likelihood."""
        if self.problem.priors:
            return np.nan
        loglik, levels = self._likelihood
        return float(price * (len(self.x) + levels) - 2.0 * loglik)

    @cached_property
    def cov(self):
        slopes = self.problem.unknowns.slopes(self.x)
        with np.errstate(over="ignore"):  # by parameters that may be any number
            return self._uncertainty.cov * np.outer(slopes, slopes)

    @property
    def stderr(self):
        return dict(zip(self.names, np.sqrt(np.diag(self.cov)).tolist(), strict=True))

    @property
    def correlation(self):
        deviations = np.sqrt(np.diag(self.cov))
        with np.errstate(invalid="ignore"):
            correlation = self.cov / np.outer(deviations, deviations)
        np.fill_diagonal(correlation, 1.0)
        return correlation

    @cached_property
    def message(self):
        notes = [self._reason.rstrip("."), *self._cautions()]
        if self.degrees == 0:
            notes.append("as many unknowns as observations: no estimate of the noise")
        return "; ".join(notes)

    def _cautions(self):
        """What to know about the estimates and the starts."""
        if self._met_exactly:
            yield (
                f"the model meets {', '.join(self._met_exactly)} exactly, so that the likelihood has no "
                'maximum: give a sigma there in place of "estimate"'
            )
        loose = [n for n, e in self.stderr.items() if np.isinf(e)]
        if loose:
            yield f"the data do not determine {', '.join(loose)}"
        gone = self.problem.unknowns.vanishing(self.x, list(self.stderr.values()))
        if gone:
            yield (
                f"{', '.join(gone)} went to 0, where the log scale ends: is it negative? Ways out: "
                f'transforms={{{gone[0]!r}: "linear"}}, or another start'
            )
        active = self.problem.unknowns.active(self.x)
        if active:
            yield f"at a bound: {', '.join(active)}; standard errors ignore bounds"
        failed = sum(not np.isfinite(fit.cost) for fit in self.starts)
        if failed:
            yield f"{failed} of {len(self.starts)} starts could not be evaluated"

    def interval(self, level=0.95):
        """Return unknown -> (low, high), the confidence interval from its standard error.

        It is symmetric in the scale on which the unknown is fitted: of a logarithm, say. `profile`
        gives the sharper interval where the model is far from linear.
        """
        unknowns = self.problem.unknowns
        deviations = self._half_width(level) * np.sqrt(np.diag(self._uncertainty.cov))
        center = unknowns.internal(self.x)
        low, high = (unknowns.extended(center + side * deviations) for side in (-1.0, 1.0))
        ends = zip(low.tolist(), high.tolist(), strict=True)
        return dict(zip(self.names, ends, strict=True))

    def _half_width(self, level):
        check_level(level)
        return half_width(level, self.degrees, self.problem.control.known_sigma)

    def log_posterior(self):
        """Return the density of the unknowns given data and priors, with its gradient, for samplers.

        A `LogPosterior`: a function of coordinates without bounds, from `start`, with the covariance `cov`;
        `natural(x)` gives the unknowns of draws. Priors are densities of the unknown, log-normal ones of its
        logarithm; what has none is evenly spread on the scale on which it is fitted (bounds that are no
        logit's end it). Noise that is not known, or estimated, is integrated out, with the density 1 / sigma
        before the data (H. Jeffreys, Theory of Probability, 1961, section 3.1).

        Raises `ModelError` with a robust loss, which is no likelihood.

        >>> import numpy as np, numbad as nd
        >>> def decay(t, y, rate):
        ...     return (-rate * y[0],)
        >>> t, noise = np.linspace(0.0, 4.0, 9), 0.02 * np.cos(np.arange(9.0) ** 2)
        >>> fit = nd.fit.fit_ode(decay, t, np.exp(-0.5 * t) + noise, dict(rate=1.0), y0=[1.0],
        ...                      transforms="log", priors=dict(rate=("lognormal", 0.6, 0.5)),
        ...                      sigma=0.02, absolute_sigma=True)
        >>> density = fit.log_posterior()
        >>> value, gradient = density(density.start)
        >>> bool(abs(gradient[0]) < 1e-3), bool(density(density.start + 0.1)[0] < value)
        (True, True)
        """
        from numbad.fit.log_posterior import LogPosterior

        if getattr(self.problem, "control", None) and self.problem.control.loss != "linear":
            raise ModelError(
                f"loss={self.problem.control.loss!r} is no likelihood: there is no posterior; fit with "
                'loss="linear"'
            )
        return LogPosterior(self.problem, self.x, self._uncertainty.cov)

    def summary(self):
        """Return a table of the estimates with standard errors and 95 % intervals, as text."""
        from numbad.fit.report import table

        return table(self)

    __repr__ = __str__ = summary

    def predict(self, t, experiment=None):
        """Return the fitted model at times t, shape (len(t), n), or (n,) for one time.

        The components of the state, or the observables where there are such. `experiment` is the
        name of one where there are several. Raises `DataError` for times before the initial one.

        >>> import numpy as np, numbad as nd
        >>> def decay(t, y, rate):
        ...     return (-rate * y[0],)
        >>> t = np.linspace(0.0, 2.0, 9)
        >>> result = nd.fit.fit_ode(decay, t, 3.0 * np.exp(-1.5 * t), [1.0], y0=[3.0])
        >>> print(result.predict([1.0]).round(6))
        [[0.66939]]
        """
        states, _ = self._curve(_times(t), experiment)
        return states if np.ndim(t) else states[0]

    def states(self, t, experiment=None):
        """Return the components of the state at times t, as `predict` does without observables."""
        states, _ = self._curve(_times(t), experiment, states=True)
        return states if np.ndim(t) else states[0]

    def band(self, t, level=0.95, experiment=None):
        """Return (low, high), the confidence band of the fitted model, each (len(t), n).

        Pointwise, by the delta method from the sensitivities (Seber & Wild, Nonlinear Regression,
        1989, section 5.1); multiplicative on the log scale. It is about the model's mean, not about
        single observations.
        """
        half_width = self._half_width(level)
        states, partials = self._curve(_times(t), experiment)
        gradients = partials * self.problem.unknowns.slopes(self.x)
        width = half_width * self._uncertainty.deviation(gradients)
        if not self.problem.log:
            return states - width, states + width
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            factor = np.exp(width / np.where(states > 0.0, states, np.nan))
        return states / factor, states * factor

    def _curve(self, t, experiment, states=False):
        if not hasattr(self.problem, "curve"):
            raise ModelError("this result has no model in time: it is not from fit_ode")
        names = [trial.name for trial in self.problem.trials]
        if experiment is None and len(names) == 1:
            return self.problem.curve(self.x, t, 0, states)
        if experiment not in names or experiment is None:
            listed = ", ".join(map(repr, filter(None, names))) or "none"
            raise ModelError(f"experiment={experiment!r}: the experiments are {listed}")
        return self.problem.curve(self.x, t, names.index(experiment), states)

    def profile(self, name, level=0.95):
        """Return the profile likelihood interval of an unknown, a `Profile`.

        See `numbad.fit.profile.profile` for the method. Raises `ModelError` for an unknown name, a
        robust loss, or where the profile finds a better fit than this one.
        """
        from numbad.fit.profile import profile

        return profile(self, name, level)

    def plot(self, path=None, ax=None, *, title=None, xlabel="t", ylabel=None):
        """Draw data, fit and 95 % band, one panel a component or observable of each experiment.

        Into the image file `path`, whose suffix says the format (png, pdf, svg), and returns the path;
        without one, returns the `matplotlib.figure.Figure`. `ax` are axes of your own to draw into, as
        many as there are panels. Raises `DataError` for a file that cannot be written, `ModelError`
        for another number of axes.
        """
        from numbad.fit.report import draw

        return draw(self, path, ax, title, xlabel, ylabel)

    def to_json(self):
        """Return everything as a JSON text, floats exact; `from_json` reads it.

        Numbers that JSON has no form for are the strings "nan", "inf", "-inf".
        """
        return json.dumps(self._dump(), indent=1, allow_nan=False)

    def _dump(self):
        from numbad.fit.store import dump

        return dump(self)

    @classmethod
    def from_json(cls, text, fun, observables=None, events=(), tstops=None, y0=None):
        """Return the result that `to_json` wrote; `fun` is the model, which JSON cannot hold.

        `observables`, `events`, `tstops` and a function `y0` are those that were given to `fit_ode`,
        which it cannot hold either.
        Raises `DataError` for a text that is not from `to_json`.
        """
        from numbad.fit.doses import read_events
        from numbad.fit.store import load

        events = read_events(events, tstops)
        try:
            return cls(*load(json.loads(text), fun, observables, events, y0))
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"not a result of fit_ode: {error}") from error


def _times(t):
    """Times to predict at as an array; DataError for what is none."""
    try:
        times = np.atleast_1d(np.asarray(t, dtype=np.float64))
    except (TypeError, ValueError):
        times = np.empty((0, 0))
    if times.ndim != 1 or not np.isfinite(times).all():
        raise DataError(f"t must be a time or a 1-D array of times, all finite; got {t!r}")
    return times
