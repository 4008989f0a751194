"""SciPy's special functions in compiled code, with derivatives."""

from numba.core.registry import cpu_target
from scipy.special import erf, gammaln, jv

from ..rules import ship
from ..rules.special_functions import PARTIALS
from .compiling import compile_pointer

__all__ = ["erf", "gammaln", "jv"]

for _fn in PARTIALS:
    compile_pointer(_fn)
ship(PARTIALS)

# This module may be loaded while Numba infers the types of a function that names it.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
