"""What may raise within `try` is refused: the adjoint would take the statement for done."""

import operator

from ..ir.fence import refuse
from ..ir.handlers import TEST_BEFORE, handled
from .ops.array import Load, Store
from .ops.scalar import Scalar
from .ops.structural import Linear
from .ops.structure import Move, Phi

_NEVER_RAISES = (Scalar, Linear, Move, Phi)
_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod, operator.pow)


def refuse_raising(fn, activity, options):
    """Raise UnsupportedError for an active statement within `try` that may raise."""
    for label, ops in activity.ops.items():
        if not handled(fn, label):
            continue
        for op in ops:
            if activity.is_active(op) and _may_raise(op, fn, options):
                raise refuse(
                    f"{op.construct()} in a 'try' block: it may raise", op.loc, TEST_BEFORE
                )


def _may_raise(op, fn, options):
    if isinstance(op, Load | Store):
        return bool(options.get("boundscheck")) or fn.checked
    if isinstance(op, Scalar) and op.function in _DIVISIONS:
        return (getattr(op.loc, "error_model", None) or options.get("error_model")) != "numpy"
    return not isinstance(op, _NEVER_RAISES)
