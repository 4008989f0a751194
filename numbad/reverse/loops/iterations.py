"""Reverses the iterations of a loop one by one, each as soon as it is done.

The back edge of such a loop leads through the adjoint of the iteration before it comes to the header.
Where the adjoint of the sum is known before the loop, the iterations add to the adjoints themselves.
Otherwise they are reversed as if it were one, into variables and arrays of their own, and the
reverse sweep adds these, times the adjoint of the sum, where it comes to the loop.
"""

from numba.core import ir

from ...ir.leaves import HANDLES, at
from ..arena import arena_mark, arena_rewind
from ..contributions import STRONG_PRODUCT
from ..cotangents import Lanes
from ..independent import INDEPENDENT, independent_loops
from ..memory_helpers import add_scaled
from ..ops.moves import Phi
from ..switches import Switch
from .loop_strategy import LoopStrategy

SEEDED = Switch(
    "seeded",
    "the adjoint of a loop's sum is used at once, where it is known before the loop",
)

NEXT = "$next."


class Region(LoopStrategy):
    """A loop whose iterations are reversed one by one, each as a piece of code that runs once.

    A `Sweep` asks it what to emit where the loop is entered, at its back edges, and at its header.
    `loops` are those that are no loops any more: `loop`, and loops within it.
    """

    when = LoopStrategy.APART
    replaying = False
    outer, turns, again = (), (), {}  # what `Iterations` and `Replay` have of their own

    @property
    def header(self):
        return self.loop.header

    def ends_iteration(self, source, target):
        """Whether an edge to the header is a back edge."""
        return source in self.loop.body

    def passes_by(self, label):
        """Whether a block is left out of the reverse, as there is nothing in it to be reversed."""
        return False

    def is_alone(self):
        """Whether the iterations are reversed as if the adjoint of their result were one."""
        return False

    def mark(self, leaf):
        """What is put behind the name of an adjoint while an iteration is reversed."""
        return ""

    def is_silent(self):
        """Whether the forward sweep records nothing at present."""
        return False

    def leaves_out(self, op):
        """Whether a statement need not be made at present."""
        return False

    def way_past(self, source, target):
        """For an edge into a loop that is not run at present, the edge that leaves the loop; else None."""
        return None

    def tell(self, unchanged):
        """Add what is known of memory to an `Unchanged`."""

    def begins(self, source, target):
        """Whether something is to be kept on an edge."""
        return False

    def run_again(self):
        """Emit what runs in the reverse sweep."""

    def zero_variables(self):
        """Emit zeros at the start of the function."""

    def enter(self):
        """Emit what comes between the edges into the loop and its header."""


