"""The order of the derivatives that are taken around a piece of code."""

from numba.extending import overload

from numbad.forward.dual import Dual, duals_in
from numbad.rules.registry import CONSTANT


def order_of(given):
    """One more than the levels of dual numbers in a tuple of values: the order of derivatives, at most.

    Give it all that the code around depends on, `order_of((t, y, args))`: which of these hold dual numbers
    differs from sweep to sweep.
    """
    return 1  # in Python there are none


CONSTANT.add(order_of)  # its code, for the types of the first order, is not to be put in its place


@overload(order_of)
def _order_of(given):
    order = 1 + max(map(_levels, duals_in(given)), default=0)
    return lambda given: order


def _levels(scalar):
    return 1 + _levels(scalar.scalar) if isinstance(scalar, Dual) else 0
