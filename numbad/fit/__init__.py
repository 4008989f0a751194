"""Fits: of ODEs to data, and SciPy's optimisers with exact derivatives."""

from numbad.fit.diffusions import DiffusionFit, fit_sde
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
