"""Reverse mode of `grad` and `value_and_grad`: one call of the pullback, with one as the seed."""

from numba.core import types

from .adjoint import AdjointSource
from .argument_structure import differentiated
from .aux_results import beside_gradient, value_and_aux
from .operator_dispatcher import parameter_names, plain_parameters


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
    """The function that returns the gradient, and of the result what is asked for."""
    source = adjoint_of_arguments(operator, typingctx, argtypes, operator.argnums)
    value, _ = value_and_aux(operator, source.result)
    needs = operator.with_value or operator.has_aux
    lines = source.call(source.seed_of_one(value), without_value=not needs)
    gradient = in_tuple(operator, [source.cotangent(k) for k in operator.argnums])
    returned = beside_gradient(operator, "value", gradient)
    parameters = plain_parameters(operator.f.py_func)
    return source.write(f"{operator.name}_adjoint", parameters, lines, returned)
