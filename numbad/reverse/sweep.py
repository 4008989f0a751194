"""The forward and the reverse sweep, as the blocks of one function.

The forward sweep is the primal with phis made into assignments on the edges; every edge that ends an
iteration of a loop, back edges and exits alike, records the loop's frame. The reverse sweep visits
the blocks and edges backwards; an edge that recorded a frame reloads it into the same names.
"""

import operator
from collections import defaultdict

from numba.core import ir, types

from ..ir.fence import located, refuse
from ..ir.function import is_phi
from ..ir.leaves import HANDLES, at
from .boundary import Boundary
from .cotangents import Lanes
from .dropped import find_dropped, find_left_out, find_undecided
from .emitter import SweepEmitter
from .escape import Escape
from .guards import Guards
from .loops.loop_strategies import find_apart, find_whole
from .loops.loop_strategy import LoopStrategy
from .names import choice, counter, shadow_name
from .ops.array import Load
from .ops.moves import Move, Phi
from .options import Options
from .passed_by import find_passed_by
from .plan import Plan
from .recording import Recording
from .switches import Switch
from .unchanged import INVARIANTS
from .updates import UPDATES, mark_updates
from .zero_test import is_nothing

CONDITIONS = Switch(
    "conditions",
    "the way through a branch follows from its condition, where that is at hand",
)


