"""Ordinary differential equations: compiled, differentiable solvers."""

from numbad.ode.ivp import solve_ivp
from numbad.ode.solving import solver

__all__ = ["solve_ivp", "solver"]
