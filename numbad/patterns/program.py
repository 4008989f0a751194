"""Typed code made ready to be run by the machine: steps, and the ways through its blocks."""

from dataclasses import dataclass, field
from functools import cached_property

from numba.core import ir
from numba.core.errors import NumbaError

from ..compilation.memo import remembered
from ..errors import NumbadError, UnsupportedError
from ..ir.function import is_phi, read_by, successors
from ..ir.handlers import handled
from ..ir.loops import Control
from ..reverse.parallel import body
from ..rules.registry import generation
from .machine import EXIT, told
from .statements import compiled, refusing


@dataclass
class StepBlock:
    """The steps of a block, what each reads, and what ends it."""

    steps: list
    reads: list
    phis: list  # of (name, {block it comes from: name, or None})
    terminator: ir.Stmt
    targets: set = field(default_factory=set)


class Program:
    """The normalised code of a dispatcher for argument types."""

    def __init__(self, fn):
        self.fn, self.loc = fn, fn.loc
        self.parameters, self.entry = fn.parameters, fn.entry
        self.control = Control(fn)
        self.dominators, self.returning = self.control.dominators, self.control.returning
        self.names = [s.target.name for _, s in fn.statements() if isinstance(s, ir.Assign)]
        self._blocks, self._regions = {}, {}

    def block(self, label):
        """A block, made when it is first asked for."""
        if label not in self._blocks:
            if handled(self.fn, label):
                raise UnsupportedError(told("a 'try' block", self.fn.blocks[label].loc))
            self._blocks[label] = self._make(self.fn.blocks[label])
        return self._blocks[label]

    def _make(self, block):
        made = StepBlock([], [], [], block.terminator)
        for s in block.body:
            if isinstance(s, ir.Assign):
                made.targets.add(s.target.name)
            if is_phi(s):
                made.phis.append((s.target.name, _ways(s.value)))
            elif s is not block.terminator:
                step = self._step(s)
                if step is not None:
                    made.steps.append(step)
                    made.reads.append([v.name for v in read_by(s)])
        return made

    def _step(self, s):
        try:
            return compiled(self.fn, s)
        except NumbadError:
            raise
        except Exception:  # a form of call that is not thought of
            return refusing(self.fn, s)

    @cached_property
    def _after(self):
        """label -> the blocks that every way from it to a return passes, itself included."""
        following = {
            k: [t for t in successors(self.fn.blocks[k]) if t in self.returning] or [EXIT]
            for k in self.returning
        }
        every = {*following, EXIT}
        found = {k: set(every) for k in following} | {EXIT: {EXIT}}
        changed = True
        while changed:
            changed = False
            for k in sorted(following, reverse=True):
                new = {k} | set.intersection(*(found[t] for t in following[k]))
                if new != found[k]:
                    found[k], changed = new, True
        return found

    @cached_property
    def _meetings(self):
        after = self._after
        return {k: max(after[k] - {k}, key=lambda t: len(after[t])) for k in self.returning}

    def meeting(self, label):
        """The first block that every way from a block to a return passes; EXIT for none."""
        return self._meetings[label]

    def region(self, label, end):
        """The blocks that may be run after a block, before `end`."""
        if (label, end) not in self._regions:
            found, pending = set(), [label]
            while pending:
                for t in successors(self.fn.blocks[pending.pop()]):
                    if t != end and t not in found and t in self.returning:
                        found.add(t)
                        pending.append(t)
            self._regions[label, end] = found
        return self._regions[label, end]


def _ways(phi):
    return {
        source: None if var is ir.UNDEFINED else var.name
        for source, var in zip(phi.incoming_blocks, phi.incoming_values, strict=True)
    }


def program_of(dispatcher, argtypes):
    """The `Program` of a dispatcher; always the same one."""
    known = remembered(dispatcher, "programs")
    key = generation(), argtypes
    if key not in known:
        try:
            known[key] = Program(body(dispatcher, argtypes))
        except NumbaError as error:
            if isinstance(error, NumbadError):
                message = told(f"{dispatcher.py_func.__name__} ({error.plain_message})", None)
                raise UnsupportedError(message) from error
            raise
    return known[key]
