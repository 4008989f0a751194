"""The differential operators: each takes a function and returns a compiled function."""

from .jacobian import grad, jacobian, value_and_grad, value_and_jacobian
from .tangent import derivative, jvp

__all__ = [
    "derivative",
    "grad",
    "jacobian",
    "jvp",
    "value_and_grad",
    "value_and_jacobian",
]
