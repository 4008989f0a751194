"""What a statement means for derivatives; one subclass of `Op` for every kind of statement."""

import numpy as np
from numba.core import ir, types
from numba.core.unsafe import eh

from ...ir.divisors import may_divide_by_zero, operator_of, zero_test
from ...ir.fence import refuse
from ...ir.function import is_expr, operands
from ...ir.leaves import HANDLES, leaves
from ...ir.spelling import spell

_HARMLESS = "cast", "phi", "build_tuple", "unary"
_OF_SHAPES = len, range, isinstance, type, np.shape, np.size, np.ndim
_HASHED = types.DictType | types.Set
_HASHED_WAY_OUT = (
    'forward mode (mode="forward"), which goes through dictionaries and sets, or an array or a list in '
    "their place"
)


class Op:
    """A statement of the primal, and its adjoint.

    `flows` are pairs of leaves `((name, path), (name, path))`: the second depends on the first.
    `aliases` are pairs of handle leaves that may share memory; `stores` the handles written to.
    """

    known = True  # False: the flows are a guess, and the statement is refused if it is active
    cheap = False  # True: its result is computed again rather than recorded, like a sum
    expandable = False  # True: it gives way to simpler code, by `expand`, if it is active
    linear = (
        False  # True: several cotangents go through its adjoint at once, which runs no user's code
    )
    repeatable = False  # True: made once more, it does the same, and nothing else
    raises_alone = False  # True: where it raises, its adjoint may be run as if it had not
    chooses_by_mask = False  # True: each lane has one of two numbers
    elementary = False  # True: it reads or writes one element, computes one number, or names one

    def is_pulled_plainly(self):
        """Whether it calls what is pulled back as a whole, and does the same when it is called again."""
        return False

    def __init__(self, fn, label, statement):
        self.fn, self.label, self.statement = fn, label, statement
        self.flows, self.aliases, self.stores = [], [], []
        self.analyse()

    def analyse(self):
        """Fill in flows, aliases and stores."""

    @property
    def expr(self):
        return self.statement.value

    @property
    def target(self):
        return self.statement.target.name

    @property
    def loc(self):
        return self.statement.loc

    def reads(self):
        """The leaves that it computes with: those of arrays stand for what is in them."""
        return [source for source, _ in self.flows]

    def leaves(self, var):
        """The leaves of a variable as `(leaf identity, Leaf)`."""
        name = var if isinstance(var, str) else var.name
        return [((name, leaf.path), leaf) for leaf in leaves(self.fn.type_of(name))]

    def link(self, source, target, source_path=(), target_path=()):
        """The leaves below one place of `source` are those below a place of `target`."""
        there = {leaf.path: leaf for _, leaf in self.leaves(target)}
        for (name, path), leaf in self.leaves(source):
            if path[: len(source_path)] != source_path:
                continue
            other = there.get(target_path + path[len(source_path) :])
            if other is None:
                continue
            pair = (name, path), (_name(target), other.path)
            if leaf.kind in HANDLES or other.kind in HANDLES:
                self.aliases.append(pair)
            else:
                self.flows.append(pair)

    def defined(self):
        """The handle leaves that this statement defines."""
        if not isinstance(self.statement, ir.Assign):
            return []
        return [identity for identity, leaf in self.leaves(self.target) if leaf.kind in HANDLES]

    # -- the sweeps; `e` is the emitter -------------------------------------------------------

    def forward(self, e):
        """The statement in the forward sweep."""
        e.append(self.statement)

    def shadows(self, e):
        """Where the shadows of the handles that the statement defines come from, emitted after it."""

    def reverse(self, e):
        """The adjoint of the statement."""

    def may_raise(self, options):
        """Whether it may raise an exception, in code compiled with these options of `njit`."""
        return True

    def zero_test(self):
        """A helper and its arguments that tell whether it raises, for a division by zero; else None."""
        return zero_test(self.fn, getattr(self.statement, "value", None))

    def refusal(self):
        return refuse(self.construct(), self.loc)

    def construct(self):
        """What the statement is called in a message."""
        return spell(self.fn, self.statement)


