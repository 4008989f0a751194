"""Whether an initial state satisfies the algebraic equations of a differential-algebraic system."""

from numba import njit
from numba.core import types
from numba.core.imputils import impl_ret_untracked
from numba.extending import intrinsic, overload

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


@njit(error_model="numpy", inline="always")
def _error_allowed(y, rtol, atol, j):
    return value_at(atol, j) + value_at(rtol, j) * abs(value_at(y, j))


def equation(i, mass, sparsity, values, y, rtol, atol):
    """Whether row i of the mass matrix is zero, and what errors allowed in y make of the right-hand side."""
    raise NotImplementedError


@overload(equation)
def _equation(i, mass, sparsity, values, y, rtol, atol):
    if isinstance(sparsity, types.NoneType):

        def dense(i, mass, sparsity, values, y, rtol, atol):
            algebraic, allowed = True, 0.0
            for j in range(len(mass)):
                if mass[i, j] != 0.0:
                    algebraic = False
                allowed += abs(values[i, j]) * _error_allowed(y, rtol, atol, j)
            return algebraic, allowed

        return dense

    def sparse(i, mass, sparsity, values, y, rtol, atol):
        allowed = 0.0
        for k in range(sparsity.starts[i], sparsity.starts[i + 1]):
            j = sparsity.columns[k]
            allowed += abs(values[i, sparsity.colours[j]]) * _error_allowed(y, rtol, atol, j)
        return mass.starts[i] == mass.starts[i + 1], allowed

    return sparse


def is_consistent(mass, sparsity, jacobian, slope, y, rtol, atol):
    """Whether each row of zeros of the mass matrix has a right-hand side of zero.

    As far as the tolerances tell: up to ten times what errors of their size in y make of it.
    """
    raise NotImplementedError


@overload(is_consistent, jit_options={"error_model": "numpy"})
def _is_consistent(mass, sparsity, jacobian, slope, y, rtol, atol):
    if isinstance(mass, types.NoneType):
        return lambda mass, sparsity, jacobian, slope, y, rtol, atol: True

    def check(mass, sparsity, jacobian, slope, y, rtol, atol):
        values = innermost(jacobian)
        for i in range(len(values)):
            algebraic, allowed = equation(i, mass, sparsity, values, y, rtol, atol)
            if algebraic and not abs(value_at(slope, i)) <= 10.0 * allowed:
                return False
        return True

    return check
