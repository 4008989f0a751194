"""Operators called with all arguments as one tuple, from Python, where functions are among these.

Numba takes a tuple that starts with a function for one of function pointers, whose code is unknown.
So the functions are bound first, and the operator on what is left is called.
"""

import inspect

from numba import typeof
from numba.core.dispatcher import Dispatcher
from numpy import ndarray

from ..errors import ArgumentError
from ..forward.promote import effects
from .adjoint import caller
from .describe import users_name
from .operator_dispatcher import OperatorDispatcher, build, original, parameter_names, starred


class TupledDispatcher(OperatorDispatcher):
    """What `vjp`, `jvp`, `hvp` and `grad_and_hvp` return."""

    def __call__(self, *args, **kwargs):
        if len(args) == 2 and not kwargs and type(args[0]) is tuple:
            primals, other = args
            _refuse_foreign_bytes(
                self.operator, (*primals, *(other if type(other) is tuple else (other,)))
            )
            _refuse_changed_lists(self.operator, primals)
            if any(isinstance(p, Dispatcher) for p in primals):
                found = _Bound(self.operator, primals)
                if found.is_possible(other):
                    return found.call(other)
        return super().__call__(*args, **kwargs)


def _refuse_foreign_bytes(operator, values):
    """Within a tuple, Numba takes an array of big-endian numbers for one of the machine's own."""
    for value in values:
        if isinstance(value, ndarray) and not value.dtype.isnative:
            raise ArgumentError(
                f"nd.{operator.name}: an array of {value.dtype.str}, whose bytes are not in this machine's "
                "order. Way out: .astype(np.float64)"
            )


def _refuse_changed_lists(operator, primals):
    """Numba hands a Python list back that was changed, but not one within a tuple."""
    lists = {k for k, p in enumerate(primals) if isinstance(p, list)}
    if not lists:
        return
    f, names = operator.f, parameter_names(operator.f.py_func)
    changed = effects(f, range(len(names)), map(typeof, primals)).changed & lists
    if changed:
        raise ArgumentError(
            f"nd.{operator.name}: {users_name(f)} may change its argument '{names[min(changed)]}', a "
            f"Python list; nd.{operator.name} passes all arguments as one tuple, and Numba does not hand "
            "back a list that was changed within a tuple. Way out: numba.typed.List"
        )


class _Bound:
    """An operator with the functions among the primals bound to the function it works on."""

    def __init__(self, operator, primals):
        self.operator = operator
        parameters = list(inspect.signature(operator.f.py_func).parameters.values())
        defaults = [p.default for p in parameters[len(primals) :]]
        self.count = len(parameters)
        self.primals = (*primals, *defaults)
        self.functions = {
            k: original(p) for k, p in enumerate(self.primals) if isinstance(p, Dispatcher)
        }
        self.free = [k for k in range(self.count) if k not in self.functions]

    def is_possible(self, other):
        """Whether the call is one that the operator takes; where not, it says why itself."""
        operator = self.operator
        asked = {*(operator.argnums if operator.explicit else ()), operator.out} - {None}
        return (
            starred(operator.f.py_func) is None
            and len(self.primals) == self.count
            and not any(p is inspect.Parameter.empty for p in self.primals)
            and not asked & set(self.functions)
            and self._fits(other)
        )

    def _fits(self, other):
        if not self.operator.takes_tangents or self.operator.explicit:
            return True
        return isinstance(other, tuple) and len(other) == self.count

    def call(self, other):
        operator = self.operator
        moved = operator.moved(caller(operator.f, self.functions, 0), self.free.index)
        if operator.takes_tangents and not operator.explicit:
            other = tuple(other[k] for k in self.free)
        result = build(moved)(tuple(self.primals[k] for k in self.free), other)
        return operator.with_constants(result, self.free)
