"""Calling the right-hand side: what it is given, and what it may return."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from numba.core import errors, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.compilation.relinking import note_call
from numbad.errors import ModelError, NumbadError
from numbad.forward.dual import base_scalar, duals_in
from numbad.forward.dualize import dispatcher_for_duals
from numbad.forward.promote import effects
from numbad.ode.borrowed import lender_type
from numbad.ode.complaint import IN_PLACE, returned_type
from numbad.ode.emit import Emitter
from numbad.ode.failure import LengthError, wrong_length
from numbad.ode.jumps import warn_of_jumps
from numbad.ode.known_switches import ALL_KNOWN, NONE_KNOWN, KnownSwitches
from numbad.ode.returns import returning_tuples
from numbad.ode.slope_reads import reads_slope
from numbad.ode.state import restored_type, restored_value
from numbad.ode.state_types import is_scalar
from numbad.ode.work_arrays import with_work_arrays, work_arrays
from numbad.operators.operator_dispatcher import parameter_names

ANOTHER_LENGTH = "the right-hand side returned another length than at its first call"


@dataclass(frozen=True)
class RightHandSide:
    """How the user's function is called: `fun(t, y, *args)`, or `fun(t, y, dy, *args)` that writes dy.

    Numba keeps what is told here for good, so the function itself comes in by its type, which lets it go.
    """

    inplace: bool
    known: KnownSwitches = NONE_KNOWN  # what the solver is told of where the function jumps

    def resolve(self, typingctx, fun, buffer, t, y, structure, args):
        """The call of a function of type `fun` for arguments of these types.

        Raises ModelError where there is none.

        `structure` is a token for that of the initial state, in which the function gets y.
        """
        call = self._resolve(typingctx, fun, buffer, t, y, structure, args)
        note_call(self, fun.dispatcher, (buffer, t, y, structure, args), call)
        return call

    def _resolve(self, typingctx, fun, buffer, t, y, structure, args):
        rest = map(lender_type, members(args))
        if self.inplace:
            given = t, lender_type(y), lender_type(buffer), *rest
            callee, _ = self._compile(typingctx, fun.dispatcher, given)
            _check_state_is_read(fun.dispatcher, given)
            return CallOfModel(callee, given, None, y, y, args, reads_slope(fun.dispatcher))
        form = structure.instance_type
        given = t, restored_type(form, y), *rest
        callee, derivative = self._compile(typingctx, fun.dispatcher, given)
        _check_state_is_read(fun.dispatcher, given)
        check_derivative(derivative, y)
        return CallOfModel(callee, given, derivative, form, y, args)

    def _compile(self, typingctx, fun, given):
        """The dispatcher to call for arguments of the given types, and the type that it returns."""
        dual, work = any(any(duals_in(ty)) for ty in given), ()
        if dual:
            first = 3 if self.inplace else 2
            work = work_arrays(fun, given, first)
            moved = [k for k, ty in enumerate(given[first:]) if any(duals_in(ty))]
            if self.known != ALL_KNOWN:
                warn_of_jumps(fun, moved, first, self.known)
        callee = returning_tuples(fun)[dual]
        if callee is not None:
            if work:
                callee = with_work_arrays(callee, typingctx, given, work)
            with suppress(errors.NumbaError, NumbadError, TypeError):
                derivative = returned_type(typingctx, fun, given, callee)
                if _is_tuple_of_scalars(derivative):
                    return callee, derivative
        callee = dispatcher_for_duals(fun) if dual else fun
        if work:
            callee = with_work_arrays(callee, typingctx, given, work)
        hint = "" if self.inplace else IN_PLACE
        return callee, returned_type(typingctx, fun, given, callee, hint)


def _check_state_is_read(fun, given):
    """Raise ModelError where a right-hand side writes to the state that it is given."""
    fun, given = getattr(fun, "calls_twice", fun), given[: len(parameter_names(fun.py_func))]
    if isinstance(given[1], types.Array) and 1 in effects(fun, (), given, by_types=True).changed:
        raise ModelError(
            f"{fun.py_func.__name__} writes to the state y, with which the solver goes on. Way out: let it "
            "work on a copy, as in y = np.maximum(y, 0.0) or y = y.copy()"
        )


def _is_tuple_of_scalars(ty):
    return isinstance(ty, types.BaseTuple) and all(is_scalar(member) for member in ty)


@dataclass(frozen=True)
class CallOfModel:
    """A right-hand side for arguments of known types; `derivative` is None where it writes dy.

    `adds` says whether it may read dy, which holds zeros then.
    """

    callee: Any
    given: tuple
    derivative: types.Type | None
    state: types.Type
    y: types.Type
    args: types.Type
    adds: bool = False

    def form(self):
        """What code around the call depends on, besides the function that is called."""
        return replace(self, callee=None)

    def emit(self, emitter, buffer, t, y, args, first=False):
        """dy/dt at (t, y), LLVM values, as a state; at its `first` call a wrong length is told."""
        builder = emitter.builder
        rest = values_of_members(builder, self.args, args)
        if self.derivative is None:
            if self.adds:
                zero = emitter.constant(0.0)
                emitter.make_state(self.y, buffer, lambda i: zero)
            emitter.call_dispatcher(self.callee, self.given, [t, y, buffer, *rest])
            return buffer
        state = restored_value(builder, self.state, self.y, y)
        result = emitter.call_dispatcher(self.callee, self.given, [t, state, *rest])
        source = emitter.vector_or_one(self.derivative, result)
        _check_length(emitter, source, emitter.vector(self.y, y), first)
        out = emitter.make_state(self.y, buffer, lambda i: source[i], source)
        if not (is_scalar(self.derivative) or _is_tuple_of_scalars(self.derivative)):
            emitter.context.nrt.decref(builder, self.derivative, result)  # a GPU has no counts
        return out


@cache
def make_evaluate(rhs, first=False):
    """The compiled `evaluate(fun, buffer, t, y, structure, args)`, dy/dt at (t, y) as a state."""

    @intrinsic
    def evaluate(typingctx, fun, buffer, t, y, structure, args):
        types_of_call = buffer, t, y, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)

        def codegen(context, builder, signature, arguments):
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            _, buffer, t, y, _, args = arguments
            state = call.emit(Emitter(context, builder), buffer, t, y, args, first)
            return impl_ret_borrowed(context, builder, signature.return_type, state)

        return y(fun, buffer, t, y, structure, args), codegen

    return evaluate


def is_plain_tuple(args):
    """Whether the further arguments are a tuple of them, rather than one argument."""
    return isinstance(args, types.BaseTuple) and not isinstance(args, types.BaseNamedTuple)


def members(args):
    """The types of the further arguments: a plain tuple's members, or one of any other type."""
    return tuple(args) if is_plain_tuple(args) else (args,)


