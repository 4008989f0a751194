"""`stop_gradient`: a value that takes no part in derivatives."""

from numba.core import types
from numba.extending import overload

from ..forward import dual as d
from ..forward.custom import each_member
from ..forward.dual_arrays import plain
from ..rules.registry import STOPPING


def stop_gradient(x):
    """The argument itself, as a constant of whatever differentiates the code around it.

    `x` is a float, an array or a tuple of these. An array that holds derivatives is copied.

    >>> import numbad as nd
    >>> nd.derivative(lambda x: x * nd.stop_gradient(x))(3.0)
    3.0
    """
    return x


STOPPING.add(stop_gradient)


@overload(stop_gradient)
def _stop_gradient(x):
    if not any(True for _ in d.duals_in(x)):
        return lambda x: x
    if isinstance(x, types.BaseTuple):
        return each_member(x, "stop_gradient(x[{i}])", {"stop_gradient": stop_gradient}, "x")
    return (lambda x: plain(x)) if isinstance(x, d.Dual | types.Array) else None
