"""Fits: of ODEs to data, and SciPy's optimisers with exact derivatives."""

from numbad.fit.experiment import Experiment
from numbad.fit.ode import fit_ode
from numbad.fit.optimize import Minimum, least_squares, minimize
from numbad.fit.profile import Profile
from numbad.fit.result import FitResult

__all__ = ["Experiment", "FitResult", "Minimum", "Profile", "fit_ode", "least_squares", "minimize"]
