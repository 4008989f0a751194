"""Loops that read elements beside each other, `u[i - 1] + u[i + 1]`, and whose adjoints gather the terms.

The reverse of one iteration adds to elements of an adjoint array that the reverse of the next adds to as
well, so that no two of them can be computed at once. Instead, the terms of up to `LENGTH` iterations are
put down side by side, a row for each read but the first, and each row is added to the array as a whole.
Neither loop has dependences, so that LLVM makes vectors of them; for the same reason the order in which
such a loop adds to the adjoints of numbers is left to LLVM.
"""

import math
import operator
from collections import defaultdict
from functools import cache

import numpy as np
from llvmlite import ir as ll
from numba.core import cgutils, ir, types
from numba.extending import intrinsic

from ...ir.function import is_expr
from ..aliasing import TERMS, mark
from ..elements import element_pointer
from ..names import counter
from ..nonnegative import index_variables
from ..ops.array import Load, Store
from ..ops.scalar_function import ARITHMETIC, INPLACE, ScalarOp
from ..switches import Switch
from .loop_strategy import LoopStrategy

STENCILS = Switch(
    "stencils",
    "what is added to neighbouring elements is added a block of iterations at a time",
)

LENGTH = 256  # iterations whose terms are put down before they are added: of one read, 2 KiB
LANES = 4  # of the vectors that rows are added in
MOST = 12  # rows a loop: more would not leave much room in the nearest cache
ROWS = "$rows_of_terms"
_REAL, _LANES = ll.DoubleType(), ll.VectorType(ll.DoubleType(), LANES)
_INSTRUCTIONS = {*ARITHMETIC, abs, math.fabs, math.sqrt, np.sqrt}


class _Search:
    """Looks at one loop."""

    def __init__(self, sweep, header):
        self.sweep, self.e, self.fn, self.plan = sweep, sweep.e, sweep.fn, sweep.plan
        self.loop = sweep.control.loops[header]
        self.ops = [op for label in self.loop.body for op in sweep.activity.ops[label]]

    def loads(self):
        """The loads whose terms are put down: of arrays that are read in several places an iteration.

        What one read of each array adds may stay in the loop, as it is added to another element every time.
        """
        if not self._is_simple():
            return []
        by_array = defaultdict(list)
        for op in self.ops:
            if isinstance(op, Load) and self._adds(op):
                by_array[op.expr.value.name].append(op)
        found = [
            op
            for name, ops in by_array.items()
            if not any(map(self._meets_a_store, ops)) and all(map(self._walks, ops))
            for op in ops[1:]
        ]
        return found if len(found) <= MOST else []

    def _is_simple(self):
        """Whether an iteration is one block that reads and writes single elements, and records nothing."""
        sweep, header = self.sweep, self.loop.header
        apart = header in sweep.iterations
        records = sweep.plan.frames.get(header)
        plain = all(op.elementary and self._may_be_vector(op) for op in self.ops)
        return len(self.loop.body) == 2 and plain and not (apart or records)

    def _may_be_vector(self, op):
        """Whether there are instructions for a function and its derivatives of several numbers at once."""
        if not isinstance(op, ScalarOp) or not self.e.active((op.target, ())):
            return True
        function = INPLACE.get(op.function, op.function)
        squares = function is operator.pow and self.fn.constant(op.arguments[1]) in (2, 2.0)
        return squares or any(function is known for known in _INSTRUCTIONS)

    def _meets_a_store(self, load):
        """Whether a store of the loop may write to elements that the loads of the loop read."""
        distances, array = self.plan.distances, self._node(load.expr.value.name)
        stores = [op for op in self.ops if isinstance(op, Store)]
        return any(
            self.e.active((op.statement.target.name, ()))
            and self._node(op.statement.target.name) == array
            and not distances.is_elsewhere(load, op, self.loop)
            for op in stores
        )

    def _node(self, name):
        return self.sweep.activity.node((name, ()))

    def _adds(self, op):
        """Whether the reverse of a load adds to an element by itself."""
        own = not op.updates and op not in self.e.hoisted and self.e.first_load(op) is None
        return own and self.e.active((op.target, ()))

    def _walks(self, op):
        """Whether each iteration reads the element that comes next in memory to that of the one before."""
        array, access = self.fn.type_of(op.expr.value), op.expr
        if not (type(array) is types.Array and array.dtype == types.float64):
            return False
        axes = index_variables(self.fn, access.index) if isinstance(access.index, ir.Var) else []
        if array.layout not in "CF" or len(axes) != array.ndim or not axes:
            return False
        last = axes.pop(-1 if array.layout == "C" else 0)
        return self._follows(last) and all(map(self._is_steady, axes))

    def _follows(self, x):
        """Whether an index is that of the loop, or differs from it by what is the same all along."""
        if not self.plan.is_natural(x):
            return False
        while x.name not in self.plan.indices:
            value = self.fn.definition(x)
            if isinstance(value, ir.Var):
                x = value
            elif is_expr(value, "binop") and value.fn in (operator.add, operator.sub):
                if not self._is_steady(value.rhs):
                    return False
                x = value.lhs
            else:
                return False
        loop, _, step = self.plan.indices[x.name]
        return loop is self.loop and (step is None or self.fn.constant(step) == 1)

    def _is_steady(self, x):
        """Whether an index is the same in every iteration."""
        value = self.fn.definition(x)
        if self.plan.place_of(x.name) not in self.loop.body or isinstance(value, ir.Const):
            return True
        if isinstance(value, ir.Var):
            return self._is_steady(value)
        known = is_expr(value, "binop") and value.fn in (operator.add, operator.sub, operator.mul)
        return known and all(map(self._is_steady, (value.lhs, value.rhs)))


