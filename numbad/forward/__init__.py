"""Forward mode: dual numbers as a Numba type, and the compilation of functions for them."""

from . import (  # noqa: F401  (they register with Numba)
    clip,
    construction,
    dual_arrays,
    dual_products,
    dual_reductions,
    elementwise,
    hashed,
    made_instances,
    memory_layout,
    number_class,
    overloads,
    refused_draws,
    structural_duals,
    truncated,
    tuples,
    whole_dual_arrays,
)
from .access import dtype_like, primal, promote_like, strip, tangent_of
from .dual import Dual
from .dual_dispatcher import dualized

__all__ = ["Dual", "dtype_like", "dualized", "primal", "promote_like", "strip", "tangent_of"]
