"""Calls of overloads that Numba puts in place (`inline="always"`), compiled as others are.

The sweeps call what has no derivative as it stands, after types are known; Numba's pass that puts such
overloads in place would renumber their blocks, and without it there is nothing to call.
"""

from numba.core import types
from numba.core.typing.templates import _EmptyImplementationEntry


def compile_overload(context, function_type, signature):
    """See to it that an overload has code for a signature."""
    args, keys = signature.args, getattr(function_type, "_impl_keys", {})
    if not isinstance(keys.get(args), _EmptyImplementationEntry):
        return
    for template in function_type.templates:
        compiled = getattr(template, "_compiled_overloads", {})
        if compiled.get(args) is keys[args]:
            dispatcher, given = template(context)._get_impl(args, {})
            ty = types.Dispatcher(dispatcher)
            keys[args] = compiled[args] = ty.get_overload(ty.get_call_type(context, given, {}))
            return