class Stencil(LoopStrategy):
    """One loop; the reverse of its iterations runs in blocks of `LENGTH`."""

    reverses_header = True

    @classmethod
    def find(cls, sweep, taken):
        return cls._found(sweep, taken) if sweep.options.gathers else {}

    @classmethod
    def shown(cls, sweep):
        return cls._found(sweep, {h for h in sweep.control.loops if sweep.strategies(h)})

    @classmethod
    def _found(cls, sweep, taken):
        if sweep.e.dual is not None or not STENCILS.is_on():
            return {}
        asked = [header for header in sweep.counted if header not in taken]
        found = {header: _Search(sweep, header).loads() for header in asked}
        return {header: cls(sweep, header, loads) for header, loads in found.items() if loads}

    def __init__(self, sweep, header, loads):
        self.sweep, self.e, self.header = sweep, sweep.e, header
        self.loop = sweep.control.loops[header]
        self.rows = {op: k for k, op in enumerate(loads)}
        self.inner = sweep.new_label()  # of what begins an iteration within a block

    def _var(self, name):
        return self.e.var(f"${name}{self.header}")

    def put(self, op, shadow, index, term):
        """Put a term down; keep the address of the element."""
        e = self.e
        made = e.call(put(self.rows[op]), e.var(ROWS), self._var("turn"), shadow, index, term)
        e.assign(made, e.var(f"$at{op.number}"))

    def settle(self):
        """Have the loads put their terms down, and the sums of the loop in any order."""
        self.e.staged.update(dict.fromkeys(self.rows, self))
        self.e.gathered.update(dict.fromkeys(self.loop.body, self.loop.body))

    def begin(self):
        """Make room for the rows of all such loops, once."""
        e, found = self.e, [*self.sweep.found(Stencil).values()]
        if self is found[0]:
            e.assign(e.call(room(max(len(s.rows) for s in found))), e.var(ROWS))

    def reverse_header(self):
        """What the loop's header is in reverse: the blocks, and the iterations in each of them."""
        e, sweep, label = self.e, self.sweep, self.header
        count, stop = e.var(counter(label)), self._var("stop")
        block, again, done = (sweep.new_label() for _ in range(3))
        before = sweep.before(label)
        e.append(ir.Branch(e.binop(operator.gt, count, e.const(0)), block, before, e.loc))
        e.start(sweep.block_at(block), label)
        length = e.call(block_length, count)
        e.assign(length, self._var("length"))
        e.binop(operator.sub, count, length, stop)
        e.append(ir.Jump(self.inner, e.loc))
        e.start(sweep.block_at(self.inner), label)
        e.append(ir.Branch(e.binop(operator.gt, count, stop), again, done, e.loc))
        e.start(sweep.block_at(again), label)
        e.binop(operator.sub, count, e.const(1), count)
        e.binop(operator.sub, count, stop, self._var("turn"))
        self._reverse_edge_back()
        e.start(sweep.block_at(done), label)
        for op, row in self.rows.items():
            e.call(add_row(row), e.var(ROWS), e.var(f"$at{op.number}"), self._var("length"))
        e.append(ir.Jump(sweep.reverse_labels[label], e.loc))
        e.start(sweep.block_at(before), label)

    def reverse_label(self, source, target):
        """Within the loop, one iteration follows another by way of `inner`."""
        return self.inner if target in self.loop.body else None

    def remark(self):
        return f"what it adds to neighbours is added {LENGTH} iterations at a time"

    def _reverse_edge_back(self):
        e, sweep = self.e, self.sweep
        block, (latch,) = e.block, self.loop.latches
        block.append(ir.Jump(sweep.reverse_edge(latch, self.header), e.loc))


