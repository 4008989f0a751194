"""Ordinary differential equations: compiled, differentiable solvers."""

from numbad.ode.solving import solver

__all__ = ["solver"]
