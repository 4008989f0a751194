"""The operators inside nopython code: `nd.grad(f)(x)` where `f` is a jitted function.

The operator is applied while the code around it is compiled, so `f` must be known by then (a global, a
closure variable or an argument that is a jitted function), and the argument numbers be literals.
"""

from functools import partial

from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import overload

from ..ir.functionals import functional
from .first_order import grad, jacobian, value_and_grad, value_and_jacobian
from .operator_dispatcher import as_dispatcher
from .second_order import grad_and_hvp, hessian, hvp
from .tangent import derivative, jvp
from .vjp import vjp


def _literal(ty):
    """The Python value of a literal type, a default, or a tuple of literals; None if there is none."""
    if isinstance(ty, types.Omitted):
        return ty.value
    if isinstance(ty, types.Literal):
        return ty.literal_value
    if isinstance(ty, types.BaseTuple):
        return tuple(_literal(member) for member in ty)
    return ty if isinstance(ty, int | tuple | str) else None


def _apply(operator, f, argnums):
    if not isinstance(f, types.Dispatcher):
        return None
    return operator(f.dispatcher, _literal(argnums))


def _allow(operator, default):
    """Let nopython code call an operator whose argument numbers have this default."""

    @overload(operator, prefer_literal=True, strict=False)
    def apply(f, argnums=default):
        result = _apply(operator, f, argnums)
        return None if result is None else lambda f, argnums=default: result


def _allow_mode(operator):
    """The same for an operator that takes a mode."""

    @overload(operator, prefer_literal=True, strict=False)
    def apply(f, argnums=0, mode="auto"):
        if not isinstance(f, types.Dispatcher):
            return None
        result = operator(f.dispatcher, _literal(argnums), _literal(mode) or "auto")
        return lambda f, argnums=0, mode="auto": result


def _allow_aux(operator):
    """The same for an operator of functions that may return something beside their value."""

    @overload(operator, prefer_literal=True, strict=False)
    def apply(f, argnums=0, mode="auto", has_aux=False):
        if not isinstance(f, types.Dispatcher):
            return None
        has_aux = has_aux if isinstance(has_aux, bool) else _literal(has_aux)
        given = f.dispatcher, _literal(argnums), _literal(mode) or "auto"
        result = operator(*given, has_aux=has_aux)
        return lambda f, argnums=0, mode="auto", has_aux=False: result


for _operator in (grad, value_and_grad):
    _allow_aux(_operator)
for _operator in (jacobian, value_and_jacobian, hessian):
    _allow_mode(_operator)
for _operator in (jvp, vjp, hvp, grad_and_hvp):
    _allow(_operator, None)
    functional(_operator, "primals", partial(as_dispatcher, f"nd.{_operator.__name__}"))
for _operator in (grad, value_and_grad, jacobian, value_and_jacobian, hessian, derivative):
    functional(_operator, "after", partial(as_dispatcher, f"nd.{_operator.__name__}"))


@overload(derivative, prefer_literal=True)
def _derivative(f, argnum=0):
    result = _apply(derivative, f, argnum)
    return None if result is None else lambda f, argnum=0: result


# The names are loaded at their first use, which may be in the middle of a compilation.
if "_toplevel_typing_context" in vars(cpu_target):
    cpu_target.typing_context.refresh()
