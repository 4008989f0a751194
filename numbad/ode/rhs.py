"""Calling the right-hand side: what it is given, and what it may return."""

from numba.core import errors, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.errors import ModelError, NumbadError
from numbad.forward.dual import base_scalar, duals_in
from numbad.forward.dualize import replacement
from numbad.ode.complaint import cannot_compile
from numbad.ode.emit import Emitter
from numbad.ode.failure import LengthError, wrong_length
from numbad.ode.state import is_scalar, restored_type, restored_value

ANOTHER_LENGTH = "the right-hand side returned another length than at its first call"


def make_evaluate(fun, inplace):
    """The compiled `evaluate(buffer, t, y, structure, args)`, dy/dt at (t, y) as a state.

    `structure` is a token for that of the initial state, in which the right-hand side gets y. The
    second function returned is for the first call, where it tells a wrong length.
    """
    if inplace:
        evaluate = _make_inplace(fun)
        return evaluate, evaluate
    return _make_returning(fun, first=False), _make_returning(fun, first=True)


def _make_inplace(fun):
    @intrinsic
    def evaluate(typingctx, buffer, t, y, structure, args):
        callee, _ = resolve(typingctx, fun, (t, y, buffer, *members_of(args)))

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            buffer_value, t_value, y_value, _, args_value = arguments
            values = [t_value, y_value, buffer_value, *_values(builder, args, args_value)]
            emitter.call_dispatcher(callee, (t, y, buffer, *members_of(args)), values)
            return impl_ret_borrowed(context, builder, buffer, buffer_value)

        return buffer(buffer, t, y, structure, args), codegen

    return evaluate


def _make_returning(fun, first):
    @intrinsic
    def evaluate(typingctx, buffer, t, y, structure, args):
        given = (t, restored_type(structure.instance_type, y), *members_of(args))
        callee, derivative = resolve(typingctx, fun, given)
        check_derivative(derivative, y)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            buffer_value, t_value, y_value, _, args_value = arguments
            state = restored_value(builder, structure.instance_type, y, y_value)
            values = [t_value, state, *_values(builder, args, args_value)]
            result = emitter.call_dispatcher(callee, given, values)
            source = _derivative_vector(emitter, derivative, result)
            _check_length(emitter, source, emitter.vector(y, y_value), first)
            out = emitter.make_state(y, buffer_value, lambda i: source[i], source)
            context.nrt.decref(builder, derivative, result)
            return impl_ret_borrowed(context, builder, y, out)

        return y(buffer, t, y, structure, args), codegen

    return evaluate


def members_of(args):
    """The types of the further arguments: a plain tuple's members, or one of any other type."""
    if isinstance(args, types.BaseTuple) and not isinstance(args, types.BaseNamedTuple):
        return tuple(args)
    return () if isinstance(args, types.NoneType) else (args,)


def _values(builder, args, value):
    if isinstance(args, types.BaseTuple) and not isinstance(args, types.BaseNamedTuple):
        return [builder.extract_value(value, i) for i in range(len(args))]
    return [] if isinstance(args, types.NoneType) else [value]


def resolve(typingctx, fun, given):
    """The dispatcher to call for arguments of the given types, and the type that it returns."""
    callee = replacement(fun) if any(any(duals_in(ty)) for ty in given) else fun
    try:
        signature = typingctx.resolve_function_type(types.Dispatcher(callee), given, {})
    except NumbadError:
        raise
    except (errors.NumbaError, TypeError) as error:
        raise cannot_compile(fun, given, error) from error
    return callee, signature.return_type


def check_derivative(derivative, y):
    """Raise ModelError where the type of a result cannot be that of the derivative of y."""
    ty = derivative
    if isinstance(ty, types.BaseTuple) and all(is_scalar(member) for member in ty):
        scalars, count = tuple(ty), len(ty)
    elif is_scalar(ty):
        scalars, count = (ty,), 1
    elif isinstance(ty, types.Array | types.List) and getattr(ty, "ndim", 1) == 1:
        scalars, count = (ty.dtype,), None
    else:
        raise ModelError(_not_a_derivative(ty))
    if count is not None and isinstance(y, types.BaseTuple) and count != len(y):
        raise ModelError(wrong_length(len(y), count))
    for scalar in scalars:
        complex_for_real = isinstance(base_scalar(scalar), types.Complex) and not isinstance(
            base_scalar(y.dtype), types.Complex
        )
        if not is_scalar(scalar) or complex_for_real:
            raise ModelError(_not_a_derivative(ty, "; give a complex y0 for complex solutions"))


def _not_a_derivative(ty, hint=""):
    if isinstance(ty, types.NoneType):
        hint = "; to write the result into an argument, as fun(t, y, dy, *args), set inplace=True"
    return (
        "the right-hand side must return a tuple, a list or a one-dimensional array of floats, "
        f"one for each component of the state; it returns {ty}{hint}"
    )


def _derivative_vector(emitter, ty, value):
    if is_scalar(ty):
        pair = types.UniTuple(ty, 1)
        return emitter.vector(pair, emitter.context.make_tuple(emitter.builder, pair, [value]))
    return emitter.vector(ty, value)


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
