"""Reverse mode: the adjoint of a function, made by transforming Numba's typed IR."""

from . import pipeline  # noqa: F401  (it registers itself)
from .pullbacks import pullback

__all__ = ["pullback"]
