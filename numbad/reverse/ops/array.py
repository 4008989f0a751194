"""Arrays: elements read and written, views, allocations."""

import numpy as np
from numba.core import ir, types
from numba.np.numpy_support import as_dtype

from ...ir.array_indices import is_basic_index
from ...ir.fence import refuse
from ...ir.function import is_expr, operands
from ...ir.leaves import HANDLES, leaves
from ..cotangents import Lanes
from ..elements import accumulate, element, take_element
from ..shadow_layout import add_copied, shadow_of_same_or_copy
from ..stack import stack_array
from .base import Constant, Op


def index_var(e, expr_or_statement):
    """The index of an access in the reverse sweep, and what stands for it as a literal."""
    node = expr_or_statement
    if getattr(node, "op", "") == "getitem" or isinstance(node, ir.SetItem):
        return e.index(node.index)
    return e.const_index(node.index, node.index_var)


class Access(Op):
    """One element of an array, read or written."""

    linear = repeatable = elementary = True
    updates = False  # True: half of `a[i] += x`

    def may_raise(self, options):
        return bool(options.get("boundscheck")) or self.fn.checked


class Load(Access):
    """`v = a[i]`: one element of an array."""

    def analyse(self):
        if self.leaves(self.target):
            self.flows.append(((self.expr.value.name, ()), (self.target, ())))

    def reverse(self, e):
        target = self.target, ()
        if e.pending(target):
            adjoint = e.take(target)
            if self.updates:
                return
            first = e.first_load(self)
            if first is not None:
                e.add((first, ()), adjoint)
                return
            shadow = e.shadow((self.expr.value.name, ()))
            index = index_var(e, self.expr)
            if self in e.staged:
                e.staged[self].put(self, shadow, index, adjoint)
            else:
                e.call(accumulate, shadow, index, adjoint)


class Store(Access):
    """`a[i] = v`: one element of an array."""

    def analyse(self):
        array = self.statement.target.name, ()
        self.stores.append(array)
        for source, _ in self.leaves(self.statement.value):
            self.flows.append((source, array))

    def reverse(self, e):
        array = self.statement.target.name, ()
        if not e.active(array):
            return
        taken = element if self.updates else take_element
        adjoint = e.call(taken, e.shadow(array), index_var(e, self.statement))
        source = self.statement.value.name, ()
        if leaves(self.fn.type_of(self.statement.value)) and e.active(source):
            e.add(source, adjoint, of=array)

    def construct(self):
        return "a write into a constant array (a global or closure variable)"


class View(Op):
    """An array that shows the memory of another: a slice, a transpose, a reshaped array.

    The same expression, applied to the shadow of the one, is the shadow of the other.
    """

    linear = repeatable = True

    def __init__(self, fn, label, statement, base, fits=False):
        self.base, self.fits = base, fits  # whether there is a view of any array
        super().__init__(fn, label, statement)

    def may_raise(self, options):
        value = self.statement.value
        if self.fits or is_expr(value, "getattr"):
            return False
        if not is_expr(value, "getitem", "static_getitem"):
            return True
        where = value.index if value.op == "getitem" else value.index_var
        if where is None:
            return True
        checked = bool(options.get("boundscheck")) or self.fn.checked
        known = value.index if value.op == "static_getitem" else None
        return checked or not _is_harmless_index(self.fn.type_of(where), known)

    def analyse(self):
        self.link(self.base, self.target)

    def shadows(self, e):
        identity = self.target, ()
        if e.active(identity):
            e.set_shadow(identity, self.recipe(e))

    def recipe(self, e):
        """The shadow of the view, made from that of the base."""
        return e.reapply(self.statement, self.base, e.shadow((self.base.name, ())))

    def recipe_operands(self):
        """The names that the recipe needs besides the base's shadow."""
        found = [v for v in self._operand_vars() if v.name != self.base.name]
        return [v for v in found if not isinstance(self.fn.type_of(v), types.Callable)]

    def _operand_vars(self):
        return operands(self.expr)


