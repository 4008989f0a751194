"""Numbers that a branch may pass by: they are computed first, and used behind a condition, or a mask, alone.

`r = y[i] - p * x[i]` and then `if not math.isnan(r)`: where the branch is not taken, the cotangent of `r` is
zero, and what it is multiplied by, `x[i]`, may be what made `r` NaN or infinite. So the products that
such a cotangent goes into ask whether it is zero, if the function tells NaN or infinity from numbers: others
would pay for it, half as much again in a loop that is short.
"""

import math
import operator
from collections import defaultdict

from numba.core import types

from ..ir.function import is_expr, name_of
from .dropped import does_tell_nan
from .ops.moves import Move, Phi
from .ops.scalar_function import ScalarOp

_HUGE = 1e8  # what a number is compared with if it may be infinite
_COMPARISONS = {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}


def find_passed_by(fn, activity, control):
    """The leaves none of whose cotangents comes from code that always runs behind their definition.

    Of functions that ask for nothing that is not finite, those that go into nothing but choices by mask.
    """
    passed = _may_be_passed if _tells_infinity(fn) or does_tell_nan(fn) else _by_mask
    users, made_by = defaultdict(list), {}
    for op in activity.every():
        for source, target in op.flows:
            users[source].append((op, target))
            made_by[target] = op
    kept = set(activity.returned)
    candidates = [
        (leaf, op)
        for leaf, op in made_by.items()
        if isinstance(op, ScalarOp | Move | Phi) and activity.active(leaf) and leaf not in kept
    ]
    found, before = set(), -1
    while len(found) != before:
        before = len(found)
        for leaf, op in reversed(candidates):
            uses = [use for use in users[leaf] if activity.active(use[1])]
            if uses and all(t in found or passed(control, op, use) for use, t in uses):
                found.add(leaf)
    return found


def _by_mask(control, made, use):
    return use.chooses_by_mask


def _may_be_passed(control, made, use):
    """Whether a branch between a definition and a use may lead past the use."""
    if isinstance(use, Phi) and use.label not in control.loops:
        return False  # a choice: `find_dropped` knows of it
    return use.chooses_by_mask or not control.always_follows(use.label, made.label)


def _tells_infinity(fn):
    """Whether the function names infinity, asks `x == x`, or compares with a number that is huge."""
    return any(
        _asks_for_infinity(fn, value) or _is_above(fn.constant(name), math.inf)
        for name, (_, value) in fn.definitions.items()
    )


def _asks_for_infinity(fn, value):
    if not is_expr(value, "binop") or value.fn not in _COMPARISONS:
        return False
    if name_of(value.lhs) == name_of(value.rhs):
        return isinstance(fn.type_of(value.lhs), types.Float)
    return any(_is_above(fn.constant(side), _HUGE) for side in (value.lhs, value.rhs))


def _is_above(constant, least):
    return isinstance(constant, float) and abs(constant) >= least