def values_of_members(builder, args, value):
    if is_plain_tuple(args):
        return [builder.extract_value(value, i) for i in range(len(args))]
    return [value]


def check_derivative(derivative, y):
    """Raise ModelError where the type of a result cannot be that of the derivative of y."""
    ty = derivative
    if _is_tuple_of_scalars(ty):
        scalars, count = tuple(ty), len(ty)
    elif is_scalar(ty):
        scalars, count = (ty,), 1
    elif isinstance(ty, types.Array | types.List) and getattr(ty, "ndim", 1) == 1:
        scalars, count = (ty.dtype,), None
    else:
        raise ModelError(_not_a_derivative(ty))
    if count is not None and isinstance(y, types.BaseTuple) and count != len(y):
        raise ModelError(wrong_length(len(y), count))
    complex_state = isinstance(base_scalar(y.dtype), types.Complex)
    for scalar in scalars:
        is_complex = isinstance(base_scalar(scalar), types.Complex)
        if not is_scalar(scalar) or (is_complex and not complex_state):
            raise ModelError(_not_a_derivative(ty, "; give a complex y0 for complex solutions"))


def _not_a_derivative(ty, hint=""):
    if isinstance(ty, types.NoneType):
        hint = f"; {IN_PLACE}"
    return (
        "the right-hand side must return a tuple, a list or a one-dimensional array of floats, "
        f"one for each component of the state; it returns {ty}{hint}"
    )


def _check_length(emitter, source, y, first):
    """Raise where the length returned is not that of the state, unless the types told already."""
    if isinstance(source.count, int) and isinstance(y.count, int):
        return
    builder, convention = emitter.builder, emitter.context.call_conv
    expected, actual = y.size(), source.size()
    with builder.if_then(builder.icmp_signed("!=", expected, actual), likely=False):
        if first:
            convention.return_dynamic_user_exc(
                builder, LengthError, (expected, actual), (types.intp, types.intp)
            )
        else:
            convention.return_user_exc(builder, ModelError, (ANOTHER_LENGTH,))