class Sweep(Recording, Boundary):
    """Builds the blocks; `wrt` are the numbers of the differentiated parameters."""

    def __init__(self, fn, activity, control, wrt, scope, dual=None, pair=None, options=None):
        self.fn, self.activity, self.control, self.wrt = fn, activity, control, wrt
        self.plan = Plan(fn, activity, control)
        self.e = SweepEmitter(fn, activity, self.plan, scope, dual, pair)
        self.scope = scope
        self.blocks = {}
        self._next = 1
        self.live = [label for label in control.order if label in control.returning]
        self.exit = _exit(fn)
        self.e.dropped = find_dropped(fn, activity, control)
        self.e.left_out = find_left_out(fn, activity) | find_passed_by(fn, activity, control)
        self.e.undecided = find_undecided(activity, control)
        self.e.local_leaves = self._local_leaves()
        if UPDATES.is_on():
            mark_updates(fn, activity)
        self.iterations = {}  # header -> the `Region` of a loop whose iterations are reversed one by one
        self._before = {}
        self.regions = {}  # label -> the same, for each block of such a loop
        self.e.repeated = {label for label in fn.blocks if not control.outside(label)}
        self.options = options or Options()
        self.unselected = set()  # headers of loops that a `Selected` cannot stand for
        self._find_references(self.options.stack)
        self.guards = Guards(self)
        self._plan()
        self.forward_labels = {label: self.new_label() for label in control.order}
        self.reverse_labels = {label: self.new_label() for label in reversed(self.live)}

    def new_label(self):
        self._next += 1
        return self._next

    def block_at(self, label):
        block = self.blocks[label] = ir.Block(self.scope, self.e.loc)
        return block

    def _local_leaves(self):
        """Scalar leaves whose uses are all in the block that defines them."""
        place, elsewhere = {}, set()
        for label, ops in self.activity.ops.items():
            for op in ops:
                for source, target in op.flows:
                    place.setdefault(target, label)
                    if isinstance(op, Phi):
                        elsewhere |= {source, target}
        for label, ops in self.activity.ops.items():
            for op in ops:
                for source, _ in op.flows:
                    if place.get(source) != label:
                        elsewhere.add(source)
        elsewhere |= set(self.activity.returned) | set(self.activity.inputs)
        return {leaf for leaf in place if leaf not in elsewhere and not self._handle(leaf)}

    def _find_references(self, stack):
        """Arrays that the caller may hold afterwards, and small new ones that it does not."""
        only_shapes = isinstance(self.e.dual, Lanes) and self.e.dual.shapes
        kept = [] if only_shapes else self.activity.returned
        self.escape = Escape(self.fn, self.activity, self.control, kept)
        if stack:
            self.e.on_stack = self.escape.stack_arrays()

    def _handle(self, leaf):
        found = at(self.fn.type_of(leaf[0]), leaf[1])
        return found is None or found.kind in HANDLES

    def _plan(self):
        """A trial run of the reverse sweep's blocks tells what values it needs."""
        self._find_hoisted()
        self._find_selected()
        self.e.planning = True
        for label in self.live:
            self.e.start(ir.Block(self.scope, self.e.loc), label)
            self._reverse_statements(label)
            if label in self.control.loops:
                self._reverse_hoisted(label)
        for label in self.live:
            self._need_condition(label)
        self.e.planning = False
        self.plan.decide(dict.fromkeys(self.e.needs))
        for found in self.selected.values():
            found.keep()
        if not self.iterations and self._find_regions():
            self._plan_again()
            return
        self._find_choices()
        self._found |= find_whole(self, LoopStrategy.AFTER)
        if not self._keep_selected():
            self._plan_again()
            return
        self.tables = self._find_tables()
        for found in self.every_strategy():
            found.settle()

    def _plan_again(self):
        naturals = self.plan.naturals  # of the loops that are no loops any more, too
        self.plan = self.e.plan = Plan(self.fn, self.activity, self.control)
        self.plan.naturals = naturals
        for part in self.parts():
            part.tell(self.plan.unchanged)
        self.e.needs = []
        self._plan()

    def _find_selected(self):
        """Loops of which one iteration is reversed."""
        self._found = find_whole(self, LoopStrategy.BEFORE)
        self.selected = {h: s for found in self._found.values() for h, s in found.items()}
        found = self.selected.values()
        self.choosing = {s.extremum: s for s in found if s.extremum is not None}
        self.merging = {label: s for s in found for label in s.ways}
        self.e.meant = {op: op.arguments[1 - s.place] for op, s in self.choosing.items()}

    def _keep_selected(self):
        """Whether the reverse of each such iteration asks for no more than can be kept; keep it."""
        wrong = {header for header, found in self.selected.items() if not found.is_plain()}
        self.unselected |= wrong
        for found in self.selected.values():  # the inner loops come first
            found.keep_rest()
        return not wrong

    def _find_hoisted(self):
        """Loads that are the same in every iteration: their adjoints go to the array after the loop."""
        self.hoisted = defaultdict(list)  # header -> loads, the last one first
        if not INVARIANTS.is_on() or isinstance(self.e.dual, Lanes):
            return
        for op in reversed([*self.activity.every()]):
            loop = isinstance(op, Load) and self.plan.unchanged.outermost_loop(op.target)
            if loop and self.activity.active((op.target, ())):
                self.hoisted[loop.header].append(op)
        self.e.hoisted = {op for ops in self.hoisted.values() for op in ops}
        self.e.local_leaves -= {(op.target, ()) for op in self.e.hoisted}

    def _reverse_hoisted(self, header):
        """Add to the arrays, unless the loads may not have been made, as they have no index then."""
        e = self.e
        for op in self.hoisted[header]:
            e.loc = op.loc
            there, after = self.new_label(), self.new_label()
            none = is_nothing(e, e.bar((op.target, ())))
            e.append(ir.Branch(none, after, there, e.loc))
            e.start(self._at(there), header)
            with located(op.loc):
                op.reverse(e)
            e.append(ir.Jump(after, e.loc))
            e.start(self._at(after), header)

    def _at(self, label):
        return ir.Block(self.scope, self.e.loc) if self.e.planning else self.block_at(label)

    def _need_condition(self, label):
        """Where a condition tells by which way a block was entered, the way is not recorded."""
        if self.only_way(label) is not None:
            return
        condition = self.control.condition(label) if label not in self.control.loops else None
        if condition is not None and CONDITIONS.is_on():
            self.plan.conditions[label] = condition
            self.e.needs.append((label, condition[0].name))

    def only_way(self, label):
        """The way by which a merge is always come to where it is reversed, or None."""
        return self.merging[label].only_way(label) if label in self.merging else None

    def found(self, strategy):
        """The loops that a strategy reverses, of those that are loops still: header -> its object."""
        return self._found[strategy]

    def every_strategy(self):
        """The objects of all strategies for these loops."""
        return [one for found in self._found.values() for one in found.values()]

    def strategies(self, header):
        """Those for one loop."""
        return [found[header] for found in self._found.values() if header in found]

    def stages(self):
        """What is known of the function, for a search among its loops."""
        return self.fn, self.activity, self.control, self.plan

    def _find_regions(self):
        """Whether there are loops whose iterations are reversed one by one."""
        self.iterations = find_apart(self)
        for part in self.parts():
            for loop in part.loops:
                self.control.dissolve(loop)
            self.regions.update(dict.fromkeys(part.loop.body, part))
            self.live = [label for label in self.live if not part.passes_by(label)]
        return bool(self.iterations)

    def parts(self):
        """The regions of loops whose iterations are reversed one by one."""
        return list(dict.fromkeys(self.iterations.values()))

    def _region(self, source, target):
        """The iterations that an edge lies in, or None."""
        part = self.regions.get(source)
        return part if part is self.regions.get(target) else None

    def build(self):
        """The blocks of the whole function."""
        for label in self.control.order:
            self.forward_block(label)
        for part in self.parts():
            part.run_again()
        self._seed()
        for label in reversed(self.live):
            self._reverse_block(label)
        for part in self.parts():
            part.pull_back()
            part.enter()
        self._entry()
        return self.blocks

    def forward_block(self, label):
        e = self.e
        block = self.block_at(self.forward_labels[label])
        e.start(block)
        with e.within(self.regions.get(label)):
            self._forward_statements(label)
        terminator = self.fn.blocks[label].terminator
        e.loc = terminator.loc
        if isinstance(terminator, ir.Return):
            self.result = terminator.value
            self.seed_label = self.new_label()
            block.append(ir.Jump(self.seed_label, e.loc))
        elif isinstance(terminator, ir.Jump):
            block.append(ir.Jump(self._forward_edge(label, terminator.target), e.loc))
        elif isinstance(terminator, ir.Branch):
            there = [self._forward_edge(label, t) for t in (terminator.truebr, terminator.falsebr)]
            block.append(ir.Branch(terminator.cond, *there, e.loc))
        else:
            block.append(terminator)

    def _forward_statements(self, label):
        e = self.e
        for op in self.activity.ops[label]:
            s = op.statement
            if is_phi(s) or s.is_terminator:
                continue
            e.loc = s.loc
            with located(s.loc):
                if e.region is None or not e.region.replaying:
                    self.guards.check(op)
                if e.region is None or not e.region.leaves_out(op):
                    op.forward(e)
                if op in self.choosing:
                    self.choosing[op].compare()
                if not e.is_silent():
                    op.shadows(e)

    def _forward_edge(self, source, target):
        """The block that does what an edge does: frames, counters, choices, phis; its label."""
        e, control = self.e, self.control
        part, region = self.iterations.get(target), self._region(source, target)
        past = None if region is None else region.way_past(source, target)
        if past is not None:
            return self._forward_edge(*past)
        label = self.new_label()
        outer = e.block
        e.start(self.block_at(label))
        with e.within(region):
            if region is None or not region.replaying:
                self.guards.enter(source, target)
            if target in control.returning and (region is None or not region.is_silent()):
                self._record_edge(source, target)
            if region is not None and region.is_silent() and region.begins(source, target):
                region.keep_state()
            if part is not None and part.ends_iteration(source, target):
                part.next_iteration(source)
            else:
                self.assign_phis(source, target)
                entered = part is not None and source not in part.loop.body
                there = part.entered if entered else self.forward_labels[target]
                e.append(ir.Jump(there, e.loc))
        e.block = outer
        return label

    def assign_phis(self, source, target):
        """A parallel copy: through temporaries where a target is another's source."""
        pairs = []
        for op in self.activity.ops[target]:
            if isinstance(op, Phi) and source in op.incoming:
                pairs += self._phi_pairs(op, op.incoming[source])
        e = self.e
        targets = {t.name for t, _ in pairs}
        if any(s.name in targets and s.name != t.name for t, s in pairs):
            pairs = [(t, e.assign(s)) for t, s in pairs]
        for t, s in pairs:
            if t.name != s.name:
                e.assign(s, t)

    def _phi_pairs(self, op, var):
        e = self.e
        pairs = [(e.var(op.target), self._converted(op, var))]
        for source, target in op.aliases:
            there = source[0] == var.name and not self._is_none(source)
            if there and self.activity.active(target):
                pairs.append((e.var(shadow_name(target)), e.shadow(source)))
        return pairs

    def _is_none(self, leaf):
        """Whether None stands there: `return a, None` becomes a tuple whose second member may be an array."""
        return isinstance(self.plan.ops.get(self.plan.origin(leaf)[0]), Move)

    def _converted(self, op, var):
        """A source of a phi, of the phi's type before inference takes it for another.

        Of `s = 0; for v in a: s += v` it would take `Pair(s, y)` to hold an integer at first, and
        named tuples of an integer and of a float have no common type.
        """
        given, taken = (types.unliteral(self.fn.type_of(v)) for v in (var, op.target))
        source = self.e.var(var.name)
        if isinstance(given, types.Integer) and isinstance(taken, types.Float):
            return self.e.call(float, source)
        if isinstance(given, types.Integer | types.Float) and isinstance(taken, types.Complex):
            return self.e.call(complex, source)
        return source

    def _reverse_statements(self, label):
        e = self.e
        for op in reversed(self.activity.ops[label]):
            if not isinstance(op, Phi) and op not in e.hoisted:
                e.loc = op.statement.loc
                with located(e.loc):
                    op.reverse(e)

    def _reverse_block(self, label):
        e = self.e
        e.start(self.block_at(self.reverse_labels[label]), label)
        with e.within(self.regions.get(label)):
            self._reverse_statements(label)
            self._reverse_ways(label)

    def _reverse_ways(self, label):
        """Go on to what came before a block."""
        e, control = self.e, self.control
        e.loc = self.fn.blocks[label].loc
        ways = [p for p in control.predecessors[label] if p in control.returning]
        loop = control.loops.get(label)
        if label in self.iterations:
            self.iterations[label].finish_iteration()
        elif loop is not None:
            self._reverse_header(label, loop)
        elif not control.predecessors[label]:
            self._finish()
        elif len(ways) == 1 or self.only_way(label) is not None:
            way = ways[0] if len(ways) == 1 else self.only_way(label)
            e.append(ir.Jump(self.reverse_edge(way, label), e.loc))
        elif label in self.plan.conditions:
            cond, true = self.plan.conditions[label]
            taken, block = e.value(cond), e.block
            edges = [self.reverse_edge(ways[k], label) for k in (true, 1 - true)]
            block.append(ir.Branch(taken, *edges, e.loc))
        else:
            self.dispatch(choice(label), control.predecessors[label], label)

    def _reverse_header(self, label, loop):
        own = next((s for s in self.strategies(label) if s.reverses_header), None)
        if own is None:
            self._reverse_iterations(label, loop)
        else:
            own.reverse_header()
        self._reverse_hoisted(label)
        self.leave_backwards(label, loop)

    def _reverse_iterations(self, label, loop):
        e = self.e
        more = e.binop(operator.gt, e.var(counter(label)), e.const(0))
        block = e.block
        again, before = self.new_label(), self.before(label)
        block.append(ir.Branch(more, again, before, e.loc))
        e.start(self.block_at(again), label)
        count = e.var(counter(label))
        e.binop(operator.sub, count, e.const(1), count)
        self._pop(loop)
        self.dispatch(choice(label), loop.latches, label)
        e.start(self.block_at(before), label)

    def before(self, header):
        """The block of the reverse sweep that comes after that of a loop."""
        if header not in self._before:
            self._before[header] = self.new_label()
        return self._before[header]

    def leave_backwards(self, label, loop):
        """Go back by the edge by which a loop was entered."""
        if loop.entries:
            self.dispatch(f"{choice(label)}e", loop.entries, label)
        else:
            self._finish()

    def dispatch(self, name, ways, label):
        """Go back by the edge that was taken, whose number is in the variable `name`."""
        e = self.e
        for k, source in enumerate(ways[:-1]):
            taken = e.binop(operator.eq, e.var(name), e.const(k))
            block = e.block
            edge, others = self.reverse_edge(source, label), self.new_label()
            block.append(ir.Branch(taken, edge, others, e.loc))
            e.start(self.block_at(others), label)
        block = e.block
        block.append(ir.Jump(self.reverse_edge(ways[-1], label), e.loc))

    def reverse_edge(self, source, target):
        """The block that undoes an edge; its label."""
        e = self.e
        label, outer, known = self.new_label(), e.block, e.label
        e.start(self.block_at(label), target)
        with e.within(self._region(source, target)):
            self.reverse_phis(source, target)
        self.pop_left(source, target)
        self._count_left(source, target)
        part = self.regions.get(source)
        done = part is not None and target not in part.loop.body
        there = part.done if done else self._reverse_label(source, target)
        left = self.control.left(source, target)
        asking = [s for s in self.strategies(left[0].header) if s.asks] if len(left) == 1 else []
        if asking:
            asking[0].ask(there)
        else:
            e.append(ir.Jump(there, e.loc))
        e.block, e.label = outer, known
        return label

    def _reverse_label(self, source, target):
        """Where the reverse of a block begins, as it is come to from another one."""
        own = [s.reverse_label(source, target) for s in self.strategies(source)]
        return next((label for label in own if label is not None), self.reverse_labels[source])

    def reverse_phis(self, source, target):
        e = self.e
        taken, zeroed = [], set()
        for op in self.activity.ops[target]:
            if isinstance(op, Phi):
                for _, leaf in op.flows:
                    if leaf not in zeroed and self.activity.active(leaf):
                        zeroed.add(leaf)
                        taken.append((op, leaf, e.take(leaf)))
        for op, leaf, adjoint in taken:
            for incoming, to in op.from_block(source):
                if to == leaf and self.activity.active(incoming):
                    e.add(incoming, adjoint, of=leaf)


def _exit(fn):
    """The label of the block that returns."""
    for label, block in fn.blocks.items():
        if isinstance(block.terminator, ir.Return):
            return label
    raise refuse(f"{fn.name}, which never returns", fn.loc, "let it return a value")
