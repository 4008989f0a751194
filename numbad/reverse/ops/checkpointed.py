"""Calls of what `nd.checkpoint` gives: evaluated again in the reverse sweep, on copies of their arrays."""

from functools import cache
from itertools import combinations

from numba import njit
from numba.core import types

from ...errors import ArgumentError
from ...ir.array_extents import arrays_overlap
from ...ir.fence import refuse
from ...ir.leaves import leaves
from .pulled import Pulled, shows_sharing


class Checkpointed(Pulled):
    """Arrays have copies of their own, and so has a result: what shares memory may not be written to."""

    def _effects(self):
        tys = tuple(types.unliteral(self.fn.type_of(v)) for v in self.arguments)
        return self.callee.numbad_effects(tys)

    def changes(self):
        return bool(self._effects().changed)

    def forward(self, e):
        done = self._effects()
        if any(self._is_active(e, v) for v in self.arguments):
            self._refuse_returned(e, done.returned)
        if self.is_live(e):
            self._check_apart(e, done.changed)
        super().forward(e)

    def _refuse_returned(self, e, returned):
        """Refuse a result that may be a part of an argument, where that shows."""
        if shows_sharing(self, e.activity, [self.arguments[k] for k in returned]):
            name = self.callee.py_func.__name__
            raise refuse(
                f"nd.checkpoint of {name}, which returns (a part of) an argument, where one of the two is "
                "written to and the other read afterwards",
                self.loc,
                "return a copy: return y.copy()",
            )

    def _check_apart(self, e, changed):
        """Have the call raise where an argument that it changes shares memory with another."""
        code = self.callee.py_func.__code__
        arrays = [
            (k, array)
            for k, v in enumerate(self.arguments)
            for array in _arrays(e, v, types.unliteral(self.fn.type_of(v)))
        ]
        for (k, one), (m, other) in combinations(arrays, 2):
            if {k, m} & changed:
                check = _apart(
                    self.callee.py_func.__name__, code.co_varnames[k], code.co_varnames[m]
                )
                e.call(check, one, other)


def _arrays(e, value, ty):
    """The arrays of an argument, those in tuples too."""
    if isinstance(ty, types.BaseTuple):
        for k, t in enumerate(ty.types):
            if leaves(t):
                yield from _arrays(e, e.item(value, k), t)
    elif isinstance(ty, types.Array):
        yield value


@cache
def _apart(function, one, other):
    both = f"its arguments '{one}' and '{other}'" if one != other else f"the parts of '{one}'"
    told = f"nd.checkpoint: {function} changes one of {both}, which share memory here; pass a copy of one"

    @njit
    def check(a, b):
        if arrays_overlap(a, b):
            raise ArgumentError(told)

    return check
