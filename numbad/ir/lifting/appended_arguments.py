"""How calls give arguments to a function, and get what it captures appended."""

import operator

from numba.core import ir, types
from numba.extending import overload


def joined(args, captured):
    """The tuple of the arguments in `args`, a tuple or one argument, and of those captured."""
    return (args if isinstance(args, tuple) else (args,)) + captured


@overload(joined)
def _joined(args, captured):
    if isinstance(args, types.BaseTuple):
        return lambda args, captured: args + captured
    return lambda args, captured: (args,) + captured  # noqa: RUF005


def by_name(names, expr):
    """The arguments of a call by the names of the parameters."""
    return {**dict(zip(names, expr.args, strict=False)), **dict(expr.kws)}


class Put(ir.Global):
    """An object that the user's code does not name."""


class UntypedCall:
    """A call in untyped code, to be called with more arguments."""

    def __init__(self, meanings, place):
        self.meanings, self.place = meanings, place
        self.statement = meanings.statement(place)
        self.expr = self.statement.value
        self.before = []  # statements to be put before it

    def new(self, value, name):
        """A new variable that holds a value."""
        var = self.statement.target.scope.redefine(f"$numbad_{name}", self.expr.loc)
        self.before.append(ir.Assign(value, var, self.expr.loc))
        return var

    def constant(self, value, name):
        return self.new(Put(name, value, self.expr.loc), name)

    def length(self, var):
        """How many members a tuple has; None where that is not seen."""
        where = None if var is None else self.meanings.reaching(var.name, self.place)
        value = None if where is None else self.meanings.statement(where).value
        if isinstance(value, ir.Var):
            return self.length(value)
        is_tuple = isinstance(value, ir.Expr) and value.op == "build_tuple"
        return len(value.items) if is_tuple else None

    def extended(self, given, captured):
        """A variable that holds a tuple, or a single argument, with those captured appended."""
        if not captured:
            return given
        tail = self.new(ir.Expr.build_tuple(captured, self.expr.loc), "captured")
        length = 0 if given is None else self.length(given)
        if length == 0:
            return tail
        if length is not None:
            added = ir.Expr.binop(operator.add, given, tail, self.expr.loc)
            return self.new(added, "args")
        function = self.constant(joined, "joined")
        return self.new(ir.Expr.call(function, [given, tail], (), self.expr.loc), "args")
