"""Loops that carry what one of their iterations has chosen: the smallest distance, the last hit.

The adjoint of what is carried goes to the iteration that chose last, and to no other one. So that
iteration alone is reversed, and of the others nothing is kept.
"""

import operator

from numba.core import ir, types

from ...ir.leaves import at
from ..names import TAPE, TOP, choice, counter, last
from ..ops.moves import Copy, Phi
from ..ops.recursive import Recursive
from ..ops.structural_functions import Extremum, first_equal
from ..switches import Switch
from ..value_tape import top_at, top_offset
from .loop_strategy import LoopStrategy

SELECTED = Switch(
    "selected",
    "of a loop that carries what one iteration has chosen, that iteration alone is reversed",
)

NONE = -1  # the number of the iteration that chose last, where none did


class _SelectionSearch:
    """Whether an iteration either keeps what the loop carries or replaces it by what it does not depend on.

    `best = d[i] if d[i] < best else best` does; `best = 0.9 * best + d[i]` does not.

    `ways` are, of each merge on the way to the next iteration, what it takes from each predecessor: True
    for something new, False for what was carried, or the merge that it comes from. `last` is the same of
    the latches. `extremum` is the `min` or `max` that makes it, if one does.
    """

    def __init__(self, sweep, loop):
        self.sweep, self.loop, self.control = sweep, loop, sweep.control
        self.active, self.ops = sweep.activity.active, sweep.plan.ops
        self.ways, self.last, self.extremum = {}, {}, None

    def succeeds(self):
        loop, control = self.loop, self.control
        phis = [op for op in self._ops_at(loop.header) if isinstance(op, Phi)]
        self.phis = [op for op in phis if any(map(self._is_active, op.flows + op.aliases))]
        self.carried = {op.target for op in self.phis}
        if not self.phis or len(loop.entries) != 1 or not control.is_left_at_start(loop):
            return False
        if not all(self._is_number(op) for op in self.phis) or self._does_more():
            return False
        return self._tells_ways() and not self._uses_carried()

    def _ops_at(self, label):
        return self.sweep.activity.ops[label]

    def _is_active(self, flow):
        return self.active(flow[1])

    def _is_number(self, op):
        leaf = at(self.sweep.fn.type_of(op.target), ())
        return leaf is not None and leaf.kind == "scalar"  # a tuple is no leaf

    def _does_more(self):
        """Whether an iteration writes to arrays, or its beginning, which runs once more, does anything."""
        body = [op for label in self.loop.body for op in self._ops_at(label)]
        start = [op for label in self.control.beginning(self.loop) for op in self._ops_at(label)]
        return any(self.active(h) for op in body for h in op.stores) or any(
            self._is_active(flow) for op in start if op not in self.phis for flow in op.flows
        )

    # -- what becomes of what is carried --------------------------------------------------------

    def _tells_ways(self):
        """Find `ways` and `last`, the same ones for all that is carried."""
        for phi in self.phis:
            for latch in self.loop.latches:
                came = self._came(phi.incoming[latch].name, phi.target)
                if self.last.setdefault(latch, came) != came or came is None:
                    return False
        return any(came is not False for came in self.last.values())

    def _came(self, name, carried):
        """Whether a value is new: True, False, the label of a merge, "extremum"; None if not known."""
        op = self.ops.get(name)
        while isinstance(op, Copy) and op.flows and op.label in self.loop.body:
            name = op.flows[0][0][0]
            op = self.ops.get(name)
        if name in self.carried:
            return False if name == carried else None
        if isinstance(op, Phi) and op.label in self.loop.body:
            return self._merged(op, carried)
        if isinstance(op, Extremum) and self._takes(op, carried):
            self.extremum = op
            return "extremum"
        return True

    def _merged(self, op, carried):
        """The same for a merge, which is asked in turn."""
        if self.control.innermost(op.label) is not self.loop:
            return True
        came = {way: self._came(v.name, carried) for way, v in op.incoming.items()}
        known = None not in came.values() and "extremum" not in came.values()
        return op.label if known and self.ways.setdefault(op.label, came) == came else None

    def _takes(self, op, carried):
        """Whether what is carried is one of two that the smaller or greater one is taken of."""
        names = [v.name for v in op.arguments]
        alone = len(self.phis) == 1 and len(names) == 2 and names.count(carried) == 1
        return alone and self.control.innermost(op.label) is self.loop

    def _uses_carried(self):
        """Whether anything but the choice depends on what is carried."""
        return any(
            source[0] in self.carried and self.active(target) and not self._is_choice(op)
            for label in self.loop.body
            for op in self._ops_at(label)
            for source, target in op.flows + op.aliases
        )

    def _is_choice(self, op):
        if op is self.extremum or op in self.phis:
            return True
        return isinstance(op, Phi) and op.label in self.ways


def _is_plain(ty):
    members = ty if isinstance(ty, types.BaseTuple) else [ty]
    return all(isinstance(t, types.Number | types.Boolean) for t in members)


