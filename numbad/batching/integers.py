"""Integers that iterations compute from those they read, `n[i] - y[i]`: for a block of lanes, as floats."""

from functools import cache

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ..ir.integer_rows import Term
from ..lanes.varying import Varying, splat
from .blocks import LanePlace

_i64 = ir.IntType(64)
_INSTRUCTIONS = {"+": "add", "-": "sub", "*": "mul"}


class _IntegerPlace(LanePlace):
    """Where integers of a block are, which stay integers."""

    def vector_type(self, n):
        return ir.VectorType(_i64, n)

    def as_lanes(self, vector, n):
        if vector.type == self.vector_type(n):
            return vector
        extend = self.builder.sext if self.ty.dtype.signed else self.builder.zext
        return extend(vector, self.vector_type(n))


@cache
def load_term(term, n, whole):
    """An intrinsic `(parts, first)`: what a `Term` of these arrays and integers is in a block.

    Of an array that is not known to be `whole`, the last element is repeated; zero if there is none.
    """

    @intrinsic
    def load(typingctx, parts, first):
        def codegen(context, builder, sig, args):
            found = []
            for k, ty in enumerate(parts):
                part = builder.extract_value(args[0], k)
                if isinstance(ty, types.Array):
                    place = _IntegerPlace(context, builder, ty, part, args[1], None, 0)
                    found.append(place.load(n) if whole else place.load_some(n))
                else:
                    found.append(splat(builder, context.cast(builder, part, ty, types.int64), n))
            value = _evaluated(builder, term, iter(found))
            return builder.sitofp(value, ir.VectorType(ir.DoubleType(), n))

        return Varying(types.float64, n)(parts, types.intp), codegen

    return load


def _evaluated(builder, term, parts):
    """The value of a term; `parts` are its parts from left to right."""
    if not isinstance(term, Term):
        return next(parts)
    left, right = (_evaluated(builder, side, parts) for side in (term.left, term.right))
    return getattr(builder, _INSTRUCTIONS[term.sign])(left, right)
