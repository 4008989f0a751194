"""Ordinary differential equations: compiled, differentiable solvers."""

from numbad.ode.events import at_times, event
from numbad.ode.ivp import solve_ivp
from numbad.ode.solving import solver

__all__ = ["at_times", "event", "solve_ivp", "solver"]
