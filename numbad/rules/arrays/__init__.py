"""What stands for NumPy's functions of whole arrays; knows no differentiation engine."""

from . import reductions  # noqa: F401  (it registers what it defines)
from .table import FUNCTIONS, METHODS, StandIns

__all__ = ["FUNCTIONS", "METHODS", "StandIns"]
