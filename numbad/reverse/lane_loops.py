"""Loops whose iterations meet in sums alone, `total += f(x[i], p)`: several iterations at a time, in lanes.

Or those that write what is theirs alone, `r[i] = f(x[i], p)`.

Within `nd.vector_math()`. Such a loop is taken out of its function (`ir/outline_iteration.py`), and what
runs it is as the batch of an iteration, in `batching`. A loop that cannot go in lanes stays where it is.
"""

import operator
from functools import partial

from numba.core import ir

from ..ir.function import is_expr, operands, read_by, unary_function
from ..ir.handlers import handled
from ..ir.hoisting import hoist_members
from ..ir.leaves import leaves
from ..ir.loops import Control, merge_headers
from ..ir.normalize import drop_unused, prune
from ..ir.outline_iteration import IterationOutline
from ..ir.tuple_items import take_items
from ..lanes.lane_functions import by_instructions, by_vectors
from ..lanes.uniform import find_varying
from ..lanes.vector_products import write_products
from .dropped import does_tell_nan
from .plan import Plan
from .scratch import Scratch

_POWERS = operator.pow, operator.ipow


def take_out_loops(fn, analyse, make, natural=()):
    """Have loops of a `Function` run in lanes where they can; how many of them do.

    `analyse(fn)` gives its activity; `make(iteration, wrt)` gives the dispatcher that runs a loop, None for
    one that has to stay. `natural` are the names of numbers that are known not to be negative.
    """
    if any(handled(fn, label) for label in fn.blocks):
        return 0
    fn.tells_nan = does_tell_nan(fn)
    merge_headers(fn)
    take_items(fn)
    hoist_members(fn)
    activity = analyse(fn)
    outermost = [loop for loop in Control(fn).loops.values() if loop.parent is None]
    found = [_Candidate(fn, activity, loop.header, natural).outline() for loop in outermost]
    # What is known of one is known of the code with all of them in place.
    found = [each for each in found if each is not None and each.can_be_taken_out()]
    taken = [each.take_out(partial(_made, make, wrt=_active(activity, each))) for each in found]
    prune(fn)
    drop_unused(fn)
    return sum(taken)


def _made(make, iteration, wrt):
    """What runs a loop, if that is worth while."""
    if write_products(iteration.function) or _is_worth_it(iteration):
        return make(iteration, wrt=wrt)
    return None


def _active(activity, found):
    """The numbers of the arguments of a loop that are differentiated; of sums, what they begin with tells."""
    given = found.given()[len(found.phis) :]
    starts = [found.incoming(phi, inside=False)[0][1] for phi in found.phis]
    return tuple(
        k + 2
        for k, var in enumerate([*starts, *given])
        if any(activity.active((var.name, leaf.path)) for leaf in leaves(found.fn.type_of(var)))
    )


def _is_worth_it(iteration):
    """Whether an iteration has a loop of its own, or calls `exp` and its like.

    Else the way into vectors and out of them, and the sum in its order, take longer than the arithmetic.
    So does what fetches rows by integers, element by element, for such a loop. Of what goes straight on and
    adds to no sum, LLVM itself makes vector code.
    """
    fn = iteration.function
    if not iteration.sums and not any(
        isinstance(block.terminator, ir.Branch) for block in fn.blocks.values()
    ):
        return False
    own = [name for name, row in zip(fn.parameters, iteration.rows, strict=False) if row]
    own += fn.parameters[len(iteration.rows) :]
    varying = find_varying(fn, own)
    picks = any(row and row.by and row.fixed is None for row in iteration.rows)
    inner = {label for loop in Control(fn).loops.values() for label in loop.body}
    for label, s in fn.statements():
        value = getattr(s, "value", None)
        if not is_expr(value, "call", "binop", "inplace_binop"):
            continue
        called = fn.constant(value.func) if value.op == "call" else unary_function(value)
        costly = by_vectors(called) and not by_instructions(called)
        if called in _POWERS and isinstance(fn.constant(value.rhs), int):
            costly = False
        if ((label in inner and not picks) or costly) and any(
            v.name in varying for v in operands(value)
        ):
            return True
    return False


class _Candidate:
    """An outermost loop, and what its iterations do to memory."""

    def __init__(self, fn, activity, header, natural):
        self.fn, self.activity, self.control = fn, activity, Control(fn)
        self.natural = natural
        self.loop = self.control.loops[header]
        self.plan = Plan(fn, activity, self.control)
        self.ops = [op for label in self.loop.body for op in activity.ops[label]]

    def outline(self):
        """The outline of the loop, None where its iterations write to what others may read."""
        if not self._find_written() or not self.control.is_left_at_start(self.loop):
            return None
        known = self.private, self.written, self._always, self._is_natural
        return IterationOutline(self.fn, self.loop, *known)

    def _find_written(self):
        """Find which arrays from outside they write to; whether each of them has one name in the loop.

        `private` has, by name, the statements that make those that each iteration fills first, `written` the
        names of the others.
        """
        self.private, self.written = {}, set()
        nodes = {self.activity.node(h) for op in self.ops for h in op.stores}
        for node in sorted(nodes, key=str):
            if all(self._is_inside(name) for name, _ in self.activity.members(node)):
                continue
            scratch = Scratch(self.fn, self.activity, self.control, self.plan, self.loop, node)
            own = scratch.is_private() and scratch.is_overwritten()
            if own and not self._is_used_afterwards(node):
                self.private[scratch.root.target] = scratch.root.statement
                continue
            names = self._names_of(node)
            if len(names) != 1:
                return False
            self.written |= names
        return True

    def _names_of(self, node):
        """The names that memory from outside has in the loop."""
        members = {name for name, _ in self.activity.members(node)}
        return {
            v.name
            for label in self.loop.body
            for s in self.fn.blocks[label].body
            for v in read_by(s)
            if v.name in members and not self._is_inside(v.name)
        }

    def _is_used_afterwards(self, node):
        """Whether anything after the loop reads memory, for its derivative or not: it finds nothing there."""
        names = {name for name, _ in self.activity.members(node)}
        after = self.control.reachable(self.loop.header) - self.loop.body
        return any(
            v.name in names
            for label in after
            for s in self.fn.blocks[label].body
            for v in read_by(s)
        )

    def _is_inside(self, name):
        return name not in self.fn.parameters and self.plan.place_of(name) in self.loop.body

    def _always(self, label):
        """Whether each iteration comes by a block, or by a loop that it is always run in."""
        for loop in self.control.around[label]:
            if not all(self.control.dominates(label, latch) for latch in loop.latches):
                return False
            if loop is self.loop:
                return True
            label = loop.header
        return False

    def _is_natural(self, var):
        start = self.fn.constant(var)
        known = var.name in self.natural or self.plan.is_natural(var)
        return start >= 0 if isinstance(start, int) else known
