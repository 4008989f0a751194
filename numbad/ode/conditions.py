"""The conditions of events, as compiled code calls them."""

from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.caching import jit
from numbad.errors import ModelError
from numbad.ode.compiling import inlined
from numbad.ode.complaint import returned_type
from numbad.ode.state_types import in_functions
from numbad.operators.operator_dispatcher import starred
from numbad.operators.tangent import jvp
from numbad.source import define


class Conditions:
    """The conditions, as compiled code calls them for given types: all at once, and their slopes."""

    def __init__(self, conditions, y0, args):
        plain = isinstance(args, types.BaseTuple) and not isinstance(args, types.BaseNamedTuple)
        rest = "".join(f", args[{i}]" for i in range(len(args))) if plain else ", args"
        given = (types.float64, in_functions(y0), *(args if plain else (args,)))
        for condition in conditions:
            _check(condition, given)
        names = {f"condition{i}": condition for i, condition in enumerate(conditions)}
        calls = "".join(f"float(condition{i}(t, y{rest})), " for i in range(len(conditions)))
        self.values = inlined(define(f"def values(t, y, args):\n    return ({calls})\n", names))
        fixed = [_with_count(condition, len(given)) for condition in conditions]
        rates = {f"rate{i}": jvp(condition, (0, 1)) for i, condition in enumerate(fixed)}
        calls = "".join(f"rate{i}((t, y{rest}), (1.0, slope))[1], " for i in range(len(conditions)))
        self.slopes = inlined(
            define(f"def slopes(t, y, slope, args):\n    return ({calls})\n", rates)
        )


def _with_count(condition, count):
    """A condition that takes `count` arguments: `nd.jvp` takes none of `*args`."""
    if starred(condition.py_func) is None:
        return condition
    names = ", ".join(f"arg{k}" for k in range(count))
    source = f"def condition({names}):\n    return of({names})\n"
    return jit(define(source, {"of": condition}), error_model="numpy")


def _check(condition, given):
    """Raise ModelError where a condition does not compile, or returns no float."""
    found = returned_type(cpu_target.typing_context, condition, given)
    if not isinstance(found, types.Float | types.Integer):
        raise ModelError(
            f"the condition {condition.py_func.__name__} of an event returns {found}; it "
            "must return a float that crosses zero where the event happens, such as y[0] - 1.0"
        )
