"""The output times, which may be an array or a tuple, and may be dual numbers."""

import math

from numba.core import types
from numba.core.imputils import impl_ret_new_ref
from numba.extending import intrinsic

from numbad.errors import ModelError
from numbad.forward.access import strip, tangent_of
from numbad.forward.dual import base_scalar, join
from numbad.ode import failure
from numbad.ode.compiling import inlined
from numbad.ode.emit import Emitter
from numbad.ode.state import unchanged
from numbad.ode.state_types import is_scalar, unfit


def check_times_type(ts):
    """Raise ModelError where the type cannot be that of output times."""
    array = isinstance(ts, types.Array) and ts.ndim == 1
    if not (array or isinstance(ts, types.BaseTuple)) or not all(
        is_scalar(ty) for ty in ([ts.dtype] if array else ts)
    ):
        raise ModelError(
            f"ts must be a one-dimensional array or a tuple of floats, not {unfit(ts)}"
        )


@intrinsic
def time_at(typingctx, ts, row):
    """Output time number `row`, as a float."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        time = emitter.vector(ts, arguments[0])[arguments[1]]
        return emitter.cast(time, types.float64).value

    return types.float64(ts, types.intp), codegen


@intrinsic
def tangent_at(typingctx, ts, row):
    """Output time number `row` less its value at the outermost level: a dual of value zero."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        time = emitter.vector(ts, arguments[0])[arguments[1]]
        return emitter.call(tangent_of, time).value

    return ts.dtype(ts, types.intp), codegen


@inlined
def check_times(ts, aims):
    """A status that tells whether `ts` is finite and strictly monotone, and the time at fault.

    The last `aims` of them, 0 or 1, may be the same as those before.
    """
    count = len(ts)
    if count == 0:
        return failure.NO_TIMES, 0.0
    for row in range(count):
        if not abs(time_at(ts, row)) < math.inf:
            return failure.TIMES_NOT_FINITE, time_at(ts, row)
    first = time_at(ts, 0)
    forwards = time_at(ts, count - 1) > first
    for row in range(1, count - aims):
        before, now = time_at(ts, row - 1), time_at(ts, row)
        if not (now > before if forwards else now < before):
            return failure.TIMES_NOT_MONOTONE, time_at(ts, row)
    return failure.RUNNING, first


def _scalar_of_times(typingctx, ts):
    check_times_type(ts)
    scalar = types.float64
    for member in [ts.dtype] if isinstance(ts, types.Array) else ts:
        scalar = join(typingctx, scalar, member)
    if isinstance(base_scalar(scalar), types.Complex):
        raise ModelError("ts must hold real numbers, not complex ones")
    return scalar


def _times_type(ts, scalar):
    array = isinstance(ts, types.Array)
    return types.Array(scalar, 1, "C") if array else types.UniTuple(scalar, len(ts))


def _copied(context, builder, signature, arguments, leaf=lambda scalar: scalar):
    emitter = Emitter(context, builder)
    ty = signature.return_type
    source = emitter.vector(signature.args[0], arguments[0])
    array = emitter.allocate(ty, [source.size()]) if isinstance(ty, types.Array) else None
    times = emitter.make_state(ty, array, lambda i: leaf(source[i]))
    return impl_ret_new_ref(context, builder, ty, times)


@intrinsic
def uniform(typingctx, ts):
    """The times with one type for all, floats or duals; an array of such as it is."""
    scalar = _scalar_of_times(typingctx, ts)
    if isinstance(ts, types.Array) and ts.dtype == scalar:
        return ts(ts), unchanged
    return _times_type(ts, scalar)(ts), _copied


@intrinsic
def fixed_times(typingctx, ts):
    """Times that are duals without their outermost level."""

    def codegen(context, builder, signature, arguments):
        def leaf(scalar):
            return scalar.emitter.call(strip, scalar)

        return _copied(context, builder, signature, arguments, leaf)

    return _times_type(ts, ts.dtype.scalar)(ts), codegen
