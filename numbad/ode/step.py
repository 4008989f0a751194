"""One Runge-Kutta step, its error estimate and its interpolant, emitted from the tableau.

Rows of the workspace: the stages, the state of a stage, the new state, the old state.
"""

from functools import cache

from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.ode.emit import Emitter
from numbad.ode.state import combined_state, mean_square_of


def buffers_needed(tableau):
    """Rows of workspace that the steps of a method use."""
    return tableau.stages + 3


@cache
def make_step(tableau, rhs):
    """The compiled `step(fun, work, t, t_new, h, y, k0, structure, args) -> (y_new, stages)`."""

    @intrinsic
    def step(typingctx, fun, work, t, t_new, h, y, k0, structure, args):
        types_of_call = work.dtype, t, y, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)
        result = types.Tuple((y, types.UniTuple(y, tableau.stages)))

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            new, stages = _stages(emitter, tableau, call, y, arguments[1:])
            both = [new, context.make_tuple(builder, result[1], stages)]
            value = context.make_tuple(builder, result, both)
            return impl_ret_borrowed(context, builder, result, value)

        return result(fun, work, t, t_new, h, y, k0, structure, args), codegen

    return step


def _stages(emitter, tableau, call, y_type, arguments):
    """The new state and the stages: Hairer, Norsett & Wanner, I, (II.1.8)."""
    work, t, t_new, h, y, k0, _, args = arguments
    builder = emitter.builder
    rows = [builder.extract_value(work, i) for i in range(buffers_needed(tableau))]
    old, step = emitter.vector(y_type, y), emitter.scalar(types.float64, h)
    stages = [k0]

    def combined(row, coefficients):
        used = zip(coefficients, stages, strict=True)
        terms = [(emitter.constant(a), emitter.vector(y_type, k)) for a, k in used if a != 0.0]
        return combined_state(emitter, y_type, row, old, step, terms)

    for i in range(1, tableau.stages):
        final = tableau.first_same_as_last and i == tableau.stages - 1
        state = combined(rows[tableau.stages + final], tableau.a[i])
        time = emitter.scalar(types.float64, t) + emitter.constant(tableau.c[i]) * step
        at = t_new if tableau.c[i] == 1.0 else time.value
        stages.append(call.emit(emitter, rows[i], at, state, args))
    if not tableau.first_same_as_last:
        state = combined(rows[tableau.stages + 1], tableau.b)
    return state, stages


def make_error(tableau, with_partials):
    """The compiled `error(stages, h, y, w, rtol, atol)`: mean square of the scaled error."""

    @intrinsic
    def error(typingctx, stages, h, y, w, rtol, atol):
        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            slopes = emitter.members(stages, arguments[0])
            step = emitter.scalar(types.float64, arguments[1])
            rest = zip(signature.args[2:], arguments[2:], strict=True)
            vectors = [emitter.vector(*pair) for pair in rest]
            weighted = zip(tableau.error, slopes, strict=True)
            terms = [(emitter.constant(e), k) for e, k in weighted if e != 0.0]
            size = mean_square_of(emitter, y, terms, *vectors, with_partials)
            return (step * step * size).value

        return types.float64(stages, h, y, w, rtol, atol), codegen

    return error


def make_interpolate(tableau):
    """The compiled `interpolate(buffer, theta, h, y, stages)`: the state at t + theta h."""

    @intrinsic
    def interpolate(typingctx, buffer, theta, h, y, stages):
        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            row, at, step, old, slopes = arguments
            fraction = emitter.scalar(types.float64, at)
            terms = [
                (_horner(emitter, coefficients, fraction), k)
                for coefficients, k in zip(
                    tableau.interpolant, emitter.members(stages, slopes), strict=True
                )
                if any(coefficients)
            ]
            base, size = emitter.vector(y, old), emitter.scalar(types.float64, step)
            state = combined_state(emitter, y, row, base, size, terms)
            return impl_ret_borrowed(context, builder, y, state)

        return y(buffer, theta, h, y, stages), codegen

    return interpolate


def _horner(emitter, coefficients, theta):
    """The polynomial sum coefficients[p] * theta**(p + 1)."""
    total = emitter.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * theta + emitter.constant(coefficient)
    return total * theta


@cache
def make_settle(tableau, rhs):
    """The compiled `settle(fun, work, t, w, stages, structure, args)`: (y, first stage) to go on with.

    Both are put where the next step does not write.
    """

    @intrinsic
    def settle(typingctx, fun, work, t, w, stages, structure, args):
        types_of_call = work.dtype, t, w, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)
        result = types.UniTuple(w, 2)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            _, rows, t, w_value, slopes, _, args = arguments
            buffer = builder.extract_value(rows, buffers_needed(tableau) - 1)
            y = emitter.copied(w, buffer, w_value)
            first = builder.extract_value(rows, 0)
            if tableau.first_same_as_last:
                k0 = emitter.copied(w, first, builder.extract_value(slopes, tableau.stages - 1))
            else:
                k0 = call.emit(emitter, first, t, y, args)
            value = context.make_tuple(builder, result, [y, k0])
            return impl_ret_borrowed(context, builder, result, value)

        return result(fun, work, t, w, stages, structure, args), codegen

    return settle
