"""Ordinary differential equations: compiled, differentiable solvers."""

from numbad.ode.consistent_start import consistent_state
from numbad.ode.events import at_times, event
from numbad.ode.ivp import solve_ivp
from numbad.ode.solving import solver
from numbad.ode.steady import steady_state

__all__ = ["at_times", "consistent_state", "event", "solve_ivp", "solver", "steady_state"]
