"""What a fit returns."""

import json
from functools import cached_property

import numpy as np

from numbad.errors import DataError, ModelError
from numbad.fit.multistart import best
from numbad.fit.statistics import half_width, uncertainty


class FitResult:
    """The outcome of a fit; printing it shows `summary()`.

    Attributes
    ----------
    params : dict
        Unknown -> estimate, in the units in which it was given.
    stderr : dict
        Unknown -> standard error; inf where the data do not determine the unknown, NaN where there
        are no degrees of freedom. On the log scale by the delta method: estimate times the standard
        error of its logarithm.
    x : array, shape (k,)
        The estimates alone.
    cov, correlation : array, shape (k, k)
        Covariance and correlation of the estimates, in the order of `params`.
    cost : float
        Half the sum of the (robust) losses of the residuals.
    residuals : array or dict
        (model - data) / sigma in the form of the data, NaN where missing; with ``scale="log"``,
        (log(model) - log(data)) / sigma.
    residual_std : float
        Residual standard deviation, sqrt(sum of squares / (observations - unknowns)).
    success : bool
        Whether the optimiser converged.
    message : str
        Why it stopped, and what to know about the estimates.
    nfev : int
        Evaluations of residuals and Jacobian, over all starts.
    starts : tuple
        Each start's local fit: ``index``, ``start``, ``values``, ``cost``, ``nfev``, ``success``,
        ``message``.
    """

    def __init__(self, problem, fits):
        found = best(fits)
        self.problem = problem
        self.starts = tuple(fits)
        self.names = problem.unknowns.names
        self.x = np.array(found.values)
        self.cost = found.cost
        self.nfev = sum(fit.nfev for fit in fits)
        self.success = found.success
        self._reason = found.message

    @property
    def params(self):
        return dict(zip(self.names, self.x.tolist(), strict=True))

    @cached_property
    def _at_optimum(self):
        """Residuals, flat, and Jacobian at the estimates."""
        return self.problem.evaluate(self.problem.unknowns.internal(self.x))

    @cached_property
    def residuals(self):
        return self.problem.arrange(self._at_optimum[0])

    @cached_property
    def _uncertainty(self):
        return uncertainty(*self._at_optimum, self.problem.control)

    @cached_property
    def residual_std(self):
        return float(np.sqrt(self._uncertainty.variance))

    @cached_property
    def degrees(self):
        """Degrees of freedom: observations less unknowns."""
        return self._uncertainty.degrees

    @cached_property
    def cov(self):
        slopes = self.problem.unknowns.slopes(self.x)
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
        notes = [self._reason.rstrip(".")]
        loose = [n for n, e in self.stderr.items() if np.isinf(e)]
        if loose:
            notes.append(f"the data do not determine {', '.join(loose)}")
        active = self.problem.unknowns.active(self.x)
        if active:
            notes.append(f"at a bound: {', '.join(active)}; standard errors ignore bounds")
        if self.degrees == 0:
            notes.append("as many unknowns as observations: no estimate of the noise")
        failed = sum(not np.isfinite(fit.cost) for fit in self.starts)
        if failed:
            notes.append(f"{failed} of {len(self.starts)} starts could not be evaluated")
        return "; ".join(notes)

    def interval(self, level=0.95):
        """Return unknown -> (low, high), the confidence interval from its standard error.

        On the log scale it is symmetric in the logarithm. `profile` gives the sharper interval
        where the model is far from linear.
        """
        deviations = self._half_width(level) * np.sqrt(np.diag(self.cov))
        with np.errstate(over="ignore"):
            if self.problem.unknowns.log:
                factor = np.exp(deviations / self.x)
                low, high = self.x / factor, self.x * factor
            else:
                low, high = self.x - deviations, self.x + deviations
        ends = zip(low.tolist(), high.tolist(), strict=True)
        return dict(zip(self.names, ends, strict=True))

    def _half_width(self, level):
        return half_width(level, self.degrees, self.problem.control.known_sigma)

    def summary(self):
        """Return a table of the estimates with standard errors and 95 % intervals, as text."""
        from numbad.fit.report import table

        return table(self)

    __repr__ = __str__ = summary

    def predict(self, t):
        """Return the fitted model at times t, shape (len(t), n), or (n,) for one time.

        Raises `DataError` for times before the initial one.

        >>> import numpy as np, numbad as nd
        >>> def decay(t, y, rate):
        ...     return (-rate * y[0],)
        >>> t = np.linspace(0.0, 2.0, 9)
        >>> result = nd.fit.fit_ode(decay, t, 3.0 * np.exp(-1.5 * t), [1.0], y0=[3.0])
        >>> print(result.predict([1.0]).round(6))
        [[0.66939]]
        """
        states, _ = self._curve(np.atleast_1d(t))
        return states if np.ndim(t) else states[0]

    def band(self, t, level=0.95):
        """Return (low, high), the confidence band of the fitted model, each (len(t), n).

        Pointwise, by the delta method from the sensitivities (Seber & Wild, Nonlinear Regression,
        1989, section 5.1); multiplicative on the log scale. It is about the model's mean, not about
        single observations.
        """
        states, partials = self._curve(np.atleast_1d(t))
        gradients = partials * self.problem.unknowns.slopes(self.x)
        width = self._half_width(level) * self._uncertainty.deviation(gradients)
        if not self.problem.unknowns.log:
            return states - width, states + width
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            factor = np.exp(width / np.where(states > 0.0, states, np.nan))
        return states / factor, states * factor

    def _curve(self, t):
        if not hasattr(self.problem, "curve"):
            raise ModelError("this result has no model in time: it is not from fit_ode")
        return self.problem.curve(self.x, t)

    def profile(self, name, level=0.95):
        """Return the profile likelihood interval of an unknown, a `Profile`.

        See `numbad.fit.profile.profile` for the method. Raises `ModelError` for an unknown name, a
        robust loss, or where the profile finds a better fit than this one.
        """
        from numbad.fit.profile import profile

        return profile(self, name, level)

    def plot(self, path, *, title=None, xlabel="t", ylabel=None):
        """Draw data, fit and 95 % band, one panel a component, to an image file; return the path.

        The suffix of `path` says the format (png, pdf, svg).
        """
        from numbad.fit.report import draw

        return draw(self, path, title, xlabel, ylabel)

    def to_json(self):
        """Return everything as a JSON text, floats exact; `from_json` reads it.

        Numbers that JSON has no form for are the strings "nan", "inf", "-inf".
        """
        from numbad.fit.store import dump

        return json.dumps(dump(self), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text, fun):
        """Return the result that `to_json` wrote; `fun` is the model, which JSON cannot hold.

        Raises `DataError` for a text that is not from `to_json`.
        """
        from numbad.fit.store import load

        try:
            return cls(*load(json.loads(text), fun))
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"not a result of fit_ode: {error}") from error
