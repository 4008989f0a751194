"""Forward mode: dual numbers as a Numba type, and the compilation of functions for them."""

from . import (  # noqa: F401  (they register with Numba)
    array,
    clip,
    construction,
    draws,
    elementwise,
    hashed,
    made_instances,
    memory,
    number_class,
    overloads,
    products,
    reductions,
    structural,
    tuples,
    whole_arrays,
)
from .access import dtype_like, primal, promote_like, strip, tangent_of
from .dual import Dual
from .dual_dispatcher import dualized

__all__ = ["Dual", "dtype_like", "dualized", "primal", "promote_like", "strip", "tangent_of"]
