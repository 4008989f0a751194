"""What a call of a device operator is given: arguments of `f`, arrays for gradients, a workspace."""

from dataclasses import dataclass

from numba.core import types
from numba.core.registry import cpu_target as cpu

from ..errors import ArgumentError
from ..forward.dual import duals_in
from ..ir.capture import capture
from ..operators.argument_structure import differentiated, leaves
from ..operators.operator_dispatcher import parameter_names
from ..operators.results import captured_result, result_type
from .frontend import cpu_target
from .precision import stages_of
from .tape import is_workspace


@dataclass
class BoundCall:
    """`types` of everything given; the arguments of `f`, `names`; argnum -> position of its array."""

    types: list
    names: list
    buffers: dict
    value: types.Type  # of the result of `f`

    @property
    def count(self):
        return len(self.names)

    def tuples(self):
        """The types of the tuples of arguments and of shadows."""
        shadows = [
            self.types[self.buffers[k]] if k in self.buffers else types.none
            for k in range(self.count)
        ]
        pack = types.BaseTuple.from_types
        return pack(self.types[: self.count]), pack(shadows)


def bind(operator, f, numbers, takes_workspace, arguments):
    """The `Call` for argument types; ArgumentError where they do not fit."""
    given = [types.unliteral(ty) for ty in arguments]
    names = parameter_names(f.py_func)
    count = len(names)
    arrays = [
        k for k in sorted(set(numbers)) if k < len(given) and isinstance(given[k], types.Array)
    ]
    expected = count + len(arrays) + takes_workspace
    if len(given) != expected:
        raise ArgumentError(
            f"the result of {operator} takes {expected} arguments here, the {count} of "
            f"{f.py_func.__name__}{_more(arrays, names, takes_workspace)}; {len(given)} are given"
        )
    buffers = {k: count + i for i, k in enumerate(arrays)}
    for k in set(numbers):
        _check_argument(operator, names[k], given[k])
    for k, position in buffers.items():
        _check_buffer(operator, names[k], given[k], given[position])
    if takes_workspace and not is_workspace(given[-1]):
        raise ArgumentError(
            f"{operator} with tape=None takes a contiguous array as its last argument, which "
            f"the tape is kept in; {given[-1]} is given"
        )
    return BoundCall(given, names, buffers, _value_type(operator, f, given[:count]))


def _more(arrays, names, takes_workspace):
    more = [f"an array for the gradient by '{names[k]}'" for k in arrays]
    if takes_workspace:
        more.append("the workspace for the tape")
    return "".join(f", then {what}" for what in more)


def _check_argument(operator, name, ty):
    if any(duals_in(ty)):
        raise ArgumentError(f"{operator} does not take dual numbers; '{name}' is of type {ty}")
    tree = differentiated(operator, name, name, ty)
    kinds = {leaf.kind for leaf in leaves(tree)}
    if isinstance(ty, types.BaseTuple) and kinds != {"scalar"}:
        raise ArgumentError(
            f"{operator} differentiates by argument '{name}', a tuple that holds other things than "
            "floats; give these as arguments of their own"
        )


def _check_buffer(operator, name, argument, buffer):
    fits = isinstance(buffer, types.Array) and buffer.mutable
    if not fits or (buffer.dtype, buffer.ndim) != (argument.dtype, argument.ndim):
        raise ArgumentError(
            f"{operator} writes the gradient by '{name}' into an array of {argument.dtype} with "
            f"{argument.ndim} axes; {buffer} is given"
        )


def _value_type(operator, f, given):
    with cpu_target():
        stages = stages_of(given)
        if stages:
            value = captured_result(capture(f, tuple(given), stages))
        else:
            value = result_type(cpu.typing_context, f, given)
    if not isinstance(value, types.Float):
        raise ArgumentError(
            f"{operator} needs a function that returns a float; {f.py_func.__name__} returns {value}"
        )
    return value
