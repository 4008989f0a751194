"""Symbolic expressions for partial derivatives: a small DAG that every engine can evaluate.

Nodes are interned, so that structural equality is identity (`a is b`) and a node can be a
dictionary key; `==` and the other comparisons build conditions. Simplification happens as a node
is built. The zero of a simplified product is exact: `0 * x` is `0` even where `x` is infinite.
"""

import operator

from numbad.errors import RuleError

_NODES = {}


def _interned(cls, key, **fields):
    """The one node of class `cls` with this key."""
    node = _NODES.get((cls, key))
    if node is None:
        node = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(node, name, value)
        node = _NODES.setdefault((cls, key), node)
    return node


def _binary(fn):
    return lambda self, other: call(fn, self, other)


def _reflected(fn):
    return lambda self, other: call(fn, other, self)


def _unary(fn):
    return lambda self: call(fn, self)


class Expr:
    """A node; Python's operators on nodes build nodes."""

    __slots__ = ()
    __array_ufunc__ = None  # np.float64(2.0) * x calls x.__rmul__
    __hash__ = object.__hash__

    __add__, __radd__ = _binary(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _binary(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _binary(operator.truediv), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod), _reflected(operator.mod)
    __pow__, __rpow__ = _binary(operator.pow), _reflected(operator.pow)
    __and__, __rand__ = _binary(operator.and_), _reflected(operator.and_)
    __or__, __ror__ = _binary(operator.or_), _reflected(operator.or_)
    __lt__, __le__ = _binary(operator.lt), _binary(operator.le)
    __gt__, __ge__ = _binary(operator.gt), _binary(operator.ge)
    __eq__, __ne__ = _binary(operator.eq), _binary(operator.ne)
    __neg__, __abs__, __invert__ = _unary(operator.neg), _unary(abs), _unary(operator.not_)

    def __pos__(self):
        return self

    def __setattr__(self, name, value):
        raise AttributeError("expressions are shared and cannot be changed")

    def __bool__(self):
        raise RuleError(
            "a rule's partials cannot branch on their arguments in Python (if, and, or, not, a "
            "ternary): both branches are compiled. Use nd.where(condition, a, b) or np.where, and "
            "&, |, ~ between conditions"
        )

    def __float__(self):
        raise RuleError(
            "a rule's partials are traced with symbols, which have no float value: call functions "
            "by a name that Numba can compile (math.*, np.*, a jitted function)"
        )

    __int__ = __complex__ = __index__ = __float__


class Arg(Expr):
    """The value of argument `index` of the differentiated function."""

    __slots__ = ("index",)

    def __new__(cls, index):
        return _interned(cls, index, index=index)

    def __repr__(self):
        return f"x{self.index}"


class Answer(Expr):
    """The value of the differentiated function itself."""

    __slots__ = ()

    def __new__(cls):
        return _interned(cls, None)

    def __repr__(self):
        return "ans"


class Const(Expr):
    """A literal number; an int stays an int."""

    __slots__ = ("value",)

    def __new__(cls, value):
        return _interned(cls, (type(value), repr(value)), value=value)  # repr tells 0.0 from -0.0

    def __repr__(self):
        return repr(self.value)


class Missing(Expr):
    """The partial by an argument for which no derivative is known.

    `way_out` says what to do, and `construct`, if given, what was asked for.
    """

    __slots__ = ("construct", "way_out")

    def __new__(cls, way_out, construct=None):
        return _interned(cls, (way_out, construct), way_out=way_out, construct=construct)

    def __repr__(self):
        return "missing"


class Apply(Expr):
    """A call of `fn`, the very callable that Numba knows, on nodes; `call` simplifies first."""

    __slots__ = ("args", "fn")

    def __new__(cls, fn, args):
        args = tuple(args)
        return _interned(cls, (id(fn), *map(id, args)), fn=fn, args=args)

    def __repr__(self):
        name = getattr(self.fn, "__name__", repr(self.fn))
        return f"{name}({', '.join(map(repr, self.args))})"


def as_expr(value):
    """The node for a number; nodes pass through.

    Raises RuleError for anything else.
    """
    if isinstance(value, Expr):
        return value
    if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise RuleError(f"a number or an expression is needed here, not {value!r}")
    return Const(value)


def call(fn, *args):
    """The simplified node for `fn(*args)`."""
    args = tuple(map(as_expr, args))
    folded = _fold(fn, args)
    if folded is None:
        simplify = _SIMPLIFY.get(fn)
        folded = simplify(*args) if simplify else None
    return Apply(fn, args) if folded is None else folded


def where(condition, a, b):
    """`a` where the condition holds, else `b`: the branch that a rule's partials may take.

    Of expressions it makes an expression; of plain numbers it selects.

    >>> import numbad as nd
    >>> nd.where(2.0 > 1.0, 10.0, 20.0)
    10.0
    """
    if any(isinstance(operand, Expr) for operand in (condition, a, b)):
        return call(where, condition, a, b)
    return a if condition else b


def _fold(fn, args):
    """What `fn` makes of constants; None where Python raises and IEEE arithmetic does not."""
    if fn not in _PURE or not all(isinstance(arg, Const) for arg in args):
        return None
    try:
        value = fn(*(arg.value for arg in args))
    except (ArithmeticError, ValueError):
        return None
    return Const(value)


def _is(node, value):
    return isinstance(node, Const) and node.value == value


def _add(a, b):
    return b if _is(a, 0) else a if _is(b, 0) else None


def _sub(a, b):
    return a if _is(b, 0) else -b if _is(a, 0) else None


def _mul(a, b):
    for one, other in ((a, b), (b, a)):
        if _is(one, 0) or _is(other, 1):
            return one
        if _is(one, -1):
            return -other
    return None


def _truediv(a, b):
    return a if _is(a, 0) or _is(b, 1) else None


def _pow(a, b):
    return Const(1) if _is(b, 0) else a if _is(b, 1) else None


def _neg(a):
    return a.args[0] if isinstance(a, Apply) and a.fn is operator.neg else None


def _and(a, b):
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Const):
            return other if one.value else Const(False)
    return None


