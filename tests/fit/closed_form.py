"""Least-squares problems in closed form, offering what the fit layer asks of a problem."""

import numpy as np

from numbad.errors import IntegrationError
from numbad.fit.problem import FitControl
from numbad.fit.unknowns import make_unknowns


class Formula:
    """Residuals `model(p, t) - y` with the Jacobian by hand; `forbidden(p)` says where it fails."""

    def __init__(self, model, jacobian, t, y, start, bounds=None, log=False, forbidden=None, **how):
        names = tuple("abcdef"[: len(start)])
        self.model, self.jacobian, self.t, self.y = model, jacobian, np.array(t), np.array(y)
        how_fitted = "log" if log else "linear"
        self.unknowns = make_unknowns(names, np.array(start, float), bounds, how_fitted)
        self.log, self.levels, self.priors, self.fixed = log, None, (), ()
        self.log_widths = np.log(self.y).sum() if log else 0.0
        self.control = FitControl(**how)
        self.forbidden = forbidden
        self.count = len(self.y)
        self.digests = {"model": "formula"}
        self.evaluations = 0

    def prepare_to_travel(self):
        """Pickles as it is."""

    def arrange(self, residuals):
        return residuals

    @np.errstate(all="ignore")
    def evaluate(self, x):
        self.evaluations += 1
        p = self.unknowns.natural(x)
        if self.forbidden is not None and self.forbidden(p):
            raise IntegrationError(f"cannot be integrated at {p}")
        model, jacobian = self.model(p, self.t), self.jacobian(p, self.t) * self.unknowns.slopes(p)
        if self.log:
            return np.log(model) - np.log(self.y), jacobian / model[:, None]
        return model - self.y, jacobian


def decay(p, t):
    return p[0] * np.exp(-p[1] * t)


def decay_jacobian(p, t):
    e = np.exp(-p[1] * t)
    return np.stack((e, -p[0] * t * e), axis=1)


def saturation(p, t):
    return p[0] * (1.0 - np.exp(-p[1] * t))


def saturation_jacobian(p, t):
    e = np.exp(-p[1] * t)
    return np.stack((1.0 - e, p[0] * t * e), axis=1)


T = np.linspace(0.0, 3.0, 13)
NOISE = np.array([2, -1, 0, 3, -2, 1, 1, -3, 2, 0, -1, 1, -2]) * 0.01
Y = decay((2.0, 0.7), T) + NOISE


def decaying(start=(1.0, 1.0), y=Y, **options):
    """The exponential decay y = a exp(-b t)."""
    return Formula(decay, decay_jacobian, T, y, start, **options)
