"""`minimize` and `minimize_scalar`: where the gradient is zero and the Hessian positive definite."""

from ..operators.first_order import grad, value_and_jacobian
from . import descent
from .equation import Implicit


class LocalMinimum(Implicit):
    """A local minimum of `f`: a root of its gradient."""

    name = "minimize"
    of_array = False
    derivative_told = "second derivative"

    @property
    def equation(self):
        return grad(self.f)

    def solver(self, scalar, bracketed):
        called = self.f, value_and_jacobian(self.equation, mode="forward")
        if bracketed:
            return descent.minimize_in_bracket, called, "lower, upper, "
        return (descent.minimize_float if scalar else descent.minimize_array), called, ""


class BracketedMinimum(LocalMinimum):
    """A minimum between two places."""

    name = "minimize_scalar"