class SameOrCopy(Op):
    """An array as a contiguous one: itself, or a copy, as Numba finds at run time."""

    linear = True

    def __init__(self, fn, label, statement, base):
        self.base = base
        super().__init__(fn, label, statement)

    def analyse(self):
        self.link(self.base, self.target)

    def shadows(self, e):
        identity = self.target, ()
        if e.active(identity):
            shadow, target = e.shadow((self.base.name, ())), self.statement.target
            made = e.call(shadow_of_same_or_copy, e.var("$tape"), self.base, target, shadow)
            e.set_shadow(identity, made)

    def reverse(self, e):
        if e.active((self.target, ())):
            shadow, copied = (e.shadow((name, ())) for name in (self.base.name, self.target))
            e.call(add_copied, shadow, copied)


class Fresh(Op):
    """A new array, whose memory no other name shares; what goes in carries no derivative."""

    linear = repeatable = True
    raises_alone = True  # for want of memory, or for a shape; its adjoint computes nothing

    def analyse(self):
        for var in operands(self.expr):
            for source, leaf in self.leaves(var):
                if leaf.kind not in HANDLES:
                    for target, _ in self.leaves(self.target):
                        self.flows.append((source, target))

    @property
    def known(self):
        return not self.flows

    def forward(self, e):
        """An array that stays here lies on the machine stack."""
        if self.target in e.on_stack and (e.dual is None or isinstance(e.dual, Lanes)):
            shape, zeros = e.on_stack[self.target]
            made = e.call(stack_array(self.fn.type_of(self.target), shape, zeros))
            e.assign(made, self.statement.target)
        else:
            super().forward(e)

    def shadows(self, e):
        for identity in self.defined():
            if e.active(identity):
                e.set_shadow(identity, self._shadow(e))

    def _shadow(self, e):
        if self.target not in e.on_stack or self.label in e.repeated:
            return e.new_shadow(self.statement.target)
        ty = self.fn.type_of(self.target)
        dtype = ty.dtype if e.joined is None else e.joined(ty.dtype)
        return e.call(stack_array(ty.copy(dtype=dtype), e.on_stack[self.target][0], True))


class ConstantArray(Constant):
    """A new array of numbers without a derivative, which others may be stored in later."""

    def shadows(self, e):
        for identity in self.defined():
            if e.active(identity):
                e.set_shadow(identity, e.new_shadow(self.statement.target))


class StoppedCopy(ConstantArray):
    """What `nd.stop_gradient(x)` gives: a copy; only a whole array may have derivatives stored in it."""

    def shadows(self, e):
        of_arrays = not isinstance(self.fn.type_of(self.target), types.Array)
        if of_arrays and any(e.active(identity) for identity in self.defined()):
            raise refuse(
                "a write of differentiated values into a tuple or list that nd.stop_gradient returned",
                self.loc,
                "nd.stop_gradient of each of its arrays",
            )
        super().shadows(e)


class LikeNumber(Fresh):
    """`np.zeros_like(x)` of a number and the like: its type alone counts, and the result has no axes."""

    def analyse(self):
        pass


class Inferred(Fresh):
    """The array of a comprehension, whose dtype Numba infers from what is stored in it."""

    def forward(self, e):
        dtype = e.function(as_dtype(self.fn.type_of(self.target).dtype).type)
        shape = self.expr.args[0]
        call = ir.Expr.call(e.function(np.empty), [shape, dtype], (), e.loc)
        e.assign(call, self.statement.target)


def _is_harmless_index(ty, known=None):
    """Whether an index, known or not, raises nothing where bounds are not checked: a step may be zero."""
    members = ty.types if isinstance(ty, types.BaseTuple) else (ty,)
    steps = any(isinstance(t, types.SliceType) and t.has_step for t in members)
    if steps and known is not None:
        parts = known if isinstance(known, tuple) else (known,)
        steps = any(isinstance(part, slice) and part.step == 0 for part in parts)
    return is_basic_index(ty) and not steps


def is_element_index(ty, ndim):
    """Whether an index picks one element."""
    members = ty.types if isinstance(ty, types.BaseTuple) else (ty,)
    return len(members) == ndim and all(
        isinstance(types.unliteral(t), types.Integer) for t in members
    )
