"""Formulas: trees that are substituted into each other, and their text."""

import operator
from dataclasses import dataclass
from functools import cached_property

_LEVELS = (
    "or", "and", "", "in is < <= > >= == !=", "|", "^", "&", "<< >>", "+ -", "* / // % @", "", "**"
)  # fmt: skip
_BINARY = {symbol: k for k, level in enumerate(_LEVELS, 1) for symbol in level.split()}
_BINARY |= {"is not": 4, "not in": 4}
_UNARY = {"not ": 3, "-": 11, "+": 11, "~": 11}
_ATOM = 14

_COMPUTING = (
    "add + sub - mul * truediv / floordiv // mod % pow ** matmul @ and_ & or_ | xor ^ lshift << "
    "rshift >>"
).split()
_COMPARING = "lt < le <= gt > ge >= eq == ne != is_ is contains in".split()
SYMBOLS = {operator.is_not: "is not"}
"""The operators' functions, those that work in place too -> their symbols."""
for _name, _symbol in zip(_COMPUTING[::2], _COMPUTING[1::2], strict=True):
    SYMBOLS[getattr(operator, _name)] = SYMBOLS[getattr(operator, "i" + _name.strip("_"))] = _symbol
for _name, _symbol in zip(_COMPARING[::2], _COMPARING[1::2], strict=True):
    SYMBOLS[getattr(operator, _name)] = _symbol
SIGNS = {operator.neg: "-", operator.pos: "+", operator.not_: "not ", operator.invert: "~"}


_FIXED = {"shape", "size", "ndim", "dtype", "T", "real", "imag"}  # attributes that never change


@dataclass(frozen=True)
class Node:
    """`op` says what `parts` are: strings and nodes.

    "name" (variable), "text" (anything), "binary" (symbol, x, y), "unary" (sign, x), "index" (x, i),
    "attr" (x, name), "call" (function, *arguments), "keyword" (name, x), "tuple" and "list"
    (*members), "slice" (start, stop, or step too), "choose" (condition, x, y).
    """

    op: str
    parts: tuple
    effect: bool = False  # what it does cannot be moved past anything

    @cached_property
    def nodes(self):
        return [p for p in self.parts if isinstance(p, Node)]

    @cached_property
    def names(self):
        """The variables in it, each as often as it occurs."""
        if self.op == "name":
            return [self.parts[0]]
        return [name for node in self.nodes for name in node.names]

    @cached_property
    def reads_memory(self):
        own = self.op in ("index", "call") or (self.op == "attr" and self.parts[1] not in _FIXED)
        return own or any(n.reads_memory for n in self.nodes)

    @cached_property
    def has_effect(self):
        return self.effect or any(n.has_effect for n in self.nodes)

    def put(self, name, node):
        """The same with a node in place of a variable."""
        if self.op == "name":
            return node if self.parts[0] == name else self
        if name not in self.names:
            return self
        parts = tuple(p.put(name, node) if isinstance(p, Node) else p for p in self.parts)
        return Node(self.op, parts, self.effect)


def name(var):
    return Node("name", (var,))


def text(string):
    return Node("text", (string,))


ZERO = text("0")
NONE = text("None")


def binary(symbol, x, y):
    return Node("binary", (symbol, x, y))


def unary(sign, x):
    return Node("unary", (sign, x))


def call(function, arguments, effect=False):
    function = text(function) if isinstance(function, str) else function
    return Node("call", (function, *arguments), effect)


def is_negative(node):
    return node.op == "unary" and node.parts[0] == "-"


def negated(node):
    """The formula without the minus sign that it begins with; None where there is none."""
    if is_negative(node):
        return node.parts[1]
    if node.op == "binary" and node.parts[0] in ("*", "/"):
        symbol, left, right = node.parts
        for turned in ((negated(left), right), (left, negated(right))):
            if None not in turned:
                return binary(symbol, *turned)
    return None


def write(node, show):
    """The text of a formula; `show(variable)` is that of a variable."""
    return _write(node, show)[0]


def _write(node, show):
    """The text, and how strongly it binds."""
    return _WRITERS[node.op](show, *node.parts)


def _bound(node, show, least):
    written, strength = _write(node, show)
    return written if strength >= least else f"({written})"


def _binary(show, symbol, x, y):
    strength = _BINARY.get(symbol, 4)
    positive = negated(y) if symbol in ("+", "-") else None
    if positive is not None:
        symbol, y = "-" if symbol == "+" else "+", positive
    rightward = symbol == "**"
    left = _bound(x, show, strength + rightward)
    right = _bound(y, show, strength if rightward else strength + 1)
    return f"{left} {symbol} {right}", strength


def _unary(show, sign, x):
    strength = _UNARY[sign]
    positive = negated(x) if sign == "-" else None
    if positive is not None:
        return _write(positive, show)
    return f"{sign}{_bound(x, show, strength)}", strength


def _index(show, x, index):
    parts = index.parts if index.op == "tuple" and index.parts else (index,)
    inner = ", ".join(_index_part(p, show) for p in parts)
    return f"{_bound(x, show, _ATOM)}[{inner}]", _ATOM


def _index_part(part, show):
    if part.op != "slice":
        return _write(part, show)[0]
    return ":".join("" if end == NONE else _write(end, show)[0] for end in part.parts)


def _call(show, function, *arguments):
    given = ", ".join(_write(a, show)[0] for a in arguments)
    return f"{_bound(function, show, _ATOM)}({given})", _ATOM


def _tuple(show, *members):
    written = [_write(m, show)[0] for m in members]
    return f"({', '.join(written)}{',' if len(written) == 1 else ''})", _ATOM


def _choose(show, condition, x, y):
    parts = [_bound(p, show, 1) for p in (x, condition, y)]
    return "{} if {} else {}".format(*parts), 0


_WRITERS = {
    "name": lambda show, var: (show(var), _ATOM),
    "text": lambda show, string: (string, 11 if string.startswith("-") else _ATOM),
    "binary": _binary,
    "unary": _unary,
    "index": _index,
    "attr": lambda show, x, attribute: (f"{_bound(x, show, _ATOM)}.{attribute}", _ATOM),
    "call": _call,
    "keyword": lambda show, key, x: (f"{key}={_write(x, show)[0]}", 0),
    "tuple": _tuple,
    "choose": _choose,
    "slice": lambda show, *ends: _call(show, text("slice"), *ends),
    "list": lambda show, *members: (f"[{_tuple(show, *members)[0][1:-1].rstrip(',')}]", _ATOM),
}
