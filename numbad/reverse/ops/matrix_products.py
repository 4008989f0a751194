"""`A @ B`, `np.dot`, `np.vdot` of vectors and matrices: BLAS in both sweeps."""

import operator

import numpy as np
from numba.core import types

from ...ir.leaves import leaves
from .. import product_adjoints
from ..memory_helpers import kept
from .array import View
from .call import StandIn
from .pulled import Called


class Product(Called):
    """`C = A @ B`, with a vector or a matrix on either side."""

    def __init__(self, fn, label, statement, arguments):
        super().__init__(fn, label, statement, arguments, None)

    def zero_test(self):
        """It raises for sizes that do not go together."""
        return product_adjoints.sizes_differ, self.arguments

    def _needed(self, e):
        """The numbers of the factors by which the adjoints of the others are multiplied."""
        return [k for k in (0, 1) if self._is_active(e, self.arguments[1 - k])]

    def is_pulled_plainly(self):
        return True

    def forward(self, e):
        """A factor that may change, or is of one iteration, is copied."""
        if self.is_live(e) and not e.is_silent():
            for k in self._needed(e):
                if self.must_copy(e, self.arguments[k]):
                    copy = e.call(kept, e.var("$tape"), self.arguments[k])
                    e.assign(copy, e.extra(self, k, self.kept_type(k)))
        e.append(self.statement)

    def reverse(self, e):
        if not self.is_live(e):
            return
        needed = self._needed(e)
        factors = [self._factor(e, k) if k in needed else e.none() for k in (0, 1)]
        bar = self.seed(e, self.fn.type_of(self.target))
        ndims = tuple(self.fn.type_of(v).ndim for v in self.arguments)
        adjoints = product_adjoints.ADJOINTS[e.dual is not None][ndims]
        for var, add in zip(self.arguments, adjoints, strict=True):
            if self._is_active(e, var):
                e.call(add, e.shadow((var.name, ())), bar, *factors)

    def must_copy(self, e, var):
        """Whether an array may be another, or be gone, when the reverse sweep reads it."""
        while type(e.plan.ops.get(var.name)) is View:
            var = e.plan.ops[var.name].base
        control = e.plan.control
        of_iteration = not control.outside(e.plan.place_of(var.name))
        if of_iteration or self.label in control.regions:  # which puts back what it needs, no more
            return of_iteration or super().must_copy(e, var)
        return not e.plan.unchanged.is_kept(var, self)

    def _factor(self, e, k):
        var = self.arguments[k]
        if self.must_copy(e, var):
            return e.extra_value(self, k, self.kept_type(k))
        return self._shown(e, var)

    def _shown(self, e, var):
        """The array itself; a view is made again of the array that it shows."""
        op = e.plan.ops.get(var.name)
        if type(op) is not View:
            return e.value(var)
        for operand in op.recipe_operands():
            e.value(operand)
        base = self._shown(e, op.base)
        return base if e.planning else e.reapply(op.statement, op.base, base)


def product(fn, label, s, arguments):
    """The op of a product of arrays; None for other arguments."""
    tys = [fn.type_of(v) for v in arguments]
    if len(tys) != 2 or not all(isinstance(ty, types.Array) and ty.ndim in (1, 2) for ty in tys):
        return None
    return Product(fn, label, s, arguments) if leaves(fn.type_of(s.target)) else None


def dot(fn, label, s, call):
    """`np.dot(a, b)`, `np.dot(a, b, out)`."""
    named = dict(call.kws)
    arguments = [*call.args, *(named[k] for k in ("a", "b", "out")[len(call.args) :] if k in named)]
    if len(arguments) == 3:
        return StandIn(fn, label, s, product_adjoints.product_into, arguments, writes=arguments[2])
    return product(fn, label, s, arguments)


def method_dot(fn, label, s, call, owner, ty):
    """`a.dot(b)`."""
    return None if call.kws else product(fn, label, s, [owner, *call.args])


def vdot(fn, label, s, call):
    """`np.vdot(a, b)`: of real vectors as `np.dot`."""
    if call.kws or not leaves(fn.type_of(s.target)):
        return None
    if isinstance(fn.type_of(s.target), types.Complex):
        return StandIn(fn, label, s, product_adjoints.conjugate_product, call.args)
    return product(fn, label, s, list(call.args))


def matmul(fn, label, s, call):
    """`operator.matmul(a, b)`."""
    return product(fn, label, s, call.args)


FUNCTIONS = {np.dot: dot, np.vdot: vdot, operator.matmul: matmul}
METHODS = {"dot": method_dot}
