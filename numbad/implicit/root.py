"""`root` and `fixed_point`: equations that a solution meets."""

from ..operators.first_order import value_and_jacobian
from . import iteration, newton
from .equation import Implicit


class Root(Implicit):
    """A root of `f`, by Newton's method."""

    name = "root"

    def solver(self, scalar, bracketed):
        linear = value_and_jacobian(self.f, mode="forward")
        if bracketed:
            return newton.newton_in_bracket, (linear,), "lower, upper, "
        return (newton.newton if scalar else newton.newton_of_array), (linear,), ""


class FixedPoint(Implicit):
    """A fixed point of `f`, by iteration."""

    name = "fixed_point"
    identity = True

    def solver(self, scalar, bracketed):
        if scalar:
            return iteration.iterate, (self.f,), ""
        return iteration.iterate_arrays, (self.f,), ""
