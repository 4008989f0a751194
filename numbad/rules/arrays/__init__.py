"""What stands for NumPy's functions of whole arrays, and for draws; knows no differentiation engine."""

from . import (  # noqa: F401  (they register themselves)
    draws,
    made,
    polynomials,
    random_picks,
    reductions,
    sampled,
    statistics,
)
from .table import FUNCTIONS, METHODS, StandIns

__all__ = ["FUNCTIONS", "METHODS", "StandIns"]
