"""Reverse mode of `grad` and `value_and_grad`: one call of the pullback, with one as the seed."""

from numba.core import types

from .adjoint import AdjointSource
from .argument_structure import differentiated
from .operator_dispatcher import parameter_names, plain_parameters
from .results import float_result


def adjoint_of_arguments(operator, typingctx, argtypes, wrt):
    """The source under construction, for a function called with the arguments of `f`."""
    arguments = [(f"arg{k}", ty) for k, ty in enumerate(argtypes)]
    names = parameter_names(operator.f.py_func)
    for k in operator.argnums:  # before the function is compiled for what it cannot take
        if k < len(arguments) and not isinstance(arguments[k][1], types.Omitted):
            read, ty = arguments[k]
            differentiated(f"nd.{operator.name}", names[k], read, types.unliteral(ty))
    source = AdjointSource(operator, typingctx, operator.f, arguments, wrt)
    for k in operator.argnums:
        name, (read, ty) = source.names[k], source.arguments[k]
        differentiated(f"nd.{operator.name}", name, read, ty)
    return source


def in_tuple(operator, parts):
    """Source of what belongs to each of argnums: alone, or as a tuple."""
    return parts[0] if operator.single else "(" + "".join(part + ", " for part in parts) + ")"


def write_gradient(operator, typingctx, argtypes):
    """The function that returns the gradient, and the value where it is asked for."""
    source = adjoint_of_arguments(operator, typingctx, argtypes, operator.argnums)
    float_result(operator, source.result)
    lines = source.call(source.seed_of_one(), without_value=not operator.with_value)
    gradient = in_tuple(operator, [source.cotangent(k) for k in operator.argnums])
    returned = f"value, {gradient}" if operator.with_value else gradient
    parameters = plain_parameters(operator.f.py_func)
    return source.write(f"{operator.name}_adjoint", parameters, lines, returned)