@cache
def room(rows):
    """An intrinsic that gives memory for so many rows of terms, on the machine stack."""

    @intrinsic
    def make_room(typingctx):
        def codegen(context, builder, sig, args):
            size = ll.IntType(32)(rows * LENGTH)
            first = cgutils.alloca_once(builder, _REAL, size=size)
            return builder.bitcast(first, cgutils.voidptr_t)

        return types.voidptr(), codegen

    return make_room


@intrinsic
def block_length(typingctx, count):
    """How many of `count` iterations the next block has."""

    def codegen(context, builder, sig, args):
        most = args[0].type(LENGTH)
        return builder.select(builder.icmp_signed("<", args[0], most), args[0], most)

    return types.intp(types.intp), codegen


@cache
def put(row):
    """An intrinsic that puts a term in its row, and gives the address of the element it belongs to."""

    @intrinsic
    def put_term(typingctx, rows, turn, array, index, term):
        def codegen(context, builder, sig, args):
            _, at, array_value, index_value, value = args
            value = context.cast(builder, value, sig.args[4], types.float64)
            mark(builder, builder.store(value, _place(builder, args[0], row, at)), TERMS)
            pointer = element_pointer(context, builder, array, array_value, index, index_value)
            return builder.bitcast(pointer, cgutils.voidptr_t)

        return types.voidptr(rows, turn, array, index, term), codegen

    return put_term


@cache
def add_row(row):
    """An intrinsic that adds a row of terms to the elements from an address on."""

    @intrinsic
    def add_terms(typingctx, rows, at, length):
        def codegen(context, builder, sig, args):
            given, first, length = args
            terms = _place(builder, given, row, length.type(0))
            first = builder.bitcast(first, _REAL.as_pointer())
            builder.call(_addition(builder.module, length.type), [terms, first, length])
            return context.get_dummy_value()

        return types.void(rows, at, length), codegen

    return add_terms


def _addition(module, intp):
    """The function `(terms, first, length)` of a module that adds terms to elements."""
    name = "numbad.add_terms"
    if name in module.globals:
        return module.globals[name]
    signature = ll.FunctionType(ll.VoidType(), [_REAL.as_pointer(), _REAL.as_pointer(), intp])
    function = ll.Function(module, signature, name)
    function.linkage = "internal"  # so LLVM sees that it keeps no pointer to the rows
    function.attributes.add("noinline")  # it is compiled once, and not much slower
    builder = ll.IRBuilder(function.append_basic_block())
    *arrays, length = function.args
    whole = builder.and_(length, intp(-LANES))
    with cgutils.for_range_slice(builder, intp(0), whole, intp(LANES), intp=intp) as (k, _):
        _add_at(builder, arrays, k, _LANES)
    for rest in range(LANES - 1):  # not a loop, of which LLVM would make another one for vectors
        k = builder.add(whole, intp(rest))
        with builder.if_then(builder.icmp_signed("<", k, length)):
            _add_at(builder, arrays, k, _REAL)
    builder.ret_void()
    return function


def _add_at(builder, arrays, k, ty):
    """Add a term, or a vector of them."""
    term, to = (builder.bitcast(builder.gep(a, [k]), ty.as_pointer()) for a in arrays)
    total = builder.fadd(*(builder.load(p, align=8) for p in (to, term)))
    builder.store(total, to, align=8)


def _place(builder, rows, row, at):
    """The address of a term."""
    first = builder.bitcast(rows, _REAL.as_pointer())
    return builder.gep(first, [builder.add(at, at.type(row * LENGTH))])
