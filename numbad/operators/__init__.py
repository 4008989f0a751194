"""The differential operators: each takes a function and returns a compiled function."""

from ..arrival import once_imported
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


def _compile_special_functions():
    """SciPy's special functions in compiled code, for a program that imports them, however late."""
    from .. import special  # noqa: F401


once_imported("scipy.special", _compile_special_functions)
