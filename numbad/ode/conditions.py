"""The conditions of events, as compiled code calls them."""

from inspect import signature

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
        further = _further(args)
        rest = ", args" if further == (args,) else "".join(f", args[{i}]" for i in range(len(args)))
        given = (types.float64, in_functions(y0), *further)
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


def check_calls(changes, times, y0, args):
    """Raise ModelError where changes or times of events (or None) do not take what they are called with.

    A change of `at_times`, where there are times for it, takes the number of the time as well.
    """
    further = _further(args)
    for change, its_times in zip(changes, times, strict=True):
        number = () if its_times is None else (types.intp,)
        if its_times is not None:
            returned_type(cpu_target.typing_context, its_times, further)
        if change is not None:
            given = (types.float64, in_functions(y0), *number, *further)
            if its_times is not None and _takes(change, len(given) - 1):
                raise ModelError(
                    "the change of nd.ode.at_times is called with the number of the time, too, as "
                    f"change(t, y, k, *args); {change.py_func.__name__} has the parameters "
                    f"{signature(change.py_func)}. Way out: k after the state, which it need not use"
                )
            returned_type(cpu_target.typing_context, change, given)


def _takes(function, count):
    """Whether a function takes so many arguments, and not one more."""
    try:
        signature(function.py_func).bind(*range(count))
    except TypeError:
        return False
    try:
        signature(function.py_func).bind(*range(count + 1))
    except TypeError:
        return True
    return False


def _further(args):
    """The types of the further arguments of users' functions."""
    plain = isinstance(args, types.BaseTuple) and not isinstance(args, types.BaseNamedTuple)
    return tuple(args) if plain else (args,)


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
