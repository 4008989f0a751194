"""How a statement reads in the source: what messages call it."""

import re
from dataclasses import dataclass, field

from numba.core import ir
from numba.core.ir_utils import get_definition, guard
from numba.core.utils import OPERATORS_TO_BUILTINS

from .function import is_expr

_VERSION = re.compile(r"[.#@]\d.*$")  # `x.1`, `x#3`: other values of the source's `x`
_CALL = "the call of "
_DEPTH = 4  # of nested expressions; what lies deeper is "..."


def spell(fn, statement):
    """What a message calls a statement of a `Function`: "the call of np.sort", "'a[i] = x'"."""
    if isinstance(statement, ir.SetItem | ir.StaticSetItem):
        index = _index(fn, statement, _DEPTH)
        return f"'{_text(fn, statement.target)}[{index}] = {_text(fn, statement.value)}'"
    if isinstance(statement, ir.SetAttr):
        owner = _text(fn, statement.target)
        return f"'{owner}.{statement.attr} = {_text(fn, statement.value)}'"
    if isinstance(statement, ir.DelItem):
        return f"'del {_text(fn, statement.target)}[{_text(fn, statement.index)}]'"
    value = getattr(statement, "value", None)
    if not isinstance(value, ir.Expr):
        return "this statement"
    if value.op == "call":
        return f"{_CALL}{_text(fn, value.func)}"
    return _CONSTRUCTS.get(value.op) or _quoted(fn, value)


def spell_value(func_ir, name):
    """How a variable of Numba's IR reads in the source: "x", "log(x[...])"; None where it is not known."""
    text = _text(_Definitions(func_ir), ir.Var(None, name, func_ir.loc))
    return None if text == "..." or "$" in text else text


@dataclass
class _Definitions:
    """What is asked here of a `Function`, of Numba's IR."""

    func_ir: ir.FunctionIR
    names: dict = field(default_factory=dict)

    def definition(self, var):
        return guard(get_definition, self.func_ir, var)


_CONSTRUCTS = {
    "build_list": "a list",
    "build_set": "a set",
    "build_map": "a dictionary",
    "make_function": "a function within the function",
    "yield": "a generator",
}


def _quoted(fn, value):
    if value.op in ("getiter", "iternext", "pair_first", "pair_second", "exhaust_iter"):
        while is_expr(value, "getiter", "iternext", "pair_first", "pair_second", "exhaust_iter"):
            over, value = value.value, fn.definition(value.value)
        return f"an iteration over {_text(fn, over)}"
    found = _expression(fn, value, _DEPTH)
    return "this statement" if found == "..." else f"'{found}'"


def _text(fn, var, depth=_DEPTH):
    """A variable by its name in the source, or by the expression that it stands for."""
    value = fn.definition(var)
    written = getattr(getattr(value, "loc", None), "construct", None)
    if written is not None:  # a value within library code
        return f"{written.removeprefix(_CALL)}(...)" if written.startswith(_CALL) else "..."
    name = fn.names.get(var.name, var.name)
    if not name.startswith("$"):
        return _VERSION.sub("", name)
    if depth == 0:
        return "..."
    if isinstance(value, ir.Global | ir.FreeVar):
        return value.name
    if isinstance(value, ir.Const):
        return repr(value.value)
    if isinstance(value, ir.Var):
        return _text(fn, value, depth - 1)
    return _expression(fn, value, depth - 1) if isinstance(value, ir.Expr) else "..."


def _expression(fn, value, depth):
    def text(var):
        return _text(fn, var, depth)

    if value.op == "call":
        arguments = [text(v) for v in value.args] + [f"{k}={text(v)}" for k, v in value.kws]
        return f"{text(value.func)}({', '.join(arguments)})"
    if value.op == "getattr":
        owner = text(value.value)
        return f"({owner}).{value.attr}" if " " in owner else f"{owner}.{value.attr}"
    if value.op in ("binop", "inplace_binop"):
        own = _binding(value)
        is_power = own == _BINDING["**"]
        left = _within(fn, value.lhs, own + is_power, depth)
        return f"{left} {_sign(value.fn)} {_within(fn, value.rhs, own + (not is_power), depth)}"
    if value.op == "unary":
        return f"{_sign(value.fn)} {_within(fn, value.value, _binding(value), depth)}"
    if value.op in ("getitem", "static_getitem", "typed_getitem"):
        return f"{text(value.value)}[{_index(fn, value, depth)}]"
    if value.op == "build_tuple":
        return f"({', '.join(map(text, value.items))})"
    if value.op == "cast":
        return text(value.value)
    return "..."


_BINDING = {"**": 5, "*": 3, "/": 3, "//": 3, "%": 3, "@": 3, "+": 2, "-": 2}
_OF_SIGNS = 4  # -x
_OF_OTHERS = 1  # comparisons and the like
_OF_WHOLES = 9  # names and calls


def _binding(value):
    """How strongly an expression's operator binds."""
    if is_expr(value, "unary"):
        return _OF_OTHERS if _sign(value.fn) == "not" else _OF_SIGNS
    if is_expr(value, "binop", "inplace_binop"):
        return _BINDING.get(_sign(value.fn).removesuffix("="), _OF_OTHERS)
    return _OF_WHOLES


def _within(fn, var, least, depth):
    """An operand, in parentheses where its operator binds less than that."""
    text, value = _text(fn, var, depth), fn.definition(var)
    while isinstance(value, ir.Var) or is_expr(value, "cast"):
        value = fn.definition(value if isinstance(value, ir.Var) else value.value)
    is_expression = " " in text and _binding(value) < least
    return f"({text})" if is_expression else text


def _index(fn, access, depth):
    index = access.index
    if isinstance(index, ir.Var):
        return _text(fn, index, depth)
    return repr(index) if isinstance(index, int | str) else "..."


def _sign(function):
    if isinstance(function, str):
        return function
    return OPERATORS_TO_BUILTINS.get(function, getattr(function, "__name__", "?"))
