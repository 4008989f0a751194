"""Fits: of ODEs to data, and SciPy's optimisers with exact derivatives."""

from importlib import import_module

from numbad.fit.experiment import Experiment
from numbad.fit.ode import fit_ode
from numbad.fit.optimize import Minimum, least_squares, minimize
from numbad.fit.profile import Profile
from numbad.fit.result import FitResult

__all__ = [
    "DiffusionFit",
    "Experiment",
    "FitResult",
    "Minimum",
    "Profile",
    "fit_ode",
    "fit_sde",
    "least_squares",
    "minimize",
]

# Loaded at first use: a fit of an ODE needs nothing of `numbad.sde`.
_OF_SDES = ("DiffusionFit", "fit_sde")


def __getattr__(name):
    if name not in _OF_SDES:
        raise AttributeError(f"module 'numbad.fit' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module("numbad.fit.diffusions"), name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})
