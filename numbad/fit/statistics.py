"""What the residuals and their Jacobian at an optimum say about the unknowns."""

from dataclasses import dataclass

import numpy as np

from numbad.fit.noise import DEPENDENT

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


def uncertainty(residuals, jacobian, control):
    """Return the `Uncertainty` from residuals, shape (m,), and Jacobian, shape (m, k).

    The covariance is s^2 (J^T J)^-1 with s^2 = r^T r / (m - k), and s = 1 where sigma is absolute
    (G. A. F. Seber & C. J. Wild, Nonlinear Regression, 1989, section 2.1). With a robust loss s^2
    is K^2 [sum psi^2 / (m - k)] / [mean psi']^2, K = 1 + (k / m) var(psi') / [mean psi']^2
    (P. J. Huber, Robust Statistics, 1981, section 7.6).
    """
    degrees = len(residuals) - jacobian.shape[1]
    variance = _residual_variance(residuals, degrees, control)
    length = np.linalg.norm(jacobian, axis=0)
    length[length == 0.0] = 1.0
    _, singular, rows = np.linalg.svd(jacobian / length, full_matrices=False)
    kept = singular > DEPENDENT * singular[0]
    scale = 1.0 if control.known_sigma else np.sqrt(variance)
    root = scale * rows[kept] / (singular[kept, None] * length)
    return Uncertainty(root, rows[~kept], length, variance, degrees)


def from_hessian(hessian):
    """Return the `Uncertainty` of a minimum of a negative log-likelihood: the inverse Hessian.

    Directions in which the function does not curve upwards are undetermined.
    """
    length = np.sqrt(np.abs(np.diag(hessian)))
    length[length == 0.0] = 1.0
    curvature, columns = np.linalg.eigh(hessian / np.outer(length, length))
    kept = curvature > DEPENDENT * max(curvature[-1], 0.0)
    root = columns.T[kept] / (np.sqrt(curvature[kept, None]) * length)
    return Uncertainty(root, columns.T[~kept], length, 1.0, None)


def _residual_variance(residuals, degrees, control):
    if degrees == 0:
        return np.nan
    slope, curvature = _influence(residuals, control)
    mean = curvature.mean()
    if mean <= 0.0:
        return np.nan
    count = len(residuals)
    correction = 1.0 + (count - degrees) / count * curvature.var() / mean**2
    return float(correction**2 * (slope @ slope) / degrees / mean**2)


def _influence(residuals, control):
    """Return the first and second derivative of each observation's loss by its residual."""
    z = (residuals / control.f_scale) ** 2
    first, second = _loss_derivatives(control.loss, z)
    return first * residuals, first + 2.0 * z * second


def _loss_derivatives(loss, z):
    """Return rho'(z) and rho''(z) of SciPy's loss functions, or of a callable of SciPy's kind."""
    if callable(loss):
        return loss(z)[1:]
    if loss == "soft_l1":
        return (1.0 + z) ** -0.5, -0.5 * (1.0 + z) ** -1.5
    if loss == "huber":
        outer = np.maximum(z, 1.0)
        return outer**-0.5, np.where(z > 1.0, -0.5 * outer**-1.5, 0.0)
    if loss == "cauchy":
        return 1.0 / (1.0 + z), -1.0 / (1.0 + z) ** 2
    if loss == "arctan":
        return 1.0 / (1.0 + z**2), -2.0 * z / (1.0 + z**2) ** 2
    return np.ones_like(z), np.zeros_like(z)


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
