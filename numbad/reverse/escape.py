"""New arrays of known size that nothing outside the function, or outside an iteration, can hold.

Their memory lies on the machine stack: a scratch array of a few floats costs no call of an allocator,
and where its indices are known, LLVM keeps its elements in registers.
"""

import math

import numpy as np
from numba.core import ir, types
from numba.np.numpy_support import as_dtype

from ..ir.function import is_expr, read_by
from ..ir.leaves import HANDLES, leaves
from ..ir.sizes import constant_shape
from .ops.array import Fresh, Load, Store, View
from .ops.moves import Copy, Phi

MOST_BYTES = 2048  # of one array
MOST_BYTES_IN_ALL = 8192
_READ = {"shape", "size", "ndim", "T", "itemsize", "nbytes"}


class Escape:
    """Where the arrays of a `Function` go; `kept` are the handles that its caller gets."""

    def __init__(self, fn, activity, control, kept):
        self.fn, self.activity, self.control = fn, activity, control
        self.kept = {activity.node(leaf) for leaf in kept}
        self.ops = {id(op.statement): op for op in activity.every()}
        self.names = {}  # what stands for handles that share memory -> their names
        self.strange = set()  # the same -> whether some statement may keep a reference
        for name in fn.types:
            for leaf in leaves(fn.type_of(name)):
                if leaf.kind in HANDLES:
                    self.names.setdefault(activity.node((name, leaf.path)), set()).add(name)
        for _, s in fn.statements():
            self._read(s)

    def _read(self, s):
        for var in read_by(s):
            found = [leaf for leaf in leaves(self.fn.type_of(var)) if leaf.kind in HANDLES]
            if found and not self._is_plain(s, var):
                self.strange |= {self.activity.node((var.name, leaf.path)) for leaf in found}

    def _is_plain(self, s, var):
        """Whether a statement reads or writes an array's elements, or makes another name for it."""
        if not isinstance(self.fn.type_of(var), types.Array):
            return isinstance(s, ir.Return)  # what is returned is looked at elsewhere
        op = self.ops.get(id(s))
        if isinstance(op, Load | Store | Phi | Copy) or isinstance(s, ir.Return):
            return True
        value = getattr(s, "value", None)
        if is_expr(value, "getattr"):
            return value.attr in _READ
        if is_expr(value, "call"):
            return self.fn.constant(value.func) is len
        return isinstance(op, View) and is_expr(value, "getitem", "static_getitem")

    def stack_arrays(self):
        """Names of arrays -> their shape and whether they start as zeros."""
        found, total = {}, 0
        for label, ops in self.activity.ops.items():
            for op in ops:
                made = _allocated(self.fn, op) if type(op) is Fresh else None
                if made is None or not self._stays(op.target, label):
                    continue
                size = _bytes(made[0], self.fn.type_of(op.target))
                if size <= MOST_BYTES and total + size <= MOST_BYTES_IN_ALL:
                    total += size
                    found[op.target] = made
        return found

    def may_leave(self, leaf):
        """Whether what outlives the call may hold the array."""
        node = self.activity.node(leaf)
        return node in self.kept or node in self.strange

    def _stays(self, name, label):
        """Whether no name of the array is known outside the iteration that makes it."""
        node = self.activity.node((name, ()))
        if self.may_leave((name, ())) or node in self.activity.constants:
            return False
        loop = self.control.innermost(label)
        return loop is None or all(self._within(other, loop) for other in self.names[node])

    def _within(self, name, loop):
        place = self.fn.definitions.get(name)
        if place is None or place[0] not in loop.body:
            return False
        return not (place[0] == loop.header and is_expr(place[1], "phi"))


def _allocated(fn, op):
    """The shape of an array that `np.empty` or `np.zeros` makes, and whether of zeros; None else."""
    call, ty = op.expr, fn.type_of(op.target)
    if not is_expr(call, "call") or not isinstance(ty, types.Array) or ty.layout != "C":
        return None
    function = fn.constant(call.func)
    if not (function is np.empty or function is np.zeros) or not call.args:
        return None
    if not isinstance(ty.dtype, types.Float):
        return None
    shape = constant_shape(fn, call.args[0])
    if shape is None or len(shape) != ty.ndim:
        return None
    return shape, function is np.zeros


def _bytes(shape, ty):
    return math.prod(shape) * as_dtype(ty.dtype).itemsize
