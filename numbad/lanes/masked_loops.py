"""Loops that some lanes leave before others: they run until none is left, under the mask of those that are.

A lane that has left is passed by at a gate, where each iteration begins; what the code after the loop takes
from it is kept from the iteration in which it left. The branches that are made here are flattened as any
other (Karrenberg & Hack, "Whole-function vectorization", CGO 2011, section on loops).
"""

from dataclasses import dataclass, field

from numba.core import ir, types
from numba.core.ir_utils import compute_cfg_from_blocks

from ..ir.callee import callee_of
from ..ir.function import is_expr, is_phi, read_by, successors
from .branch_elements import harmless
from .choice import made_call, renamed
from .lane_functions import FUNCTIONS
from .uniform import refuse
from .varying import anywhere

_OF_RANGE = "iternext", "pair_first", "pair_second"


def mask_loop(fn, varying, fits):
    """Mask a loop that lanes leave, or come to, at different times, in place; whether there was one.

    `fits(function)`: whether a function may be called in a loop that some lanes have left.
    """
    cfg = compute_cfg_from_blocks(fn.blocks)
    loops = sorted(cfg.loops().values(), key=lambda loop: len(loop.body))
    heads = [label for label in fn.blocks if _is_varying(fn, label, varying)]
    apart = [loop for loop in loops if any(_leaves(cfg, loop, head) for head in heads)]
    apart = [loop for loop in apart if not _leads_back(cfg, loop, loops)]
    branches = sorted((_ways(fn, cfg, head) for head in heads), key=lambda found: len(found[1]))
    for loop in apart[:1]:
        _refuse_calls(fn, loop, fits)
        around = (branch for branch in branches if loop.body <= branch[1])
        _Masking(fn, cfg, loop, *next(around, ())).run()
        return True
    for meeting, ways in branches:
        for loop in [loop for loop in loops if loop.body <= ways][-1:]:
            _refuse_calls(fn, loop, fits)
            _Masking(fn, cfg, loop, meeting, ways).run()
            return True
    return False


def _refuse_calls(fn, loop, fits):
    """It would be called for lanes that have left, or pass by, as long as one goes on."""
    for label in sorted(loop.body):
        for s in fn.blocks[label].body:
            value = getattr(s, "value", None)
            callee = callee_of(fn, value) if is_expr(value, "call") else None
            called = callee is not None and callee.kind == "function"
            if called and callee.key in FUNCTIONS and not fits(callee.key):
                what = "a loop that some lanes may leave before others or pass by, with this call,"
                raise refuse(what, s.loc)


def _leaves(cfg, loop, head):
    """Whether some lanes leave a loop by a branch, where others go on."""
    return head in loop.body and not cfg.post_dominators()[head] & loop.body - {head}


def _end(cfg, loop):
    """The block where all ways out of a loop meet; None where they do not."""
    after = cfg.post_dominators()[loop.header] - loop.body
    return next((k for k in after if after <= cfg.post_dominators()[k] | {k}), None)


def _leads_back(cfg, loop, loops):
    """Whether a way out of a loop leads into it again, by a loop around it that is the same in the source.

    Of `while` with `continue` Python makes two: its test stands before the loop, and again at its end. Lanes
    go through the one around the other first.
    """
    around = [other for other in loops if loop.body < other.body]
    return any(_end(cfg, loop) not in other.body for other in around)


def _is_varying(fn, label, varying):
    terminator = fn.blocks[label].terminator
    return isinstance(terminator, ir.Branch) and terminator.cond.name in varying


def _ways(fn, cfg, head):
    """The block where the ways of a branch meet, and all blocks on these; None and none if they do not."""
    after = cfg.post_dominators()[head] - {head}
    meeting = next((label for label in after if after <= cfg.post_dominators()[label]), None)
    found, pending = set(), [] if meeting is None else [*successors(fn.blocks[head])]
    while pending:
        label = pending.pop()
        if label not in found and label != meeting:
            found.add(label)
            pending += successors(fn.blocks[label])
    return meeting, found


@dataclass
class _Kept:
    """What the code after a loop takes from a lane."""

    type: types.Type
    at: dict = field(default_factory=dict)  # label of an edge to the end -> the value there
    phi: ir.Assign = None  # at the end, that takes it; without one `name` itself is read afterwards
    name: str = None
    final: ir.Var = None


