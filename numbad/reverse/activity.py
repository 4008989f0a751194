"""Which leaves carry derivatives: those that depend on an input and that the result depends on."""

from collections import defaultdict

from numba.core import ir, types

from ..compilation.memo import remembered
from ..forward.promote import effects
from ..ir.fence import located, refuse
from ..ir.function import operands
from ..ir.leaves import HANDLES, at, leaves
from .ops import classify
from .ops.base import Unknown
from .ops.call import PlainCall
from .ops.globals import GlobalHandle

_POINTERS = types.ArrayCTypes, types.CPointer, types.EphemeralPointer, types.RawPointer


class Classes:
    """Handle leaves that may share memory, as disjoint sets."""

    def __init__(self):
        self._parent = {}

    def find(self, leaf):
        parent = self._parent.setdefault(leaf, leaf)
        while parent != self._parent[parent]:
            self._parent[parent] = parent = self._parent[self._parent[parent]]
        self._parent[leaf] = parent
        return parent

    def join(self, first, second):
        self._parent[self.find(first)] = self.find(second)


def _classified(fn, label, statement):
    with located(statement.loc):
        return classify(fn, label, statement)


def _draws(dispatcher):
    """Whether a dispatcher may draw random numbers."""
    known = remembered(dispatcher, "draws")
    if () not in known:
        known[()] = effects(dispatcher, ()).random
    return known[()]


class Activity:
    """The activity of a `Function` for given differentiated leaves.

    `inputs` are the leaves of the parameters to differentiate by; `returned` those of what the
    function returns, of which `seeded` have a cotangent: all of them where None.
    """

    def __init__(self, fn, inputs, returned, seeded=None):
        self.fn = fn
        self.ops = {
            label: [_classified(fn, label, s) for s in block.body]
            for label, block in fn.blocks.items()
        }
        for number, op in enumerate(self.every()):
            op.number = number
        self.inputs, self.returned = inputs, returned
        self.seeded = returned if seeded is None else seeded
        self.solve()

    def every(self):
        for ops in self.ops.values():
            yield from ops

    def solve(self):
        """Find the classes of handles, and what is varied, useful and active."""
        self.classes = Classes()
        for op in self.every():
            for first, second in op.aliases:
                self.classes.join(first, second)
        forward, backward = defaultdict(set), defaultdict(set)
        for op in self.every():
            for source, target in op.flows:
                source, target = self.node(source), self.node(target)
                forward[source].add(target)
                backward[target].add(source)
        starts = {self.node(leaf) for leaf in self.inputs}
        ends = {self.node(leaf) for leaf in self.seeded}
        handles = {self.node(leaf) for leaf, kind in self._inputs_of_kind() if kind in HANDLES}
        self.varied = _reach(starts, forward)
        self.useful = _reach(ends | handles, backward)
        self.nodes = self.varied & self.useful
        self._find_written()

    def _inputs_of_kind(self):
        for name, path in self.inputs:
            yield (name, path), at(self.fn.type_of(name), path).kind

    def _find_written(self):
        """`writers`: what may write to a class of handles; `written`: the classes written to."""
        self.writers = defaultdict(list)
        for op in self.every():
            targets = {self.node(h) for h in op.stores}
            if isinstance(op, Unknown) and not op.known:
                targets |= {self.node(target) for _, target in op.flows}
            for node in targets:
                self.writers[node].append(op)
        self.written = set(self.writers)
        self.constants = {
            self.node(identity)
            for op in self.every()
            if isinstance(op, GlobalHandle)
            for identity in op.defined()
        }

    def writes_elements(self, leaf):
        """Whether anything but assignments of fields writes to what shares memory with a handle."""
        writers = self.writers.get(self.node(leaf), ())
        return any(not isinstance(op.statement, ir.SetAttr) for op in writers)

    def members(self, node):
        """The handle leaves that share memory with one."""
        known = [leaf for leaf in self.classes._parent if self.node(leaf) == node]
        return known or [node]

    def node(self, leaf):
        """The leaf itself, or what stands for all that share its memory."""
        return self.classes.find(leaf) if leaf in self.classes._parent else leaf

    def active(self, leaf):
        return self.node(leaf) in self.nodes

    def is_active(self, op):
        """Whether derivatives flow through a statement whose flows are a guess."""
        if any(self.active(s) and self.active(t) for s, t in op.flows):
            return True
        return any(self.active(identity) for identity in [*op.defined(), *op.stores])

    def expandables(self):
        """The statements that must give way to simpler code, the last of each block first."""
        return [
            op
            for ops in self.ops.values()
            for op in reversed(ops)
            if op.expandable and (self.is_active(op) or self._may_draw(op))
        ]

    def _may_draw(self, op):
        """Whether a callee may draw by what is differentiated, though no float comes out of it."""
        return isinstance(op, PlainCall) and self._is_given_varied(op) and _draws(op.dispatcher)

    def refuse_unknown(self):
        """Raise UnsupportedError for an active statement that has no adjoint."""
        for op in self.every():
            if not op.known and self.is_active(op):
                raise op.refusal()
            self._refuse_varied(op)
            self._refuse_pointer(op)
            if isinstance(op, GlobalHandle):
                self._refuse_changed_global(op)

    def _refuse_varied(self, op):
        """Bits of floats, integers that are drawn: no derivative, for whatever is made of them."""
        if isinstance(op, Unknown) and op.takes_constants() and self._is_given_varied(op):
            op.meets_varied()

    def _is_given_varied(self, op):
        """Whether what goes into a statement whose flows are a guess is differentiated."""
        given = [identity for var in op.read() for identity, _ in op.leaves(var)]
        return any(self.node(identity) in self.varied for identity in given)

    def _refuse_pointer(self, op):
        """What is done through a pointer is seen by nobody: LAPACK, say, reads and writes so."""
        s = op.statement
        if not isinstance(s, ir.Assign) or not isinstance(self.fn.type_of(s.target), _POINTERS):
            return
        for var in operands(s.value):
            for leaf in leaves(self.fn.type_of(var)):
                if leaf.kind in HANDLES and self.node((var.name, leaf.path)) in self.varied:
                    raise refuse("a pointer into an array of differentiated values", op.loc)

    def _refuse_changed_global(self, op):
        ty = self.fn.type_of(op.statement.target)
        if isinstance(ty, types.Array) and not ty.mutable:  # nothing can be written through it
            return
        for identity in op.defined():
            if self.active(identity):
                name = getattr(op.statement.value, "name", "a constant")
                raise refuse(
                    f"a write of differentiated values into the global or closure variable '{name}'",
                    self._place_of_write(identity) or op.loc,
                    "pass the array as an argument, or allocate it in the function",
                )

    def _place_of_write(self, identity):
        for op in self.every():
            if any(self.node(h) == self.node(identity) for h in op.stores):
                return op.loc
        return None


def _reach(starts, edges):
    seen, pending = set(starts), list(starts)
    while pending:
        for other in edges.get(pending.pop(), ()):
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return seen