def _or(a, b):
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Const):
            return Const(True) if one.value else other
    return None


def _where(condition, a, b):
    if isinstance(condition, Const):
        return a if condition.value else b
    return a if a is b else None


_SIMPLIFY = {
    operator.add: _add,
    operator.sub: _sub,
    operator.mul: _mul,
    operator.truediv: _truediv,
    operator.pow: _pow,
    operator.neg: _neg,
    operator.and_: _and,
    operator.or_: _or,
    where: _where,
}

COMPARISONS = frozenset(
    (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
)

_PURE = COMPARISONS | frozenset(
    (
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow),
        *(operator.floordiv, operator.mod, operator.neg, operator.not_, abs),
    )
)


def evaluate(expr, args, ans, const, apply):
    """Evaluate an expression, or a tuple of them, visiting every shared node once.

    `args[k]` stands for `Arg(k)` and `ans` for `Answer()`; `const(value)` makes an operand of a
    literal, `apply(fn, operands)` calls a function. Returns what `apply` returns (a tuple for a
    tuple). Division by zero is the engine's to answer as IEEE arithmetic does.

    >>> import operator
    >>> evaluate(Arg(0) * Arg(0), (3.0,), None, float, lambda fn, operands: fn(*operands))
    9.0
    """
    known = {}

    def visit(node):
        if node not in known:
            known[node] = compute(node)
        return known[node]

    def compute(node):
        if isinstance(node, Arg):
            return args[node.index]
        if isinstance(node, Answer):
            return ans
        if isinstance(node, Const):
            return const(node.value)
        return apply(node.fn, tuple(map(visit, node.args)))

    return tuple(map(visit, expr)) if isinstance(expr, tuple) else visit(expr)


def walk(*exprs):
    """Every node below the given ones, each once, operands before what uses them."""
    seen = {}
    stack = [(expr, False) for expr in reversed(exprs)]
    while stack:
        node, ready = stack.pop()
        if node in seen:
            continue
        if ready or not isinstance(node, Apply):
            seen[node] = None
        else:
            stack.append((node, True))
            stack.extend((operand, False) for operand in reversed(node.args))
    return tuple(seen)
