"""Stochastic differential equations: compiled, differentiable solvers."""

from numbad.sde.ensembles import Statistics, ensemble
from numbad.sde.multilevel import Multilevel, multilevel
from numbad.sde.solution_operator import solver

__all__ = ["Multilevel", "Statistics", "ensemble", "multilevel", "solver"]