class Constant(Op):
    """Its result has no derivative, whatever goes in."""

    linear = elementary = True

    def reads(self):
        """A comparison of arrays, for example, reads what is in them."""
        value = getattr(self.statement, "value", None)
        if not isinstance(value, ir.Expr) or is_expr(value, "getattr"):
            return []
        read = list(operands(value))
        if is_expr(value, "call"):
            if any(self.fn.constant(value.func) is of for of in _OF_SHAPES):
                return []
            method = self.fn.definition(value.func)
            read += [method.value] if is_expr(method, "getattr") else []
        return [identity for var in read for identity, _ in self.leaves(var)]

    def may_raise(self, options):
        value = getattr(self.statement, "value", None)
        if not isinstance(value, ir.Expr):
            return not isinstance(self.statement, ir.Assign | ir.Terminator)
        if operator_of(value):
            return self.zero_test() is not None and may_divide_by_zero(self.loc, options)
        return not (is_expr(value, *_HARMLESS) or self._reads_field() or self._is_check())

    def _reads_field(self):
        """Whether it takes something out of a module, an array or a tuple; a class may have code there."""
        of = types.Module | types.Array | types.BaseTuple
        return is_expr(self.expr, "getattr") and isinstance(self.fn.type_of(self.expr.value), of)

    def _is_check(self):
        """Whether it is one of Numba's own calls around `try`."""
        if not is_expr(self.expr, "call"):
            return False
        return getattr(self.fn.constant(self.expr.func), "__module__", "") == eh.__name__


class Unknown(Op):
    """Everything that goes in may come out, and every handle may be written to."""

    known = False

    def analyse(self):
        read = self.read()
        out = self.leaves(self.target) if isinstance(self.statement, ir.Assign) else []
        inputs = [(identity, leaf) for var in read for identity, leaf in self.leaves(var)]
        kinds = (*HANDLES, "opaque")
        handles = [(identity, leaf) for identity, leaf in inputs if leaf.kind in kinds]
        for source, leaf in inputs:
            for target, other in out:
                both = leaf.kind in kinds and other.kind in kinds
                (self.aliases if both and not self.fresh() else self.flows).append((source, target))
            for target, _ in handles:
                if source != target and self.writes():
                    self.flows.append((source, target))
        if self.writes():
            self.stores += [identity for identity, _ in handles]

    def read(self):
        """The variables that go in."""
        return self._reads(self.statement)

    def _reads(self, s):
        if not isinstance(s, ir.Assign):
            return list(s.list_vars())
        found = operands(s.value)
        method = self.fn.definition(s.value.func) if getattr(s.value, "op", "") == "call" else None
        if getattr(method, "op", None) == "getattr":
            found = [*found, method.value]
        return found

    def fresh(self):
        """Whether the result shares no memory with what goes in."""
        return False

    def writes(self):
        """Whether it may change what goes in."""
        return True

    def takes_constants(self):
        """Whether it is refused where what goes in is differentiated, floats coming out or not."""
        return False

    def meets_varied(self):
        """Where it is: what goes in is differentiated."""
        raise self.refusal()

    def refusal(self):
        made = [self.target] if isinstance(self.statement, ir.Assign) else []
        if any(isinstance(self.fn.type_of(v), _HASHED) for v in (*made, *self.read())):
            return refuse(self.construct(), self.loc, _HASHED_WAY_OUT)
        return super().refusal()


def _name(var):
    return var if isinstance(var, str) else var.name


def without_floats(fn, s):
    """Whether no float goes into a statement or comes out of it."""
    names = [s.target, *operands(s.value)]
    return not any(leaves(fn.type_of(v)) for v in names)


def without_floats_in(fn, value):
    """Whether no float goes into an expression."""
    return not any(leaves(fn.type_of(v)) for v in operands(value))
