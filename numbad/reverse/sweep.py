"""The forward and the reverse sweep, as the blocks of one function.

The forward sweep is the primal with phis made into assignments on the edges; every edge that ends an
iteration of a loop, back edges and exits alike, records the loop's frame. The reverse sweep visits
the blocks and edges backwards; an edge that recorded a frame reloads it into the same names.
"""

import operator
from collections import defaultdict

from numba.core import ir, types

from ..ir.fence import located, refuse
from ..ir.function import is_phi, successors
from ..ir.leaves import HANDLES, at, leaves
from . import rows
from .arena import borrow
from .emit import Emitter, choice, counter, shadow_name
from .independent import independent_loops
from .iterations import Iterations
from .memory_helpers import add_into, range_length
from .ops.array import Load
from .ops.recursive import Recursive
from .ops.structure import Phi
from .plan import Plan
from .skip import find_skipped
from .switches import enabled
from .tape import pop_frame, push_frame, read_frame, tape_start
from .updates import mark_updates

TAPE, TOP = "$tape", "$top"


class Sweep:
    """Builds the blocks; `wrt` are the numbers of the differentiated parameters."""

    def __init__(self, fn, activity, control, wrt, scope, dual=None, pair=None):
        self.fn, self.activity, self.control, self.wrt = fn, activity, control, wrt
        self.plan = Plan(fn, activity, control)
        self.e = Emitter(fn, activity, self.plan, scope, dual, pair)
        self.scope = scope
        self.blocks = {}
        self._next = 1
        self.live = [label for label in control.order if label in control.returning]
        self.exit = _exit(fn)
        self.e.local_leaves = self._local_leaves()
        if enabled("updates"):
            mark_updates(fn, activity)
        self.iterations = {}  # header -> the `Iterations` of a loop that are reversed one by one
        self._before = {}
        self.regions = {}  # label -> the same, for each block of such a loop
        self._plan()
        self.forward_labels = {label: self.new_label() for label in control.order}
        self.reverse_labels = {label: self.new_label() for label in reversed(self.live)}

    def new_label(self):
        self._next += 1
        return self._next

    def block_at(self, label):
        block = self.blocks[label] = ir.Block(self.scope, self.e.loc)
        return block

    # -- planning ----------------------------------------------------------------------------

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

    def _handle(self, leaf):
        found = at(self.fn.type_of(leaf[0]), leaf[1])
        return found is None or found.kind in HANDLES

    def _plan(self):
        """A trial run of the reverse sweep's blocks tells what values it needs."""
        self._find_hoisted()
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
        if not self.iterations and self._find_independent():
            self.plan = self.e.plan = Plan(self.fn, self.activity, self.control)
            self.e.needs = []
            self._plan()
            return
        self._find_choices()
        self.skipped = find_skipped(self)
        self.tables = self._find_tables()

    def _find_hoisted(self):
        """Loads that are the same in every iteration: their adjoints go to the array after the loop."""
        self.hoisted = defaultdict(list)  # header -> loads, the last one first
        if not enabled("invariants") or self.e.dual is not None:  # a dual zero need not be zero
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
            some = e.binop(operator.ne, e.bar((op.target, ())), e.const(0.0))
            e.append(ir.Branch(some, there, after, e.loc))
            e.start(self._at(there), header)
            with located(op.loc):
                op.reverse(e)
            e.append(ir.Jump(after, e.loc))
            e.start(self._at(after), header)

    def _at(self, label):
        return ir.Block(self.scope, self.e.loc) if self.e.planning else self.block_at(label)

    def _need_condition(self, label):
        """Where a condition tells by which way a block was entered, the way is not recorded."""
        condition = self.control.condition(label) if label not in self.control.loops else None
        if condition is not None and enabled("conditions"):
            self.plan.conditions[label] = condition
            self.e.needs.append((label, condition[0].name))

    def _find_independent(self):
        """Whether loops were found whose iterations can be reversed one by one."""
        if not enabled("independent"):
            return False
        for found in independent_loops(self.fn, self.activity, self.control, self.plan):
            self.iterations[found.loop.header] = Iterations(self, found, enabled("seeded"))
        for part in self.iterations.values():
            self.control.dissolve(part.loop)
            self.regions.update(dict.fromkeys(part.loop.body, part))
        return bool(self.iterations)

    def _region(self, source, target):
        """The iterations that an edge lies in, or None."""
        part = self.regions.get(source)
        return part if part is self.regions.get(target) else None

    def _find_choices(self):
        """Blocks with several ways in record which one was taken, loops how often they ran."""
        control = self.control
        self._find_counted()
        for label in self.live:
            loop = control.loops.get(label)
            if label in self.iterations:
                pass  # its back edges lead to the adjoint themselves
            elif loop is not None:
                if len(loop.latches) > 1:
                    self._aux(loop, choice(label), label)
                if len(loop.entries) > 1:
                    self._aux(loop.parent, f"{choice(label)}e", label)
                if label not in self.counted:
                    self._aux(loop.parent, counter(label), label)
            elif len(control.predecessors[label]) > 1 and label not in self.plan.conditions:
                self._aux(control.innermost(label), choice(label), label)

    def _find_counted(self):
        """Loops that need not count: their ranges are known in the reverse sweep."""
        self.counted = {}  # header -> start, stop, step
        for header, loop in self.control.loops.items():
            over = self.plan.range_of(loop)
            if over is None or header not in self.control.returning or not enabled("counted"):
                continue
            start = self.control.beginning(loop)
            after = {
                target
                for label in start
                for target in successors(self.fn.blocks[label])
                if target not in loop.body and target in self.control.returning
            }
            names = [v.name for v in over if v is not None]
            if all(self.plan.reach(label, name) for label in after for name in names):
                self.counted[header] = over

    def _find_tables(self):
        """Headers of the innermost loops whose frames are rows of a table."""
        found, loops = set(), self.control.loops
        for header in self.counted:
            loop, frame = loops[header], self.plan.frames.get(header)
            innermost = not any(h in loop.body for h in loops if h != header)
            if frame and innermost and len(loop.entries) == 1 and self._is_table(loop, frame):
                found.add(header)
        return found if enabled("tables") else set()

    def _is_table(self, loop, frame):
        """Whether frames are of numbers, one for each iteration, and nothing else is recorded."""
        recorded = [self.fn.types.get(name, types.intp) for name in frame if isinstance(name, str)]
        numbers = all(isinstance(ty, types.Number | types.Boolean) for ty in recorded)
        ops = [op for label in loop.body for op in self.activity.ops[label]]
        kept = any(name in self.plan.extras for name in frame)
        exits = any(self._records(loop, label) for label in self.control.beginning(loop))
        plain = len(recorded) == len(frame) and numbers and not kept and not exits
        return plain and not any(isinstance(op, Recursive) for op in ops)

    def _aux(self, loop, name, label):
        if loop is not None:
            self.plan.frames[loop.header].append(name)
            self.plan.used[loop.header, name].add(label)

    def _records(self, loop, source):
        """Whether an exit from `source` must record the frame of the unfinished iteration."""
        before = self.control.before(loop, source)
        return any(
            self.plan.used[loop.header, name] & before for name in self.plan.frames[loop.header]
        )

    # -- the forward sweep -------------------------------------------------------------------

    def build(self):
        """The blocks of the whole function."""
        for label in self.control.order:
            self._forward_block(label)
        self._seed()
        for label in reversed(self.live):
            self._reverse_block(label)
        for part in self.iterations.values():
            part.pull_back()
            part.enter()
        self._entry()
        return self.blocks

    def _entry(self):
        """The first block: parameters, shadows, adjoints of zero; made last, as it knows what is used."""
        e = self.e
        block = ir.Block(self.scope, e.loc)
        e.start(block)
        for k, name in enumerate(("tape", "args", "shadows", "seed")):
            target = e.var(TAPE if name == "tape" else f"${name}")
            block.append(ir.Assign(ir.Arg(name, k, e.loc), target, e.loc))
        start = len(block.body)
        for k, name in enumerate(self.fn.parameters):
            e.assign(ir.Expr.static_getitem(e.var("$args"), k, None, e.loc), e.var(name))
            self._parameter_shadows(k, name)
        e.assign(e.call(tape_start, e.var(TAPE)), e.var(TOP))
        self._zero_adjoints()
        block.body[start:start] = e.prelude
        block.append(ir.Jump(self.forward_labels[self.fn.entry], e.loc))
        self.blocks[0] = block

    def _zero_adjoints(self):
        e = self.e
        for leaf in sorted(self._bars(), key=str):
            e.assign(e.zero(leaf), e.bar(leaf))
        for part in self.iterations.values():
            part.zero_variables()

    def _bars(self):
        """The scalar leaves with an adjoint variable that lives across blocks."""
        found = {leaf for op in self.activity.every() for pair in op.flows for leaf in pair}
        found |= set(self.activity.inputs) | set(self.activity.returned)
        return {
            leaf
            for leaf in found
            if self.activity.active(leaf)
            and not self._handle(leaf)
            and leaf not in self.e.local_leaves
        }

    def _parameter_shadows(self, k, name):
        e = self.e
        for path, kind, _ in leaves(self.fn.type_of(name)):
            leaf = name, path
            if kind not in HANDLES or not self.activity.active(leaf):
                continue
            if k in self.wrt:
                shadow = e.item(e.var("$shadows"), k)
                for i in path:
                    shadow = e.item(shadow, i)
                e.set_shadow(leaf, e.call(borrow, shadow))
            else:
                value = e.var(name)
                for i in path:
                    value = e.item(value, i)
                e.set_shadow(leaf, e.new_shadow_of(value, leaf))

    def _forward_block(self, label):
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
                op.forward(e)
                op.shadows(e)

    def _forward_edge(self, source, target):
        """The block that does what an edge does: frames, counters, choices, phis; its label."""
        e, control = self.e, self.control
        label = self.new_label()
        outer = e.block
        e.start(self.block_at(label))
        part = self.iterations.get(target)
        with e.within(self._region(source, target)):
            if target in control.returning:
                self._record_edge(source, target)
            if part is not None and source in part.loop.body:
                part.next_iteration(source)
            else:
                self._assign_phis(source, target)
                there = self.forward_labels[target] if part is None else part.entered
                e.append(ir.Jump(there, e.loc))
        e.block = outer
        return label

    def _record_edge(self, source, target):
        e, control = self.e, self.control
        for loop in control.left(source, target):
            if loop.header in control.returning and self._records(loop, source):
                self._push(loop)
        loop = control.loops.get(target)
        ways = list(control.predecessors[target])
        if target in self.iterations:
            entries = self.iterations[target].loop.entries
            if source in entries and len(entries) > 1:
                e.assign(e.const(entries.index(source)), e.var(f"{choice(target)}e"))
        elif loop is not None and source in loop.body:
            if len(loop.latches) > 1:
                e.assign(e.const(loop.latches.index(source)), e.var(choice(target)))
            self._push(loop)
            if target not in self.counted or target in self.tables:
                count = e.var(counter(target))
                e.binop(operator.add, count, e.const(1), count)
        elif loop is not None:
            if target in self.skipped:
                self.skipped[target].keep_top()
            if len(loop.entries) > 1:
                e.assign(e.const(loop.entries.index(source)), e.var(f"{choice(target)}e"))
            if target not in self.counted or target in self.tables:
                e.assign(e.const(0), e.var(counter(target)))
            if target in self.tables:
                self._reserve(loop)
        elif len(ways) > 1 and target not in self.plan.conditions:
            e.assign(e.const(ways.index(source)), e.var(choice(target)))

    def _frame(self, loop):
        return [
            self.e.var(shadow_name(name) if isinstance(name, tuple) else name)
            for name in self.plan.frames[loop.header]
        ]

    def _range_length(self, loop):
        e = self.e
        start, stop, step = self.counted[loop.header]
        start = e.const(0) if start is None else e.value(start)
        step = e.const(1) if step is None else e.value(step)
        return e.call(range_length, start, e.value(stop), step)

    def _table(self, loop):
        return self.e.var(f"$base{loop.header}"), self.e.var(f"$rows{loop.header}")

    def _where(self, loop):
        loc = self.fn.blocks[loop.header].loc
        return self.e.const(f"the loop at {loc.filename}, line {loc.line}")

    def _reserve(self, loop):
        """Make room for the frames of a loop before it."""
        e, frame, (base, length) = self.e, self._frame(loop), self._table(loop)
        e.assign(self._range_length(loop), length)
        where = self._where(loop)
        e.assign(e.call(rows.reserve, e.var(TAPE), e.var(TOP), length, where, *frame), base)
        e.assign(e.call(rows.above, base, length, *frame), e.var(TOP))

    def _push(self, loop):
        frame = self._frame(loop)
        if loop.header in self.tables:
            base, _ = self._table(loop)
            e = self.e
            e.call(rows.put, base, e.var(counter(loop.header)), *frame)
        elif frame:
            e = self.e
            where = self._where(loop)
            e.assign(e.call(push_frame, e.var(TAPE), e.var(TOP), where, *frame), e.var(TOP))

    def _pop(self, loop):
        frame, e = self._frame(loop), self.e
        if frame:
            values = self._popped(loop, frame)
            for k, var in enumerate(frame):
                e.assign(ir.Expr.static_getitem(values, k, None, e.loc), var)

    def _popped(self, loop, frame):
        e = self.e
        if loop.header in self.tables:
            base, _ = self._table(loop)
            return e.call(rows.get, base, e.var(counter(loop.header)), *frame)
        e.assign(e.call(pop_frame, e.var(TOP), *frame), e.var(TOP))
        return e.call(read_frame, e.var(TOP), *frame)

    def _assign_phis(self, source, target):
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
        pairs = [(e.var(op.target), e.var(var.name))]
        for source, target in op.aliases:
            if source[0] == var.name and self.activity.active(target):
                pairs.append((e.var(shadow_name(target)), e.shadow(source)))
        return pairs

    # -- the reverse sweep -------------------------------------------------------------------

    def _seed(self):
        e = self.e
        e.start(self.block_at(self.seed_label))
        e.loc = self.fn.blocks[self.exit].terminator.loc
        ty = self.fn.type_of(self.result)
        for path, kind, _ in leaves(ty):
            leaf = self.result.name, path
            if not self.activity.active(leaf):
                continue
            seed = e.var("$seed")
            for k in path:
                seed = e.item(seed, k)
            if kind in HANDLES:
                e.call(add_into, e.shadow(leaf), seed)
            else:
                bar = e.bar(leaf)
                e.binop(operator.add, bar, seed, bar)
        e.append(ir.Jump(self.reverse_labels[self.exit], e.loc))

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
        elif len(ways) == 1:
            e.append(ir.Jump(self._reverse_edge(ways[0], label), e.loc))
        elif label in self.plan.conditions:
            cond, true = self.plan.conditions[label]
            taken, block = e.value(cond), e.block
            edges = [self._reverse_edge(ways[k], label) for k in (true, 1 - true)]
            block.append(ir.Branch(taken, *edges, e.loc))
        else:
            self._dispatch(choice(label), control.predecessors[label], label)

    def _reverse_header(self, label, loop):
        e = self.e
        more = e.binop(operator.gt, e.var(counter(label)), e.const(0))
        block = e.block
        again, before = self.new_label(), self.before(label)
        block.append(ir.Branch(more, again, before, e.loc))
        e.start(self.block_at(again), label)
        count = e.var(counter(label))
        e.binop(operator.sub, count, e.const(1), count)
        self._pop(loop)
        self._dispatch(choice(label), loop.latches, label)
        e.start(self.block_at(before), label)
        self._reverse_hoisted(label)
        self.leave_backwards(label, loop)

    def before(self, header):
        """The block of the reverse sweep that comes after that of a loop."""
        if header not in self._before:
            self._before[header] = self.new_label()
        return self._before[header]

    def leave_backwards(self, label, loop):
        """Go back by the edge by which a loop was entered."""
        if loop.entries:
            self._dispatch(f"{choice(label)}e", loop.entries, label)
        else:
            self._finish()

    def _dispatch(self, name, ways, label):
        """Go back by the edge that was taken."""
        e = self.e
        for k, source in enumerate(ways[:-1]):
            taken = e.binop(operator.eq, e.var(name), e.const(k))
            block = e.block
            edge, others = self._reverse_edge(source, label), self.new_label()
            block.append(ir.Branch(taken, edge, others, e.loc))
            e.start(self.block_at(others), label)
        block = e.block
        block.append(ir.Jump(self._reverse_edge(ways[-1], label), e.loc))

    def _reverse_edge(self, source, target):
        """The block that undoes an edge; its label."""
        e = self.e
        label, outer, known = self.new_label(), e.block, e.label
        e.start(self.block_at(label), target)
        with e.within(self._region(source, target)):
            self._reverse_phis(source, target)
        self.pop_left(source, target)
        self._count_left(source, target)
        part = self.regions.get(source)
        done = part is not None and target not in part.loop.body
        there = part.done if done else self.reverse_labels[source]
        left = self.control.left(source, target)
        if len(left) == 1 and left[0].header in self.skipped:
            self.skipped[left[0].header].ask(there)
        else:
            e.append(ir.Jump(there, e.loc))
        e.block, e.label = outer, known
        return label

    def _count_left(self, source, target):
        """How often the loops ran that an edge leaves, where they did not count themselves."""
        e = self.e
        for loop in self.control.left(source, target):
            if loop.header in self.counted:
                count = self._range_length(loop)
                e.assign(count, e.var(counter(loop.header)))
                if loop.header in self.tables:
                    frame, (base, length) = self._frame(loop), self._table(loop)
                    e.assign(count, length)
                    e.assign(e.call(rows.below, e.var(TOP), length, *frame), base)
                    e.assign(base, e.var(TOP))

    def _reverse_phis(self, source, target):
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

    def pop_left(self, source, target):
        """Take back the frames that an edge recorded as it left loops."""
        for loop in reversed(self.control.left(source, target)):
            if loop.header in self.control.returning and self._records(loop, source):
                self._pop(loop)

    def _finish(self):
        """Return the value and the adjoints of the parameters."""
        e = self.e
        pair = e.tuple([e.var(self.result.name), e.tuple(self._adjoints())])
        e.append(ir.Return(e.assign(ir.Expr.cast(pair, e.loc)), e.loc))

    def _adjoints(self):
        return [
            self._adjoint(name, self.fn.type_of(name), ()) if k in self.wrt else self.e.none()
            for k, name in enumerate(self.fn.parameters)
        ]

    def _adjoint(self, name, ty, path):
        e = self.e
        ty = ty.type if isinstance(ty, types.Optional) else ty
        if isinstance(ty, types.BaseTuple):
            return e.tuple([self._adjoint(name, t, (*path, k)) for k, t in enumerate(ty.types)])
        if not isinstance(ty, types.Float | types.Complex):
            return e.none()
        if not self.activity.active((name, path)):
            return e.zero_of(ty)
        return e.final(self._plus_zero(name, path), ty)

    def _plus_zero(self, name, path):
        """No adjoint comes out as -0.0."""
        e = self.e
        return e.binop(operator.add, e.bar((name, path)), e.const(0.0))


def _exit(fn):
    """The label of the block that returns."""
    for label, block in fn.blocks.items():
        if isinstance(block.terminator, ir.Return):
            return label
    raise refuse(f"{fn.name}, which never returns", fn.loc, "let it return a value")
