"""Tells whether two names of arrays mean different memory, handles swapped from step to step included."""

from numba.core import ir

from ..ir.function import is_expr
from ..ir.leaves import HANDLES


class Apart:
    """For the arrays of a `Function` whose `Activity` is known."""

    def __init__(self, fn, activity, control):
        self.fn, self.activity, self.control = fn, activity, control
        self.makers = {leaf: op for op in activity.every() for leaf in op.defined()}
        aliases = [pair for op in activity.every() for pair in op.aliases]
        self.renamed = {target for _, target in aliases}

    def are_apart(self, first, second):
        """Whether two handles `(name, path)` never share memory; False where that is not known."""
        if self.activity.node(first) != self.activity.node(second):
            return True
        return self._are_apart(first, second, set())

    def _are_apart(self, first, second, assumed):
        first, second = self._root(first), self._root(second)
        if first == second or None in (first, second):
            return False
        pair = frozenset((first, second))
        if pair in assumed:  # by induction over the iterations
            return True
        assumed.add(pair)
        phis = [leaf for leaf in (first, second) if self._phi(leaf)]
        if any(ir.UNDEFINED in self._phi(leaf).incoming_values for leaf in phis):
            return False
        if len(phis) == 2 and self._place(first) == self._place(second):
            ways = zip(self._incoming(first), self._incoming(second), strict=True)
            return all(self._are_apart(x, y, assumed) for x, y in ways)
        if len(phis) == 1:
            (phi,) = phis
            other = second if phi == first else first
            return self._is_new_at(other, phi) or all(
                self._are_apart(x, other, assumed) for x in self._incoming(phi)
            )
        return not phis

    def _root(self, leaf):
        """The phi, parameter or new array of which a handle is another name; None if it is none."""
        name, path = leaf
        value = self.fn.definition(name)
        if isinstance(value, ir.Var):
            return self._root((value.name, path))
        if is_expr(value, "cast"):
            return self._root((value.value.name, path))
        known = name in self.fn.parameters or self._phi(leaf) or self._is_new(leaf)
        return leaf if known else None

    def _is_new(self, leaf):
        op = self.makers.get(leaf)
        return op is not None and op.known and leaf not in self.renamed

    def _phi(self, leaf):
        value = self.fn.definition(leaf[0])
        return value if is_expr(value, "phi") else None

    def _place(self, leaf):
        return self.fn.definitions[leaf[0]][0]

    def _incoming(self, leaf):
        phi = self._phi(leaf)
        pairs = sorted(zip(phi.incoming_blocks, phi.incoming_values, strict=True), key=_block)
        return [(v.name, leaf[1]) for _, v in pairs]

    def _is_new_at(self, leaf, phi):
        """Whether an array is made after a phi of the same iteration got its value."""
        if not self._is_new(leaf):
            return False
        loop = self.control.loops.get(self._place(phi))
        return loop is not None and self._place(leaf) in loop.body


def _block(pair):
    return pair[0]


def written_apart(op, apart):
    """Whether what a statement writes to shares memory with none other of its arguments."""
    handles = [
        leaf for var in op.arguments for leaf, found in op.leaves(var) if found.kind in HANDLES
    ]
    return all(
        handles.count(leaf) == 1
        and all(other == leaf or apart.are_apart(leaf, other) for other in handles)
        for leaf in op.stores
    )
