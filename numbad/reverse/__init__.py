"""Reverse mode: the adjoint of a function, made by transforming Numba's typed IR."""

from .pipeline import pullback

__all__ = ["pullback"]
