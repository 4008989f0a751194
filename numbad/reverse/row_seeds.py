"""Sweeps that pull several cotangents back at once: what they may contain, seeds, shapes returned."""

import operator

from numba.core import ir, types

from ..errors import UnsupportedError
from ..ir.leaves import leaves
from .cotangents import row_after, seed_array, unit_of_row
from .switches import Switch

ROWS = Switch("rows", "a Jacobian's rows are pulled back several at a time")


def refuse_lanes(fn, activity):
    """Raise UnsupportedError for code whose adjoint takes one cotangent at a time.

    A Jacobian is then pulled back row by row.
    """
    for op in activity.every():
        if not op.linear and activity.is_active(op):
            raise _refused(op.construct())
        for (name, path), _ in op.flows:
            if activity.active((name, path)) and not _takes_lanes(fn.type_of(name), path):
                raise _refused(f"{name} of type {fn.type_of(name)}")


def _takes_lanes(ty, path):
    """Whether a leaf is a number in single or double precision, or an array of such."""
    for k in path:
        if isinstance(ty, types.Optional):
            return False
        ty = ty.types[k]
    scalar_type = ty.dtype if isinstance(ty, types.Array) else types.unliteral(ty)
    return scalar_type in (types.float32, types.float64)


def _refused(what):
    return UnsupportedError(
        f"reverse mode cannot pull several rows of a Jacobian back at once through {what}"
    )


def numbered(ty):
    """The leaves of a result that have rows: floats, and arrays of floats, that are there for sure."""
    return [leaf for leaf in leaves(ty) if leaf.kind in ("scalar", "array")]


def seed_rows(e, name, ty):
    """Add the cotangents of the rows of this pass to the adjoints of the result."""
    seed, row = e.var("$seed"), e.const(0)
    for path, kind, _ in numbered(ty):
        leaf, value = (name, path), e.var(name)
        for k in path:
            value = e.item(value, k)
        if e.active(leaf) and kind == "array":
            e.call(seed_array, e.shadow(leaf), seed, row)
        elif e.active(leaf):
            bar = e.bar(leaf)
            e.binop(operator.add, bar, e.call(unit_of_row, seed, row), bar)
        row = e.call(row_after, row, value)


def shapes_of(e, value, ty):
    """The result with the shapes of its arrays in place of these."""
    if isinstance(ty, types.BaseTuple):
        return e.tuple([shapes_of(e, e.item(value, k), t) for k, t in enumerate(ty.types)])
    if isinstance(ty, types.Array):
        return e.assign(ir.Expr.getattr(value, "shape", e.loc))
    return value
