"""Integers that an iteration computes from those it reads at its own number: `n[i] - y[i]`, `y[i] + 1`.

What differs from one iteration to the next must be a float, and a float does not hold every integer. So the
arithmetic is done where the integers are read, and its result becomes the float.
"""

import operator
from typing import NamedTuple

from numba.core import ir, types

from .function import is_expr

_SIGNS = {
    operator.add: "+",
    operator.iadd: "+",
    operator.sub: "-",
    operator.isub: "-",
    operator.mul: "*",
    operator.imul: "*",
}


class Term(NamedTuple):
    """`left sign right`: each a Term, a `Row` of one integer, an int, or the name of one from outside."""

    sign: str
    left: object
    right: object

    @property
    def parts(self):
        """All that is no Term, from left to right."""
        sides = (self.left, self.right)
        return tuple(
            part for side in sides for part in (side.parts if isinstance(side, Term) else (side,))
        )

    @property
    def rows(self):
        return tuple(part for part in self.parts if not isinstance(part, int | str))

    @property
    def names(self):
        """The integers from outside."""
        return tuple(part for part in self.parts if isinstance(part, str))


def term_of(fn, s, operand):
    """The Term that a statement computes, None of any other; `operand(variable)` gives its sides."""
    value = getattr(s, "value", None)
    call = fn.calls.get(value) if isinstance(s, ir.Assign) else None
    if call is None or {call.return_type, *map(types.unliteral, call.args)} != {types.int64}:
        return None
    if is_expr(value, "unary") and value.fn is operator.neg:
        sign, sides = "-", (0, operand(value.value))
    elif is_expr(value, "binop", "inplace_binop"):
        sign, sides = _SIGNS.get(value.fn), (operand(value.lhs), operand(value.rhs))
        if value.fn is operator.pow and sides[1] == 2:
            sign, sides = "*", (sides[0], sides[0])
    else:
        return None
    term = Term(sign, *sides)
    return term if sign and None not in sides and term.rows else None
