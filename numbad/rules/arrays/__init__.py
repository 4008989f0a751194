"""What stands for NumPy's functions of whole arrays; knows no differentiation engine."""

from . import made, polynomials, reductions, sampled, statistics  # noqa: F401  (they register themselves)
from .table import FUNCTIONS, METHODS, StandIns

__all__ = ["FUNCTIONS", "METHODS", "StandIns"]
