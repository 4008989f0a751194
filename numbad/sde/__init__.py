"""Stochastic differential equations: compiled, differentiable solvers."""

from numbad.sde.solution_operator import solver

__all__ = ["solver"]
