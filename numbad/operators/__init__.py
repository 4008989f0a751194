"""The differential operators: each takes a function and returns a compiled function."""

from . import nopython  # noqa: F401  (it registers with Numba)
from .jacobian import grad, jacobian, value_and_grad, value_and_jacobian
from .second import grad_and_hvp, hessian, hvp
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
    "stop_gradient",
    "value_and_grad",
    "value_and_jacobian",
    "vjp",
]