class Selected(LoopStrategy):
    """One such loop: what to emit at its edges, forward and back."""

    when = LoopStrategy.BEFORE
    reverses_header = ends_iterations = True

    @classmethod
    def find(cls, sweep, taken):
        if not SELECTED.is_on() or sweep.control.root is not None:
            return {}
        control = sweep.control
        asked = [
            _SelectionSearch(sweep, loop)
            for header, loop in control.loops.items()
            if header in control.returning and header not in sweep.unselected
        ]
        return {s.loop.header: cls(sweep, s) for s in asked if s.succeeds()}

    def __init__(self, sweep, found):
        self.sweep, self.e, self.loop = sweep, sweep.e, found.loop
        self.ways, self.last, self.extremum = found.ways, found.last, found.extremum
        self.carried = [op.target for op in found.phis]
        if self.extremum is not None:
            (carried,) = self.carried
            self.place = [v.name for v in self.extremum.arguments].index(carried)

    def _var(self, name):
        return self.e.var(f"${name}{self.loop.header}")

    def only_way(self, label):
        """The way by which a merge was come to in the iteration that is reversed, if there is one.

        None where the iteration may have chosen elsewhere, and come to this merge by any way.
        """
        came = self.ways[label]
        new = [way for way, kind in came.items() if kind is not False]
        return new[0] if len(new) == 1 and set(self.last.values()) <= {label, False} else None

    # -- what is kept ------------------------------------------------------------------------

    def is_plain(self):
        """Whether the iteration's reverse needs numbers, and tuples of them, that variables can keep."""
        plan, types_of = self.sweep.plan, self.sweep.fn.types
        frame = plan.frames.get(self.loop.header, ())
        known = [types_of.get(name, types.intp) for name in frame if isinstance(name, str)]
        plain = all(map(_is_plain, known)) and not any(name in plan.extras for name in frame)
        return plain and len(known) == len(frame)

    def keep(self):
        """Have the loop round this one keep the number of the iteration."""
        self._keep(last(self.loop.header))

    def _keep(self, name):
        self.sweep.keep_aux(self.loop.parent, name, self.loop.header)

    def kept(self, k):
        """The name of the variable in which value number `k` of the frame is kept."""
        return f"$kept{k}.{self.loop.header}"

    def keep_rest(self):
        """The same for what the iteration's reverse needs, now that this is known."""
        plan, body = self.sweep.plan, self.loop.body
        self.frame = list(dict.fromkeys(plan.frames.get(self.loop.header, ())))
        inner = [h for h in self.sweep.control.loops if h in body and h != self.loop.header]
        ops = [op for label in body for op in self.sweep.activity.ops[label]]
        self.records = any(plan.frames.get(h) for h in inner) or any(
            isinstance(op, Recursive) for op in ops
        )
        for k in range(len(self.frame)):
            self._keep(self.kept(k))
        if self.records:
            self._keep(self._var("base").name)

    # -- forward -----------------------------------------------------------------------------

    @property
    def told(self):
        """Where it is told whether something new is chosen: labels of merges, or "extremum"."""
        return [*self.ways] if self.extremum is None else ["extremum"]

    def new(self, label):
        """The name of the variable that tells it there."""
        return f"$new{label}.{self.loop.header}"

    def _new(self, label):
        return self.e.var(self.new(label))

    def enter(self):
        """On the edge into the loop."""
        e = self.e
        e.assign(e.const(NONE), e.var(last(self.loop.header)))
        if self.records:
            for name in ("base", "mark"):
                e.assign(e.call(top_offset, e.var(TAPE), e.var(TOP)), self._var(name))

    def merge(self, source, target):
        """On an edge to a merge: whether what comes is new."""
        self.e.assign(self._told(self.ways[target][source]), self._new(target))

    def _told(self, came):
        """A variable that says it."""
        return self.e.const(came) if isinstance(came, bool) else self._new(came)

    def compare(self):
        """After the `min` or `max`."""
        e, op = self.e, self.extremum
        which = e.call(first_equal(2), e.var(op.target), e.tuple(op.arguments))
        e.binop(operator.ne, which, e.const(self.place), self._new("extremum"))

    def end_iteration(self, source):
        """On a back edge: keep what is needed of an iteration that chose, and of no other one."""
        e, sweep = self.e, self.sweep
        there, other, after = (sweep.new_label() for _ in range(3))
        e.append(ir.Branch(self._told(self.last[source]), there, other, e.loc))
        e.start(sweep.block_at(there))
        e.assign(e.var(counter(self.loop.header)), e.var(last(self.loop.header)))
        for k, name in enumerate(self.frame):
            e.assign(e.var(name), e.var(self.kept(k)))
        if self.records:
            e.assign(e.call(top_offset, e.var(TAPE), e.var(TOP)), self._var("mark"))
        e.append(ir.Jump(after, e.loc))
        e.start(sweep.block_at(other))
        if self.records:
            e.assign(e.call(top_at, e.var(TAPE), self._var("mark")), e.var(TOP))
        e.append(ir.Jump(after, e.loc))
        e.start(sweep.block_at(after))

    # -- backward ----------------------------------------------------------------------------

    def reverse_header(self):
        """Go to the iteration that chose, once, and then on to what came before the loop."""
        e, sweep, header = self.e, self.sweep, self.loop.header
        number = e.var(last(header))
        some, block = e.binop(operator.ge, number, e.const(0)), e.block
        once, before = sweep.new_label(), sweep.before(header)
        past = sweep.new_label() if self.records else before
        block.append(ir.Branch(some, once, past, e.loc))
        e.start(sweep.block_at(once), header)
        e.assign(number, e.var(counter(header)))
        e.assign(e.const(NONE), number)
        for k, name in enumerate(self.frame):
            e.assign(e.var(self.kept(k)), e.var(name))
        self._to_latch()
        if self.records:
            e.start(sweep.block_at(past), header)
            e.assign(e.call(top_at, e.var(TAPE), self._var("base")), e.var(TOP))
            e.append(ir.Jump(before, e.loc))
        e.start(sweep.block_at(before), header)

    def _to_latch(self):
        header, latches = self.loop.header, self.loop.latches
        self.sweep.dispatch(choice(header), latches, header)

    # -- in the listing ----------------------------------------------------------------------

    def texts(self, listing, loop):
        carried = listing.listed(self.carried)
        why = f"{carried} is what one iteration chose: the last one that did is reversed"
        return "once", f"last{listing.at_line(loop.header)}", why