class _Masking:
    """One loop: its `body`, with what lanes do on their ways out, and the block `end` where these meet.

    Where a range ends, the lanes that are left go through the blocks `ended`. Of the `ways` of a branch
    that the loop lies on, which meet at `meeting`, those past it are led through it, to do nothing there.
    """

    def __init__(self, fn, cfg, loop, meeting=None, ways=frozenset()):
        self.fn, self.cfg, self.loop = fn, cfg, loop
        self.header, self.body = loop.header, set(loop.body)
        self.loc = fn.blocks[loop.header].terminator.loc
        leading = sorted(label for label, _ in cfg.predecessors(self.header))
        self.latches = [label for label in leading if label in self.body]
        self.outside = [label for label in leading if label not in self.body]
        rest = [s for s in fn.blocks[self.header].body[:-1] if not is_phi(s)]
        self.of_range = bool(rest) and all(is_expr(s.value, *_OF_RANGE) for s in rest)
        self._find_ways_out()
        self.meeting, self.past = meeting, self._lead_past(meeting, ways)
        self.kept = [*self._phis_at_end(), *self._read_afterwards()]

    def _refusal(self, more=""):
        return refuse(f"a loop that some lanes may leave before others{more}", self.loc)

    # -- the ways out ------------------------------------------------------------------------------

    def _find_ways_out(self):
        """Find the `end`, where all ways out meet, and the blocks on them.

        What follows the end of a range is not within the loop: its blocks are `later`.
        """
        self.end = _end(self.cfg, self.loop)
        if self.end is None:
            raise self._refusal(", for places that never meet,")
        own, ended = self.of_range and self._exits({self.header}), set()
        self.ended, self.later = [], set()
        if own:
            ((_, self.first_later),) = own
            self.later = self._between(own)
            self.ended = sorted(
                k for k, way in self._exits(self.later | {self.header}) if way == self.end
            )
            ended = self.later
        self.body |= self._between(self._exits(self.body - ({self.header} if own else set())))
        inside = self.body - ({self.header} if own else set())
        self.out = sorted(k for k, way in self._exits(inside) if way == self.end)
        entered = {k for label in ended for k, _ in self.cfg.predecessors(label)}
        if self.body & ended or entered - ended - {self.header}:
            raise self._refusal(", for places that are far apart,")

    def _exits(self, blocks):
        """The edges out of the loop from some blocks."""
        return [
            (label, target)
            for label in sorted(blocks)
            for target in dict.fromkeys(successors(self.fn.blocks[label]))
            if target not in self.body and target not in blocks
        ]

    def _between(self, edges):
        """The blocks on the ways from some edges to the end."""
        found, pending = set(), [target for _, target in edges]
        while pending:
            label = pending.pop()
            if label not in found and label != self.end:
                found.add(label)
                pending += successors(self.fn.blocks[label])
        return found

    def _lead_past(self, meeting, ways):
        """Blocks of their own for the ways past the loop: label -> where it leads, the end or the meeting."""
        if meeting is None:
            return {}
        later, pending = set(self.body), [*self.body]
        while pending:
            for label in successors(self.fn.blocks[pending.pop()]):
                if label in ways and label not in later:
                    later.add(label)
                    pending.append(label)
        heads = {k for label in ways for k, _ in self.cfg.predecessors(label)} - ways
        found = {}
        for source in sorted((ways | heads) - later):
            for target in set(successors(self.fn.blocks[source])):
                if target in later - self.body and target != self.end:
                    raise self._refusal(", for places that are far apart,")
                if target in (meeting, self.end):
                    found[self._way_past(source, target)] = target
        return found

    def _way_past(self, source, target):
        way = self._block()
        self._retarget(source, target, way)
        for s in self.fn.blocks[target].body:
            if is_phi(s):
                ways = {way if k == source else k: v for k, v in _incoming(s).items()}
                _set_incoming(s.value, ways)
        return way

    @property
    def _edges(self):
        """The labels of all blocks that lead from the loop, or past it, to the end."""
        past = [way for way, target in self.past.items() if target == self.end]
        return [*self.out, *self.ended, *past]

    # -- what is kept ------------------------------------------------------------------------------

    def _phis_at_end(self):
        for s in self.fn.blocks[self.end].body:
            if is_phi(s):
                pairs = zip(s.value.incoming_blocks, s.value.incoming_values, strict=True)
                at = {k: v for k, v in pairs if k in self._edges and v is not ir.UNDEFINED}
                if at:
                    yield _Kept(self._type(s.target), at, phi=s)

    def _read_afterwards(self):
        made = {
            s.target.name: label
            for label in self.body
            for s in self.fn.blocks[label].body
            if isinstance(s, ir.Assign)
        }
        read, inside = set(), self.body | self.later
        for label, block in self.fn.blocks.items():
            for s in block.body if label not in inside else ():
                if not (label == self.end and is_phi(s)):
                    read |= {v.name for v in read_by(s)} & made.keys()
        sure = self.cfg.dominators()
        for name in sorted(read):
            var = ir.Var(self.fn.scope, name, self.loc)
            at = {label: var for label in self._edges if made[name] in sure[label] | {label}}
            yield _Kept(self._type(var), at, name=name)

    def _type(self, var):
        ty = types.unliteral(self.fn.type_of(var))
        if not isinstance(ty, types.Float | types.Boolean):
            raise self._refusal(f", after which its {ty} is read,")
        return ty

    # -- the new loop ------------------------------------------------------------------------------

    def run(self):
        self.start, self.top, self.gate, self.last, self.after = (self._block() for _ in range(5))
        true, false = (self._const(value, types.boolean) for value in (True, False))
        phis = self._take_phis()
        come = dict.fromkeys(self.outside, true) | dict.fromkeys(self.past, false)
        come = self._phi(self.start, come, self._fresh(types.boolean))
        firsts = [self._first(_incoming(phi), self.fn.type_of(phi.target)) for phi in phis]
        begins = [
            self._first(kept.at, kept.type, self._const(harmless(kept.type), kept.type))
            for kept in self.kept
        ]
        self._lead_in()
        for label in self.latches:
            self._retarget(label, self.header, self.last)
        self.ways = {label: self._way(label) for label in self.out}
        going = self._fresh(types.boolean)
        on, off = dict.fromkeys(self.latches, true), dict.fromkeys(self.out, false)
        self._hand_on(going, come, on, off, going)
        for phi, first in zip(phis, firsts, strict=True):  # what has left needs no more of these
            self._hand_on(phi.target, first, _incoming(phi), {}, ir.UNDEFINED)
        held = [self._fresh(kept.type) for kept in self.kept]
        for kept, first, var in zip(self.kept, begins, held, strict=True):
            self._hand_on(var, first, {}, kept.at, var)
        sources = self._head(going)
        self._end_with(self.gate, ir.Branch(going, self.header, self.last, self.loc))
        self._end_with(self.last, ir.Jump(self.top, self.loc))
        for kept, var in zip(self.kept, held, strict=True):
            values = {label: kept.at.get(old, var) for label, old in sources.items()}
            kept.final = self._phi(self.after, values, self._fresh(kept.type))
        self._lead_out(true, false)
        self._end_with(self.start, ir.Jump(self.top, self.loc))
        self._deliver()
        self.fn.changed()

    def _take_phis(self):
        header = self.fn.blocks[self.header]
        phis = [s for s in header.body if is_phi(s)]
        header.body = header.body[len(phis) :]
        return phis

    def _first(self, given, ty, others=ir.UNDEFINED):
        """What is handed from one iteration to the next, at first, by the blocks that lead to the loop."""
        ways = {label: given.get(label, others) for label in (*self.outside, *self.past)}
        if len({v if v is ir.UNDEFINED else v.name for v in ways.values()}) == 1:
            return next(iter(ways.values()))
        return self._phi(self.start, ways, self._fresh(ty))

    def _lead_in(self):
        for label in self.outside:
            self._retarget(label, self.header, self.start)
        for way in self.past:
            self._end_with(way, ir.Jump(self.start, self.loc))

    def _lead_out(self, true, false):
        """To the end; those lanes that only pass by on a way that leads further, to where the ways meet."""
        further = [way for way, target in self.past.items() if target != self.end]
        if not further:
            self._end_with(self.after, ir.Jump(self.end, self.loc))
            return
        to_end = self._first(dict.fromkeys(further, false), types.boolean, true)
        way = self._block()
        self._end_with(self.after, ir.Branch(to_end, self.end, way, self.loc))
        self._end_with(way, ir.Jump(self.meeting, self.loc))
        for s in self.fn.blocks[self.meeting].body:
            if is_phi(s):
                ways = _incoming(s)
                given = {label: ways.pop(label) for label in further if label in ways}
                _set_incoming(s.value, ways | {way: self._first(given, self.fn.type_of(s.target))})

    def _way(self, label):
        """The block that lanes go through which leave at the end of another."""
        way = self._block()
        self._end_with(way, ir.Jump(self.last, self.loc))
        self._retarget(label, self.end, way)
        return way

    def _hand_on(self, var, first, on, off, others):
        """Let `var` be `first` at first, then what it is at the end of an iteration, or of the last one."""
        then = self._fresh(self.fn.type_of(var))
        given = {label: on.get(label, others) for label in self.latches}
        given |= {way: off.get(label, others) for label, way in self.ways.items()}
        self._phi(self.last, {**given, self.gate: others}, then)
        self._phi(self.top, {self.start: first, self.last: then}, var)

    def _head(self, going):
        """End the top; the blocks that lead to what comes after, and what they were in the old loop."""
        if not self.of_range:
            self._go_on(self.top, going)
            return {self.top: None}
        header = self.fn.blocks[self.header]
        *of_range, branch = header.body
        into = branch.truebr if branch.truebr in self.body else branch.falsebr
        header.body = [ir.Jump(into, self.loc)]
        check, finish = self._block(), self._block()
        self.fn.blocks[self.top].body += of_range
        ways = (check, finish) if into == branch.truebr else (finish, check)
        self._end_with(self.top, ir.Branch(branch.cond, *ways, self.loc))
        self._go_on(check, going)
        ways = {label: label for label in self.later & {*self.ended}}
        for label in ways:
            self._retarget(label, self.end, self.after)
        if not self.later:
            self.first_later = self._block()
            self._end_with(self.first_later, ir.Jump(self.after, self.loc))
            ways = {self.first_later: self.header}
        self._end_with(finish, ir.Branch(going, self.first_later, self.after, self.loc))
        return {check: None, finish: None, **ways}

    def _go_on(self, label, going):
        """End a block: into the next iteration if any lane is left."""
        body = self.fn.blocks[label].body
        some = made_call(self.fn, body, anywhere, types.boolean, [going], self.loc)
        self._end_with(label, ir.Branch(some, self.gate, self.after, self.loc))

    def _deliver(self):
        """Let the code after the loop read what is kept."""
        names = {kept.name: kept.final for kept in self.kept if kept.phi is None}
        new = self.start, self.top, self.gate, self.last, self.after, *self.ways.values()
        for label in self.fn.blocks.keys() - self.body - self.later - {*new}:
            block = self.fn.blocks[label]
            block.body = [renamed(self.fn, s, names) for s in block.body]
        phis = {kept.phi.target.name: kept.final for kept in self.kept if kept.phi is not None}
        for s in self.fn.blocks[self.end].body:
            if is_phi(s) and s.target.name in phis:
                ways = {k: v for k, v in _incoming(s).items() if k not in self._edges}
                _set_incoming(s.value, ways | {self.after: phis[s.target.name]})

    # -- blocks and names --------------------------------------------------------------------------

    def _block(self):
        label = self.fn.new_label()
        self.fn.blocks[label] = ir.Block(self.fn.scope, self.loc)
        return label

    def _end_with(self, label, terminator):
        self.fn.blocks[label].append(terminator)

    def _fresh(self, ty):
        return self.fn.fresh("$of_loop", ty, self.loc)

    def _phi(self, label, incoming, target):
        phi = ir.Expr.phi(self.loc)
        _set_incoming(phi, incoming)
        self.fn.blocks[label].append(ir.Assign(phi, target, self.loc))
        return target

    def _const(self, value, ty):
        """A constant in the first block of the function."""
        target = self._fresh(ty)
        self.fn.blocks[self.fn.entry].prepend(
            ir.Assign(ir.Const(value, self.loc), target, self.loc)
        )
        return target

    def _retarget(self, label, old, new):
        block = self.fn.blocks[label]
        terminator = block.body.pop()
        ways = [new if way == old else way for way in terminator.get_targets()]
        if isinstance(terminator, ir.Jump):
            block.append(ir.Jump(*ways, terminator.loc))
        else:
            block.append(ir.Branch(terminator.cond, *ways, terminator.loc))


def _incoming(phi):
    return dict(zip(phi.value.incoming_blocks, phi.value.incoming_values, strict=True))


def _set_incoming(phi, ways):
    phi._kws["incoming_blocks"], phi._kws["incoming_values"] = [*ways], [*ways.values()]
