"""What the derivative of each function is; knows no differentiation engine."""

from numbad.rules import constant, scalar, structural
from numbad.rules.expression import Answer, Apply, Arg, Const, Expr, evaluate, walk, where
from numbad.rules.registry import (
    CONSTANT,
    HOLOMORPHIC,
    JVP,
    NON_HOLOMORPHIC,
    SCALAR,
    STRUCTURAL,
    VJP,
    ScalarRule,
    find,
    on_register,
    rule,
    scalar_rule,
)

__all__ = [
    "CONSTANT",
    "HOLOMORPHIC",
    "JVP",
    "NON_HOLOMORPHIC",
    "SCALAR",
    "STRUCTURAL",
    "VJP",
    "Answer",
    "Apply",
    "Arg",
    "Const",
    "Expr",
    "ScalarRule",
    "constant",
    "evaluate",
    "find",
    "on_register",
    "rule",
    "scalar",
    "scalar_rule",
    "structural",
    "walk",
    "where",
]
