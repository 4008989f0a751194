"""Views whose adjoint is no view of the array's: the imaginary part, floats read as complex numbers.

With `df/dx - 1j df/dy` for the adjoint of `x + 1j y`, the adjoint of y is minus its imaginary part.
"""

import numpy as np
from numba import njit
from numba.core import types
from numba.cpython.unsafe.tuple import tuple_setitem

from ...ir.fence import refuse
from ...ir.function import is_expr, read_by
from .array import View
from .base import Constant, Op


@njit
def add_imaginary(shadow, part):
    """`shadow -= 1j * part`, for arrays of one shape."""
    for index in np.ndindex(shadow.shape):
        shadow[index] -= 1j * part[index]


@njit
def add_pairs(shadow, numbers):
    """Add the adjoints of complex numbers to those of the floats that are their parts."""
    last = shadow.ndim - 1
    for index in np.ndindex(numbers.shape):
        place = tuple_setitem(index, last, 2 * index[last])
        shadow[place] += numbers[index].real
        shadow[tuple_setitem(place, last, place[last] + 1)] -= numbers[index].imag


@njit
def add_numbers(shadow, pairs):
    """Add the adjoints of floats to those of the complex numbers that they are the parts of."""
    last = shadow.ndim - 1
    for index in np.ndindex(shadow.shape):
        place = tuple_setitem(index, last, 2 * index[last])
        x, y = pairs[place], pairs[tuple_setitem(place, last, place[last] + 1)]
        shadow[index] += x - 1j * y


class ShownPart(Op):
    """`v = z.imag`, `v = a.view(np.complex128)`: its adjoint is an array of its own, added in the end.

    It is right as long as nothing that is written under one of the two names is read under the other.
    `add` adds the adjoint of `v` to that of the array; `shown` says what `v` is, `copied` how to copy it.
    """

    def __init__(self, fn, label, statement, base, add, shown, copied):
        self.base, self.add, self.shown, self.copied = base, add, shown, copied
        super().__init__(fn, label, statement)

    def analyse(self):
        self.link(self.base, self.target)

    def shadows(self, e):
        identity = self.target, ()
        if e.active(identity):
            e.set_shadow(identity, e.new_shadow(self.statement.target))

    def reverse(self, e):
        if not e.active((self.target, ())):
            return
        if self._is_read_after_a_write(e):
            raise refuse(
                f"{self.shown}, which is read after a write to it",
                self.loc,
                f"copy it, v = {self.copied}, before anything is written to the array",
            )
        shadow, own = (e.shadow((name, ())) for name in (self.base.name, self.target))
        e.call(self.add, shadow, own)

    def _is_read_after_a_write(self, e):
        """Whether a write to the numbers under one of the two names is seen under the other."""
        activity, way = e.activity, Way(e.plan.control, self)
        ops = list(activity.every())
        own = self._own_names(ops)
        shared = {leaf[0] for leaf in activity.members(activity.node((self.target, ())))}
        for write in e.plan.unchanged.writers(self.base):
            through_own = any(name in own for name, _ in write.stores)
            names = shared if through_own else own
            if way.leads(self, write) and any(
                way.leads(write, op)
                for op in ops
                if op is not write and _reads_one_of(op.statement, names)
            ):
                return True
        return False

    def _own_names(self, ops):
        """The names that show the part, and not the array itself: of `(z.real, z.imag)`, one member does."""
        found, grown = {(self.target, ())}, True
        pairs = [pair for op in ops if op is not self for pair in op.aliases]
        while grown:
            more = {target for source, target in pairs if source in found} - found
            found, grown = found | more, bool(more)
        return {name for name, _ in found}


def _reads_one_of(s, names):
    """Whether a statement uses more than the shape of an array."""
    value = getattr(s, "value", None)
    shape = is_expr(value, "getattr") and value.attr in ("shape", "size", "ndim")
    return not shape and any(v.name in names for v in read_by(s))


class Way:
    """Whether one statement may be run after another, with `around` not run in between."""

    def __init__(self, control, around):
        self.control, self.around = control, around

    def leads(self, op, other):
        if op.label == other.label and op.number < other.number:
            return not self._within(op.label, op.number, other.number)
        if self._within(op.label, op.number, None):
            return False
        seen, pending = set(), [op.label]
        while pending:
            for label in self.control.successors(pending.pop()):
                if label == other.label and not self._within(label, None, other.number):
                    return True
                if label not in seen and not self._within(label, None, None):
                    seen.add(label)
                    pending.append(label)
        return False

    def _within(self, label, first, last):
        """Whether `around` stands in a block, between statements of these numbers if there are any."""
        n = self.around.number
        after, before = first is None or n > first, last is None or n < last
        return self.around.label == label and after and before


def real(fn, label, s, var):
    """The op of the real part of an array, whose shadow is the real part of the array's."""
    return View(fn, label, s, var)


def imaginary(fn, label, s, var):
    """The op of the imaginary part of an array; of real numbers it is a constant."""
    if isinstance(fn.type_of(var).dtype, types.Complex):
        shown = "the imaginary part of an array of complex numbers"
        return ShownPart(fn, label, s, var, add_imaginary, shown, "z.imag.copy()")
    return Constant(fn, label, s)


def reinterpreted(fn, label, s, var):
    """The op of floats read as complex numbers, or of complex numbers as floats, of the same width."""
    out = fn.type_of(s.target).dtype
    if isinstance(out, types.Complex):
        shown = "an array of floats read as complex numbers"
        return ShownPart(fn, label, s, var, add_pairs, shown, f"a.view(np.{out}).copy()")
    shown = "an array of complex numbers read as floats"
    return ShownPart(fn, label, s, var, add_numbers, shown, f"z.view(np.{out}).copy()")
