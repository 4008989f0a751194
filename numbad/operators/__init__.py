"""The differential operators: each takes a function and returns a compiled function."""

import sys

from . import by_instance, nopython, operator_pullback  # noqa: F401  (they register themselves)
from .first_order import grad, jacobian, value_and_grad, value_and_jacobian
from .second_order import grad_and_hvp, hessian, hvp
from .sparsity import sparsity
from .stop import stop_gradient
from .tangent import derivative, jvp
from .vjp import vjp

__all__ = [
    "derivative",
    "grad",
    "grad_and_hvp",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "sparsity",
    "stop_gradient",
    "value_and_grad",
    "value_and_jacobian",
    "vjp",
]

if "scipy.special" in sys.modules:  # whose functions the program may call in compiled code
    from .. import special  # noqa: F401
