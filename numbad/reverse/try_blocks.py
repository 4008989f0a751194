"""What may raise within `try` is refused: the adjoint would take the statement for done."""

from ..ir.fence import refuse
from ..ir.handlers import TEST_BEFORE, handled


def refuse_raising(fn, activity, options):
    """Raise UnsupportedError for an active statement within `try` that may raise."""
    for label, ops in activity.ops.items():
        if not handled(fn, label):
            continue
        for op in ops:
            tested = op.raises_alone or getattr(op.loc, "tested", False)
            if activity.is_active(op) and op.may_raise(options) and not tested:
                within = getattr(op.loc, "construct", None) is not None  # library code
                what = "a statement" if within else op.construct()
                raise refuse(f"{what} in a 'try' block: it may raise", op.loc, TEST_BEFORE)