class Iterations(Region):
    """One loop; `sweep` is the `Sweep` that it is a part of, `found` the `Independent`.

    At the back edges of `turning` it goes back; `turning_sum` is the sum as that loop carries it.
    """

    @classmethod
    def find(cls, sweep, taken):
        loops = independent_loops(*sweep.stages()) if INDEPENDENT.is_on() else ()
        made = [cls(sweep, loop, is_seeded(sweep)) for loop in loops]
        # those by themselves add whole arrays to shadows in the end
        return {p.header: p for p in made if not (sweep.options.shared and p.is_alone())}

    def __init__(self, sweep, found, seeded):
        self.sweep, self.e = sweep, sweep.e
        self.loop, self.sum = found.loop, found.sum
        self.ops = found.ops
        self.loops, self.turning, self.turning_sum = [found.loop], found.loop, found.sum
        self.way = found.way_to_result() if seeded else None
        self.result_leaf = getattr(found, "result_leaf", None)
        self.entered, self.done = sweep.new_label(), sweep.new_label()
        self.outer = {}  # leaves from outside that adjoints are added to here
        self.turns = []  # the blocks that an iteration's adjoint begins with

    def is_alone(self):
        return self.way is None

    @property
    def allocates(self):
        """Whether an iteration may take memory for adjoints."""
        return not all(op.elementary for op in self.ops)

    # -- names -------------------------------------------------------------------------------

    def mark(self, leaf):
        """What is put behind the name of an adjoint while an iteration is reversed."""
        if leaf == self.sum and self.way is None:
            return self.own_mark
        if self.way is not None or self.sweep.plan.place_of(leaf[0]) in self.loop.body:
            return ""
        self.outer[leaf] = None
        return self.own_mark

    @property
    def own_mark(self):
        """What the names of adjoints end in that the iterations add to apart from the others."""
        return f"|{self.header}"

    def _is_handle(self, leaf):
        return at(self.sweep.fn.type_of(leaf[0]), leaf[1]).kind in HANDLES

    def _variables(self):
        return [leaf for leaf in self.outer if not self._is_handle(leaf)]

    def _arrays(self):
        return [leaf for leaf in self.outer if self._is_handle(leaf)]

    def zero_variables(self):
        """At the start of the function: adjoints of one iteration by what comes from outside."""
        e = self.e
        e.assign(e.zero(self.sum), e.bar(self.sum))
        with e.within(self):
            for leaf in self._variables():
                e.assign(e.zero(leaf), e.bar(leaf))

    # -- before the loop ---------------------------------------------------------------------

    def enter(self):
        """The block between the edges into the loop and its header; emitted last."""
        e = self.e
        e.start(self.sweep.block_at(self.entered))
        e.loc = self.sweep.fn.blocks[self.header].loc
        with e.within(self):
            for leaf in self._arrays():
                e.set_shadow(leaf, e.new_shadow_at(leaf))
        if self.allocates:
            e.assign(e.call(arena_mark, e.var("$tape")), e.var(self._mark_name()))
        if self.way is not None:
            self._find_seed()
        e.append(ir.Jump(self.sweep.forward_labels[self.header], e.loc))

    def _mark_name(self):
        return f"$arena{self.header}"

    def _seed(self):
        return self.e.var(seed_name(self.header))

    def _find_seed(self):
        """The adjoint of the sum, from that of the result through the statements between."""
        e, (name, path) = self.e, self.result_leaf
        seed = e.var("$seed")
        for k in path:
            seed = e.item(seed, k)
        with e.along([leaf for _, leaf in self.way] + [(name, path)]):
            e.add((name, path), seed)
            for op, _ in reversed(self.way):
                op.reverse(e)
            # Nothing has come of it where the sum is multiplied by a constant zero.
            adjoint = e.take(self.sum) if e.pending(self.sum) else e.zero(self.sum)
        e.assign(adjoint, self._seed())

    # -- at the end of an iteration ----------------------------------------------------------

    def next_iteration(self, source):
        """The rest of a back edge: what the header's phis become, then the way back from it."""
        e = self.e
        for phi, var in self._phis(source):
            e.assign(var, e.var(next_name(phi.target)))
        e.append(ir.Jump(self._edge_back(source), e.loc))

    def _phis(self, source):
        phis = [op for op in self._carried() if source in op.incoming]
        return [(op, self.e.var(op.incoming[source].name)) for op in phis]

    def _carried(self):
        return [op for op in self.sweep.activity.ops[self.turning.header] if isinstance(op, Phi)]

    def _edge_back(self, source):
        """The block that gives the sum its adjoint and begins to reverse the iteration."""
        e, sweep, header = self.e, self.sweep, self.turning.header
        label, outer = sweep.new_label(), e.block
        self.turns.append(label)
        with e.within(self):
            e.start(sweep.block_at(label), header)
            for phi in self._carried():
                self._give_adjoint(phi, source)
            sweep.pop_left(source, header)
        e.append(ir.Jump(sweep.reverse_labels[source], e.loc))
        e.start(outer)
        return label

    def _give_adjoint(self, phi, source):
        e = self.e
        for leaf, target in phi.from_block(source):
            if target == self.turning_sum:
                e.add(leaf, e.const(1.0) if self.way is None else self._seed())

    def finish_iteration(self):
        """In the header's reverse: the adjoint of the sum has come through; on to the next one."""
        e = self.e
        e.take(self.turning_sum)
        if self.allocates:
            e.call(arena_rewind, e.var("$tape"), e.var(self._mark_name()))
        for phi in self._carried():
            e.assign(e.var(next_name(phi.target)), e.var(phi.target))
        e.append(ir.Jump(self.sweep.forward_labels[self.turning.header], e.loc))

    # -- in the reverse sweep ----------------------------------------------------------------

    def pull_back(self):
        """Where the reverse sweep comes to the loop: add what the iterations came to."""
        e = self.e
        e.start(self.sweep.block_at(self.done), self.header)
        e.loc = self.sweep.fn.blocks[self.header].loc
        factor = e.bar(self.sum)
        for leaf in self._variables():
            with e.within(self):
                adjoint = e.bar(leaf)
            e.add(leaf, e.call(STRONG_PRODUCT, factor, e.tuple([adjoint])))
        for leaf in self._arrays():
            with e.within(self):
                adjoint = e.shadow(leaf)
            e.call(add_scaled, e.shadow(leaf), factor, adjoint)
        self.sweep.leave_backwards(self.header, self.loop)

    # -- in the listing ----------------------------------------------------------------------

    def texts(self, listing, loop):
        return "one by one", "", self._why(listing, loop)

    def _why(self, listing, loop):
        line, total = listing.at_line(self.header), listing.names.plain(self.sum[0])
        if loop is not self.loop:
            return f"its iterations are those of line {line[1:]}"
        said = f"the iterations meet only in the sum {total}, "
        if self.way is not None:
            return f"{said}whose adjoint is known before: seed{line}"
        names = [listing.names.plain(n) for n, _ in self.outer]
        bars = list(dict.fromkeys(f"{name}_bar{line}" for name in names))
        bars = ", ".join(bars[:3]) + (", ..." if len(bars) > 3 else "")
        return f"{said}whose adjoint is taken for 1; {bars} are multiplied by it afterwards"


def is_seeded(sweep):
    """Whether iterations may add to the adjoints themselves, where that of the sum is known."""
    return SEEDED.is_on() and not isinstance(sweep.e.dual, Lanes)


def seed_name(header):
    """The name of the adjoint of a loop's sum, where it is known before the loop."""
    return f"$seed{header}"


def next_name(name):
    """The name of the value that a phi of the loop's header has in the next iteration."""
    return f"{NEXT}{name}"
