"""What the residuals and their Jacobian at an optimum say about the unknowns."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from numbad.errors import ModelError
from numbad.fit.noise import DEPENDENT
from numbad.fit.robust_losses import influence

# A gradient with more than this fraction of its length in an undetermined direction is, too.
UNDETERMINED = 1e-6


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The covariance of the unknowns on the internal scale, root^T root, and what it rests on.

    `length`, shape (k,), scales the unknowns; `null`, shape (d, k), spans the directions, so
    scaled, that the data do not determine. `variance` is that of a residual of weight 1.
    """

    root: np.ndarray
    null: np.ndarray
    length: np.ndarray
    variance: float
    degrees: int

    def deviation(self, gradients):
        """Return the standard error of a function of the unknowns, given its gradients (..., k).

        Infinite where the data do not determine the function.
        """
        finite = np.linalg.norm(gradients @ self.root.T, axis=-1)
        if not len(self.null):
            return finite
        scaled = gradients / self.length
        lost = np.linalg.norm(scaled @ self.null.T, axis=-1)
        return np.where(lost > UNDETERMINED * np.linalg.norm(scaled, axis=-1), np.inf, finite)

    @property
    def undetermined(self):
        """Which unknowns the data do not determine, shape (k,), booleans."""
        return np.isinf(self.deviation(np.eye(len(self.length))))

    @property
    def cov(self):
        """The covariance; undetermined unknowns have infinite variance, NaN beside it."""
        cov, loose = self.root.T @ self.root, self.undetermined
        cov[loose, :] = np.nan
        cov[:, loose] = np.nan
        cov[loose, loose] = np.inf
        return cov


def uncertainty(residuals, jacobian, control, priors=0):
    """Return the `Uncertainty` from residuals, shape (m,), and Jacobian, shape (m, k); `priors` come last.

    The covariance is s^2 (J^T J)^-1 with s^2 = r^T r / (m - k), and s = 1 where sigma is absolute
    (G. A. F. Seber & C. J. Wild, Nonlinear Regression, 1989, section 2.1). With a robust loss s^2
    is K^2 [sum psi^2 / (m - k)] / [mean psi']^2, K = 1 + (k / m) var(psi') / [mean psi']^2
    (P. J. Huber, Robust Statistics, 1981, section 7.6). Priors beside a robust loss: see `_with_priors`.
    """
    degrees = len(residuals) - jacobian.shape[1]
    if priors and control.loss != "linear":
        return _with_priors(residuals, jacobian, control, priors)
    variance = _residual_variance(residuals, degrees, control)
    root, null, length = _inverse(jacobian)
    scale = 1.0 if control.known_sigma else np.sqrt(variance)
    return Uncertainty(scale * root, null, length, variance, degrees)


def _inverse(jacobian):
    """Return R with R^T R = (J^T J)^-1, the directions that J does not see, and the scales of unknowns."""
    length = np.linalg.norm(jacobian, axis=0)
    length[length == 0.0] = 1.0
    _, singular, rows = np.linalg.svd(jacobian / length, full_matrices=False)
    kept = singular > DEPENDENT * singular[0]
    return rows[kept] / (singular[kept, None] * length), rows[~kept], length


def _with_priors(residuals, jacobian, control, priors):
    """Return the `Uncertainty` where the data count by a robust loss and priors by their squares.

    H^-1 M H^-1 of H = c J^T J + P and M = c^2 s^2 J^T J + P, the curvature of the cost and the spread of its
    gradient (Huber, section 6.3): J is that of the data, P that of the priors, c = mean psi' and s^2 what it
    is without priors. Without priors this is s^2 (J^T J)^-1, without data P^-1.
    """
    degrees, data = len(residuals) - jacobian.shape[1], len(residuals) - priors
    variance = _residual_variance(residuals[:data], degrees, control)
    mean = influence(residuals[:data], control)[1].mean()
    curvature, spread = jacobian.copy(), jacobian.copy()
    curvature[:data] *= np.sqrt(max(mean, 0.0))
    spread[:data] *= mean * np.sqrt(variance)
    root, null, length = _inverse(curvature)
    return Uncertainty(spread @ (root.T @ root), null, length, variance, degrees)


def from_hessian(hessian):
    """Return the `Uncertainty` of a minimum of a negative log-likelihood: the inverse Hessian.

    Directions in which the function does not curve upwards are undetermined, and so are all where the
    Hessian is not finite.
    """
    count = len(hessian)
    if not np.isfinite(hessian).all():
        return Uncertainty(np.zeros((0, count)), np.eye(count), np.ones(count), 1.0, None)
    length = np.sqrt(np.abs(np.diag(hessian)))
    length[length == 0.0] = 1.0
    curvature, columns = np.linalg.eigh(hessian / np.outer(length, length))
    kept = curvature > DEPENDENT * max(curvature[-1], 0.0)
    root = columns.T[kept] / (np.sqrt(curvature[kept, None]) * length)
    return Uncertainty(root, columns.T[~kept], length, 1.0, None)


def _residual_variance(residuals, degrees, control):
    if degrees == 0:
        return np.nan
    slope, curvature = influence(residuals, control)
    mean = curvature.mean()
    if mean <= 0.0:
        return np.nan
    count = len(residuals)
    correction = 1.0 + max(count - degrees, 0) / count * curvature.var() / mean**2
    return float(correction**2 * (slope @ slope) / degrees / mean**2)


def check_level(level):
    """Raise ModelError for what is no level of confidence."""
    if not (isinstance(level, Real) and 0.0 < level < 1.0):
        raise ModelError(f"level must be between 0 and 1, such as 0.95; got {level!r}")


def half_width(level, degrees, known_sigma):
    """Return how many standard errors a two-sided interval of that level extends.

    The quantile of Student's t with so many degrees of freedom; of the normal distribution where
    sigma is known.
    """
    from scipy.special import ndtri, stdtrit

    upper = 0.5 + 0.5 * level
    if known_sigma:
        return float(ndtri(upper))
    return float(stdtrit(degrees, upper)) if degrees else np.nan
