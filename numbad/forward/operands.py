"""What an emitter of arithmetic works on: a Numba type, and an LLVM value of it."""

from typing import NamedTuple

from numba.core import types

from . import dual as d


class Operand(NamedTuple):
    """A Numba type with an LLVM value of it; the value of a literal int is in its type alone."""

    type: types.Type
    value: object


def strip_operand(context, builder, operand, tag):
    """The value part of a dual of level `tag`; anything else unchanged."""
    if isinstance(operand.type, d.Dual) and operand.type.tag == tag:
        value, _ = d.split(context, builder, operand.type, operand.value)
        return Operand(operand.type.scalar, value)
    return operand


def is_literal(operand):
    """Whether an operand is an int that the type says."""
    return isinstance(operand.type, types.IntegerLiteral)


def has_level(operand, tag):
    """Whether an operand is a dual of level `tag`."""
    return isinstance(operand.type, d.Dual) and operand.type.tag == tag
