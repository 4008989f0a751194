"""The density of the unknowns given the data, with its gradient: what samplers take."""

import numpy as np

from numbad.errors import ArgumentError, ModelError
from numbad.fit.local import FAILURES


class LogPosterior:
    """The logarithm of the posterior density of a fit and its gradient, in coordinates without bounds.

    From `FitResult.log_posterior`. Calling it with coordinates, shape (k,), returns (value, gradient),
    the value but for a constant; where the model cannot be evaluated (-inf, zeros). Coordinates are those
    on which the unknowns are fitted, as their transforms have them.

    Attributes
    ----------
    names : tuple of str
        The unknowns, in their order.
    start : array, shape (k,)
        The coordinates of the estimates.
    cov : array, shape (k, k)
        The covariance of the coordinates there: a scale for steps, a mass matrix.
    """

    def __init__(self, problem, values, cov):
        self._problem = problem
        self.names, self.cov = problem.unknowns.names, cov
        self.start = problem.unknowns.internal(values)

    def __call__(self, x):
        x, unknowns = np.asarray(x, dtype=np.float64), self._problem.unknowns
        if x.shape != self.start.shape:
            raise ArgumentError(f"{len(self.start)} coordinates are wanted, not shape {x.shape}")
        lower, upper = unknowns.internal_bounds
        nowhere = -np.inf, np.zeros(len(x))
        if not ((x >= lower) & (x <= upper)).all():
            return nowhere
        try:
            value, gradient = self._of_data_and_priors(x)
        except ModelError:
            raise
        except FAILURES:
            return nowhere
        stretch, by_stretch = self._stretch(x)
        value, gradient = value + stretch, gradient + by_stretch
        return (value, gradient) if np.isfinite(value) and np.isfinite(gradient).all() else nowhere

    def natural(self, x):
        """Return the unknowns, in their units, at coordinates of shape (..., k): of draws, say."""
        return self._problem.unknowns.natural(np.asarray(x, dtype=np.float64))

    def _of_data_and_priors(self, x):
        problem = self._problem
        if hasattr(problem, "gradient"):  # of a likelihood, priors included
            cost, slope = problem.gradient(x)
            return -cost, -slope
        residuals, jacobian = problem.evaluate(x)
        count = len(residuals) - len(problem.priors or ())
        value, gradient = 0.0, np.zeros(len(x))
        for rows, known in _groups(problem, count, len(residuals)):
            own, slopes = residuals[rows], jacobian[rows]
            squares = own @ own
            # Unknown noise is integrated out, with the density 1 / sigma before the data: m is how many
            # residuals share it, and what is left is squares**(-m / 2).
            value -= 0.5 * (squares if known else len(own) * np.log(squares))
            gradient -= (1.0 if known else len(own) / squares) * (own @ slopes)
        return float(value), gradient

    def _stretch(self, x):
        """The logarithm of how prior densities, of v or of log v, change to the coordinates; its gradient.

        What has no prior is taken for evenly spread on the scale on which it is fitted.
        """
        unknowns, priors, gradient = self._problem.unknowns, self._problem.priors, np.zeros(len(x))
        if not priors:
            return 0.0, gradient
        values, index = unknowns.natural(x), priors.index
        slopes, bends = unknowns.slopes(values)[index], unknowns.bends(values)[index]
        values = values[index]
        with np.errstate(all="ignore"):
            along = np.where(priors.log, slopes / values, slopes)
            gradient[index] = bends / slopes - np.where(priors.log, slopes / values, 0.0)
            return float(np.log(along).sum()), gradient


def _groups(problem, count, rows):
    """Pairs of rows of residuals and whether their noise is known; those of priors are."""
    group = np.full(rows, -1)
    if problem.levels:
        group[:count] = problem.levels.group
    elif not problem.control.known_sigma:
        group[:count] = 0
    for number in np.unique(group).tolist():
        yield np.flatnonzero(group == number), number < 0
