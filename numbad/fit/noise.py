"""Noise levels that are estimated with the unknowns, and the likelihood of the data.

With Gaussian errors of deviation s_k for observable k, m_k observations each, the negative
log-likelihood is, but for a constant, sum_k (m_k log s_k + S_k / (2 s_k^2)), S_k the sum of squares.
At given unknowns it is lowest for s_k^2 = S_k / m_k (G. A. F. Seber & C. J. Wild, Nonlinear
Regression, 1989, section 2.8). A fit alternates between unknowns and levels; each step lowers it.
"""

from dataclasses import dataclass

import numpy as np

# Of the size of the data: less does not count as noise where the model meets them exactly.
LEAST = 1e-10
# Columns of the Jacobian, scaled to unit length, whose singular value is below this fraction of
# the largest are taken for dependent: the data do not tell those unknowns apart.
DEPENDENT = 1e-10
LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, eq=False)
class NoiseLevels:
    """Which residuals share an unknown deviation: `group[i]` is its number, -1 where it is known.

    `size`, shape (levels,), is about how large the data are.
    """

    labels: tuple
    group: np.ndarray
    size: np.ndarray

    def __len__(self):
        return len(self.labels)

    @property
    def counts(self):
        """How many observations each level has."""
        return np.bincount(self.group[self.group >= 0], minlength=len(self))

    def estimate(self, residuals):
        """Return the most likely deviations, given residuals in the units of the data."""
        own = self.group >= 0
        squares = np.bincount(self.group[own], residuals[: len(own)][own] ** 2, len(self))
        return np.maximum(np.sqrt(squares / self.counts), LEAST * self.size)

    def met_exactly(self, deviations):
        """Return the labels of data that the model meets exactly while others it does not.

        The likelihood then has no maximum: it grows without end as such a deviation goes to zero.
        """
        least = np.asarray(deviations) <= 1.001 * LEAST * self.size
        return [] if least.all() else [self.labels[k] for k in np.flatnonzero(least)]

    def weights(self, deviations, rows):
        """Return what each of so many residuals is multiplied by; rows beyond the data by 1."""
        weights = np.ones(rows)
        own = np.flatnonzero(self.group >= 0)
        weights[own] = 1.0 / np.asarray(deviations)[self.group[own]]
        return weights

    def penalty(self, deviations):
        """Return sum_k m_k log s_k, what the cost has beyond half the sum of squares."""
        return float(self.counts @ np.log(deviations))


def with_degrees(levels, residuals, jacobian):
    """Return weighted residuals and Jacobian as standard errors take them.

    The most likely deviations are too small, as the unknowns were fitted to the same data: level k has
    m_k - h_k degrees of freedom left, h_k the sum of the leverages of its observations (their diagonal
    of J (J^T J)^-1 J^T), and its rows are divided by the root of m_k / (m_k - h_k). With a single level
    this is the usual estimate of the noise, S / (m - unknowns).
    """
    columns, singular, _ = np.linalg.svd(
        jacobian / np.maximum(np.linalg.norm(jacobian, axis=0), 1e-300), full_matrices=False
    )
    leverage = (columns[:, singular > DEPENDENT * singular[0]] ** 2).sum(axis=1)
    own = levels.group >= 0
    used = np.bincount(levels.group[own], leverage[: len(own)][own], len(levels))
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.sqrt(levels.counts / np.maximum(levels.counts - used, 0.0))
    weights = levels.weights(factors, len(residuals))
    return residuals * weights, jacobian * weights[:, None]


class Weighted:
    """A problem whose noise levels are held at `deviations`."""

    def __init__(self, problem, deviations):
        self.problem, self.unknowns, self.control = problem, problem.unknowns, problem.control
        self.levels, self.deviations, self.priors = problem.levels, deviations, problem.priors

    def evaluate(self, x):
        return self.weigh(*self.problem.evaluate(x))

    def weigh(self, residuals, jacobian):
        """Return residuals and Jacobian of the problem, divided by the deviations."""
        weights = self.levels.weights(self.deviations, len(residuals))
        return residuals * weights, jacobian * weights[:, None]


def log_likelihood(residuals, log_widths, known):
    """Return the log-likelihood of the data and the number of noise levels estimated for it.

    `residuals` are weighted, one an observation; `log_widths` is the sum of the logarithms of their
    deviations, of the observations, too, on the log scale. Unless these are `known`, they hold up to
    one factor, for which the most likely one is taken.
    """
    count, squares = len(residuals), float(residuals @ residuals)
    if known:
        return -0.5 * (squares + count * LOG_2PI) - log_widths, 0
    with np.errstate(divide="ignore"):
        return -0.5 * count * (LOG_2PI + np.log(squares / count) + 1.0) - log_widths, 1
