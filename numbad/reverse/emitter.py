"""Emits the statements of the two sweeps as untyped Numba IR."""

import operator
from contextlib import contextmanager

import numpy as np
from numba.core import ir, types

from ..forward.layout import in_layout, writable
from ..ir.function import is_expr, map_vars
from ..ir.leaves import at
from ..lanes.varying import either, other
from ..rules.registry import name_of
from .arena import arena_zeros_like
from .contributions import summed
from .cotangents import Lanes, start_of
from .fields import blank
from .names import bar_name, shadow_name
from .ops import lists
from .ops.structural_functions import real_of
from .primal_values import Values

ZERO = -0.0
"""Where adjoints start: `-0.0 + x` is `x` for every x, so the compiler can drop the addition."""


class SweepEmitter(Values):
    """Appends to a current block; answers what the adjoints of statements ask for."""

    def __init__(self, fn, activity, plan, scope, dual=None, pair=None):
        self.fn, self.activity, self.plan, self.scope, self.dual = fn, activity, plan, scope, dual
        self.pair = pair  # (dispatcher, types, wrt) -> the two functions of a recursive callee
        self.loc = fn.loc
        self.block = None
        self.label = None  # of the primal block whose adjoint is emitted; None in the forward sweep
        self.globals, self.constants = {}, {}
        self.prelude = []  # globals and constants, for the entry block
        self.needs = []  # filled while planning
        self.planning = False
        self._serial = 0
        self._local = {}
        self._memo = {}
        self.local_leaves = set()
        self.dropped = set()  # leaves whose definitions ask for zeros, see `dropped`
        self.left_out = set()  # leaves whose products ask whether their cotangent is zero
        self.undecided = {}  # and roots that do not, where the uses told of are reached
        self.hoisted = set()  # loads whose adjoints are added to the array after a loop
        self.gathered = {}  # block of a loop whose sums are in any order -> the blocks of that loop
        self.staged = {}  # load -> the strategy of its loop, which adds its terms to the array
        self.region = None  # the `Iterations` whose code is emitted
        self.way = None  # the leaves that alone count as active
        self.on_stack = {}  # name of a new array -> its shape, and whether it starts as zeros
        self.meant = {}  # `min` or `max` -> the argument that it takes where it is reversed
        self.repeated = set()  # labels of blocks in loops
        self.notes = {}  # temporary -> what it stands for: ("bar", leaf), ("value", name)

    @property
    def number(self):
        """The dual number that floats are here; None where they are what the primal has."""
        plain = self.dual is None or isinstance(self.dual, Lanes)
        return None if plain else self.dual(types.float64)

    @property
    def joined(self):
        """What makes the type of adjoints here, from that of a primal; None where it is the same.

        An iteration that is reversed by itself, as if its result were one, has one adjoint for all rows.
        """
        alone = self.region is not None and self.region.is_alone()
        return None if alone and isinstance(self.dual, Lanes) else self.dual

    # -- plain emission ----------------------------------------------------------------------

    def start(self, block, label=None):
        """Emit into `block`; `label` is the primal block that it is the adjoint of."""
        self.block, self.label = block, label
        self._local, self._memo = {}, {}

    def is_silent(self):
        """Whether nothing of what is emitted now is recorded, as it is run once more with records."""
        return self.region is not None and self.region.is_silent()

    @contextmanager
    def within(self, region):
        """Emit code of an iteration that is reversed by itself, or of none."""
        before, self.region = self.region, region
        yield
        self.region = before

    @contextmanager
    def along(self, leaves):
        """Emit adjoints of these leaves alone, in variables of their own, before the forward sweep."""
        self.way = frozenset(leaves)
        yield
        self.way = None

    def var(self, name):
        return ir.Var(self.scope, name, self.loc)

    def temp(self):
        self._serial += 1
        return self.var(f"$t{self._serial}")

    def append(self, statement):
        self.block.append(statement)

    def assign(self, value, target=None):
        target = target or self.temp()
        self.block.append(ir.Assign(value, target, self.loc))
        return target

    def const(self, value):
        key = type(value), repr(value)
        if key not in self.constants:
            self._serial += 1
            self.constants[key] = target = self.var(f"$c{self._serial}")
            self.prelude.append(ir.Assign(ir.Const(value, self.loc), target, self.loc))
        return self.constants[key]

    def function(self, fn):
        if id(fn) not in self.globals:
            self._serial += 1
            self.globals[id(fn)] = target = self.var(f"$g{self._serial}")
            node = ir.Global(name_of(fn), fn, self.loc)
            self.prelude.append(ir.Assign(node, target, self.loc))
        return self.globals[id(fn)]

    def call(self, fn, *args):
        return self.assign(ir.Expr.call(self.function(fn), list(args), (), self.loc))

    def binop(self, fn, x, y, target=None):
        return self.assign(ir.Expr.binop(fn, x, y, self.loc), target)

    def linear(self, fn, x, y, target=None):
        """A sum or product of adjoints, which `SweepLower` may compile to other roundings than written."""
        expr = ir.Expr.binop(fn, x, y, self.loc)
        expr.of_adjoints = True
        return self.assign(expr, target)

    def negated(self, x):
        return self.assign(ir.Expr.unary(operator.neg, x, self.loc))

    def _note(self, var, kind, what):
        """Remember what a temporary stands for, for who reads a listing."""
        self.notes.setdefault(var.name, []).append((kind, what))
        return var

    def tuple(self, members):
        return self.assign(ir.Expr.build_tuple(list(members), self.loc))

    def item(self, tup, k):
        return self.assign(ir.Expr.static_getitem(tup, k, None, self.loc))

    # -- what a statement keeps for its adjoint beside primal values ---------------------------

    def extra(self, op, key, ty=None):
        """The variable in which a statement keeps something for the reverse sweep.

        `ty` is its type, None where nobody asks for it, or a function that gives it: see `SplitSweep`.
        """
        name = f"$kept{op.number}{key}"
        self.plan.extras[name] = op.label
        if ty is not None:
            self.plan.extra_types[name] = ty
        return self.var(name)

    def extra_value(self, op, key, ty=None):
        """The same in the reverse sweep, recorded if the statement is in a loop."""
        name = self.extra(op, key, ty).name
        if self.planning:
            self.needs.append((self.label, name))
        return self.var(name)

    def new_shadow_at(self, leaf):
        """A zeroed shadow for an array in a place of a primal value."""
        value = self.var(leaf[0]) if self.label is None else self.value(leaf[0])
        for k in leaf[1]:
            value = self.item(value, k)
        return self.new_shadow_of(value, leaf)

    def memo(self, key, make):
        """One object for a key, in the whole process."""
        if key not in _MEMO:
            _MEMO[key] = make()
        return _MEMO[key]

    def none(self):
        return self.const(None)

    def zero_of(self, ty):
        """The zero of a type of float or complex numbers."""
        return self.final(self.const(0.0), ty)

    def final(self, x, ty):
        """An adjoint in the precision of the primal's type; duals as they are."""
        if self.dual is not None:
            return x
        return self.call(_NUMBER_CLASS[str(ty)], x)

    def new_shadow_of(self, value, leaf):
        """A zeroed shadow for an array that is not a variable by itself."""
        found = at(self.fn.type_of(leaf[0]), leaf[1])
        if found.kind in ("object", "record"):
            lists.refuse_lists_of_handles(self, found.type)
            return self.call(blank(found.type, self.number), self.var("$tape"), value)
        if found.kind == "list":
            return lists.shadow_of(self, found.type, value)
        dtype = found.type.dtype
        dtype = None if self.joined is None else self.joined(dtype)
        return self.call(zeros_maker(dtype), self.var("$tape"), value)

    # -- shadows -----------------------------------------------------------------------------

    def shadow(self, leaf):
        """The shadow of a handle leaf."""
        leaf = self.plan.origin(leaf)
        if self.label is None:
            return self._shadow_variable(leaf)
        if self.planning:
            self.needs.append((self.label, leaf))
            return self.var(shadow_name(leaf))
        plan = self.plan
        if plan.alive(self.label, leaf) or plan.recorded(self.label, leaf):
            return self._shadow_variable(leaf)
        if leaf not in self._memo:
            self._memo[leaf] = self._note(plan.ops[leaf[0]].recipe(self), "bar", leaf)
        return self._memo[leaf]

    def _shadow_variable(self, leaf):
        return self.var(shadow_name(leaf) + self._mark(leaf))

    def _mark(self, leaf):
        return self.region.mark(leaf) if self.region is not None else ""

    def set_shadow(self, leaf, value):
        self.assign(value, self._shadow_variable(leaf))

    def new_shadow(self, var):
        """Zeros of the shape of an array."""
        return self.call(zeros_maker(self._shadow_dtype(var)), self.var("$tape"), var)

    def _shadow_dtype(self, var):
        if self.joined is None:
            return None
        return self.joined(self.fn.type_of(var).dtype)

    def reapply(self, statement, base, shadow):
        """A view's expression, applied to the shadow of its base."""
        value = statement.value
        layout = getattr(self.fn.type_of(base), "layout", "A")
        if is_expr(value, "call"):
            if layout != "A":  # the shadow has it too, even where its type does not tell
                shadow = self.call(in_layout(layout), shadow)
            view = self._reapply_call(value, base, shadow)
            is_read_only = not getattr(self.fn.type_of(statement.target), "mutable", True)
            return self.call(writable, view) if is_read_only else view

        def rename(var):
            if var is ir.UNDEFINED:
                return var
            return shadow if var.name == base.name else self._operand(var)

        return self.assign(map_vars(value, rename))

    def _operand(self, var):
        if self.label is None:
            return var
        return self._find(var.name)

    def _reapply_call(self, call, base, shadow):
        method = self.fn.definition(call.func)
        if is_expr(method, "getattr") and method.value.name == base.name:
            func = self.assign(ir.Expr.getattr(shadow, method.attr, self.loc))
        else:
            func = self.function(self.fn.constant(call.func))
        args = [shadow if v.name == base.name else self._operand(v) for v in call.args]
        kws = tuple((k, self._operand(v)) for k, v in call.kws)
        return self.assign(ir.Expr.call(func, args, kws, self.loc))

    # -- adjoints ----------------------------------------------------------------------------

    def active(self, leaf):
        return leaf in self.way if self.way is not None else self.activity.active(leaf)

    def pending(self, leaf):
        """Whether the adjoint of a leaf may be other than zero here."""
        if not self.active(leaf):
            return False
        return not self._is_local(leaf) or leaf in self._local

    def _is_local(self, leaf):
        """Whether the adjoint of a leaf is a temporary of the block."""
        return leaf in self.local_leaves or self.way is not None

    def bar(self, leaf):
        """The variable that holds the adjoint of a leaf."""
        return self.var(bar_name(leaf) + self._mark(leaf))

    def take(self, leaf):
        """The adjoint of a leaf, which is zero from here on."""
        if self._is_local(leaf):
            return self._note(self._local.pop(leaf), "bar", leaf)
        bar = self.bar(leaf)
        taken = self.assign(bar)
        self.assign(self.zero(leaf), bar)
        return taken

    def add(self, leaf, x, negative=False, of=None):
        """Add to the adjoint of a leaf; `of` is the leaf whose adjoint `x` is made from."""
        if of is not None and self.is_complex(of) and not self.is_complex(leaf):
            x = self.call(real_of, x)
        if self._is_local(leaf):
            if leaf not in self._local:
                self._local[leaf] = self.negated(x) if negative else x
            else:
                fn = operator.sub if negative else operator.add
                self._local[leaf] = self.linear(fn, self._local[leaf], x)
            return
        bar = self.bar(leaf)
        if self._is_summed(leaf):
            self.assign(self.call(summed(negative), bar, x), bar)
        else:
            self.linear(operator.sub if negative else operator.add, bar, x, bar)

    def _is_summed(self, leaf):
        """Whether the adjoint of a leaf is a sum over iterations whose order is left to the compiler."""
        body = self.gathered.get(self.label, ())
        carried = (
            self.plan.place_of(leaf[0]) not in body or self.plan.ops.get(leaf[0]) in self.hoisted
        )
        return bool(body) and carried and not self.is_complex(leaf)

    def zero(self, leaf):
        if isinstance(self.joined, Lanes):
            return self._zero_lanes()
        return self.const(complex(ZERO, ZERO) if self.is_complex(leaf) else ZERO)

    def _zero_lanes(self):
        """Zero in all lanes, set once."""
        key = "zero", self.dual.n
        if key not in self.constants:
            self.constants[key] = target = self.temp()
            make = self.function(self.memo(key, lambda: start_of(self.dual(types.float64))))
            self.prelude.append(ir.Assign(ir.Expr.call(make, [], (), self.loc), target, self.loc))
        return self.constants[key]

    def reached(self, root):
        """The variable that tells whether a use has been reached after which zero tells nothing of a root."""
        return self.var(bar_name(root) + ".reached" + self._mark(root))

    def note_reached(self, op, chosen=None, mask=None, held=True):
        """Say so, where a statement is such a use; of a choice, in the lanes that have the leaf `chosen`."""
        for root, uses in self.undecided.items():
            if (op, chosen) not in uses:
                continue
            reached, value = self.reached(root), self.const(True)
            if mask is not None:
                value = self.call(either, reached, mask if held else self.call(other, mask))
            self.assign(value, reached)

    def take_reached(self, root):
        """Whether one has been, which is asked anew from here on."""
        reached = self.reached(root)
        taken = self.assign(reached)
        self.assign(self.const(False), reached)
        return taken

    def is_complex(self, leaf):
        found = at(self.fn.type_of(leaf[0]), leaf[1])
        ty = getattr(found, "type", None)
        return isinstance(getattr(ty, "dtype", ty), types.Complex)


_NUMBER_CLASS = {
    str(np_type): getattr(np, str(np_type))
    for np_type in ("float32", "float64", "complex64", "complex128")
}
_ZEROS, _MEMO = {}, {}


def zeros_maker(dtype):
    if dtype not in _ZEROS:
        _ZEROS[dtype] = arena_zeros_like(dtype)
    return _ZEROS[dtype]
