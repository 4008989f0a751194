"""Robust losses of residuals, by SciPy's names: rho(z) of z = (residual / f_scale)^2.

The cost is half the sum of f_scale^2 rho(z) (P. J. Huber, Robust Statistics, 1981; B. Triggs et al., "Bundle
Adjustment - A Modern Synthesis", 2000).
"""

import numpy as np

LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")


def terms(loss, z):
    """Return rho(z), rho'(z) and rho''(z), shape (3, m); `loss` may be a callable of SciPy's kind."""
    if callable(loss):
        return loss(z)
    if loss == "soft_l1":
        root = np.sqrt(1.0 + z)
        return np.array([2.0 * (root - 1.0), 1.0 / root, -0.5 / root**3])
    if loss == "huber":
        outer, root = z > 1.0, np.sqrt(np.maximum(z, 1.0))
        value = np.where(outer, 2.0 * root - 1.0, z)
        return np.array([value, 1.0 / root, np.where(outer, -0.5 / root**3, 0.0)])
    if loss == "cauchy":
        return np.array([np.log1p(z), 1.0 / (1.0 + z), -1.0 / (1.0 + z) ** 2])
    if loss == "arctan":
        return np.array([np.arctan(z), 1.0 / (1.0 + z**2), -2.0 * z / (1.0 + z**2) ** 2])
    return np.array([z, np.ones_like(z), np.zeros_like(z)])


def of_data_alone(loss, count):
    """The loss as SciPy takes it; residuals after so many count by their squares."""
    if loss == "linear" or not (callable(loss) or loss in LOSSES):
        return loss

    @np.errstate(over="ignore")  # of a trial step far away, which is rejected then
    def mixed(z):
        return np.hstack([terms(loss, z[:count]), terms("linear", z[count:])])

    return mixed


def influence(residuals, control):
    """Return the first and second derivative of each residual's loss by the residual."""
    z = (residuals / control.f_scale) ** 2
    _, first, second = terms(control.loss, z)
    return first * residuals, first + 2.0 * z * second
