"""Stochastic differential equations: compiled, differentiable solvers."""

from numbad.sde.ensembles import Statistics, ensemble
from numbad.sde.solution_operator import solver

__all__ = ["Statistics", "ensemble", "solver"]
