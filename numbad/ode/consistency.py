"""Whether an initial state satisfies the algebraic equations of a differential-algebraic system."""

from numba import njit
from numba.core import types
from numba.core.imputils import impl_ret_untracked
from numba.extending import intrinsic

from numbad.forward.access import primal
from numbad.forward.dual import base_scalar
from numbad.ode.emit import Emitter
from numbad.ode.linear import innermost


@intrinsic
def value_at(typingctx, vector, i):
    """The value of component i of a state, or of a tolerance, which may be one for all."""
    scalar = vector if isinstance(vector, types.Number) else vector.dtype
    result = base_scalar(scalar)

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        item = emitter.vector(vector, arguments[0])[arguments[1]]
        return impl_ret_untracked(context, builder, result, emitter.call(primal, item).value)

    return result(vector, types.intp), codegen


@njit(error_model="numpy")
def is_consistent(mass, jacobian, slope, y, rtol, atol):
    """Whether each row of zeros of the mass matrix has a right-hand side of zero.

    As far as the tolerances tell: up to ten times what errors of their size in y make of it.
    """
    if mass is None:
        return True
    values = innermost(jacobian)
    for i in range(len(mass)):
        algebraic, allowed = True, 0.0
        for j in range(len(mass)):
            if mass[i, j] != 0.0:
                algebraic = False
            size = value_at(atol, j) + value_at(rtol, j) * abs(value_at(y, j))
            allowed += abs(values[i, j]) * size
        if algebraic and not abs(value_at(slope, i)) <= 10.0 * allowed:
            return False
    return True
