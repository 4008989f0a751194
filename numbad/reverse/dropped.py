"""Numbers that a choice may leave out, or that lie below a root: products there ask for zeros.

Where a comparison is lost, a cotangent is zero, and an infinite cost times zero is to be zero; below a
square root at zero a cotangent is infinite, and zero is to stay zero beside it. Rules whose partials are
no polynomials ask everywhere (`rules.poles`), for little; products and powers only where a choice, a
function that can be flat, or a root is near: within the expression, and through sums over loops.
"""

import operator
from collections import defaultdict

from numba.core import types
from numba.core.dispatcher import Dispatcher

from ..ir.callee import callee_of
from ..ir.function import is_expr
from ..rules.constant import NAN_TESTS
from ..rules.poles import (
    CARRYING,
    is_flat_somewhere,
    is_polynomial,
    is_quotient,
    is_rising,
    is_root,
)
from .ops.array import Load, Store
from .ops.moves import Move, Phi
from .ops.scalar_function import ScalarOp
from .ops.structural_functions import Extremum, Linear


def find_undecided(activity, control):
    """The roots whose cotangent may be zero because of their own value, as that of `math.sqrt(x)**2`.

    Zero says nothing about the derivative then, and it is nan at the pole, as in forward mode. The uses
    that make it so are in other blocks perhaps, which a branch passes by, or behind choices by mask;
    root -> these, as `(op, None)` and `(choice, leaf that it chooses)`, none where one is always reached.
    """
    return _Undecided(activity, control).run()


class _Undecided:
    def __init__(self, activity, control):
        self.activity, self.control = activity, control
        self.users, self.chosen = defaultdict(list), {}
        for op in activity.every():
            for source, _ in op.flows:
                self.users[source].append(op)

    def run(self):
        roots = [op for op in self.activity.every() if self._is_root(op)]
        every = set().union(*(self._near((op.target, ()), choices=True) for op in roots))
        found = {(op.target, ()): self._bent(op.label, (op.target, ()), every) for op in roots}
        return {leaf: uses for leaf, uses in found.items() if uses is not None}

    def _is_root(self, op):
        if not isinstance(op, ScalarOp) or not self.activity.active((op.target, ())):
            return False
        return is_root(op.function, _partials(self.activity, op))

    def _near(self, leaf, choices=False):
        """The leaves made of one by arithmetic, not round loops; by choices by mask, if asked for."""
        found, pending = {leaf}, [leaf]
        while pending:
            last = pending.pop()
            for op in self.users[last]:
                if self._carries(op) or (choices and op.chooses_by_mask):
                    new = {t for s, t in op.flows if s == last} - found
                    found |= new
                    pending += new
        return found

    def _carries(self, op):
        if isinstance(op, ScalarOp):
            return op.function in CARRYING or is_rising(op.function)
        return isinstance(op, Move) or (isinstance(op, Phi) and op.label not in self.control.loops)

    def _bent(self, label, leaf, every):
        """The uses of a leaf that `find_undecided` tells of, or None where there is no such use at all."""
        users = [(op, source) for source in self._near(leaf) for op in self.users[source]]
        found = {(op, None) for op, _ in users if self._bends(op, every)}
        if any(op.label == label for op, _ in found):
            return ()
        for op, source in users:
            if op.chooses_by_mask:
                if op not in self.chosen:
                    self.chosen[op] = self._bent(op.label, (op.target, ()), every)
                further = self.chosen[op]
                found.update([(op, source)] if further == () else further or ())
        return tuple(found) or None

    def _bends(self, op, every):
        """Whether a use multiplies what is made of roots, or gets into a flat place."""
        if not isinstance(op, ScalarOp):
            return False
        if op.function in CARRYING:
            return op.function in _PRODUCTS and all((v.name, ()) in every for v in op.arguments)
        return is_flat_somewhere(op.function, _partials(self.activity, op))


_PRODUCTS = {operator.mul, operator.imul}


def _partials(activity, op):
    """The partials of a function of numbers that count."""
    pairs = zip(op.arguments, op.expressions(), strict=True)
    return [partial for v, partial in pairs if activity.active((v.name, ()))]


def find_dropped(fn, activity, control):
    """The leaves whose definitions ask for zeros in all their products."""
    return _DroppedSearch(fn, activity, control).run()


def find_left_out(fn, activity):
    """The leaves that ask in products whether their cotangent is zero, since a store may leave it so.

    `np.nansum(r * r)` counts nothing of the elements that are NaN, `np.where(mask, r * r, 0.0)` of what lies
    outside the mask: there the product's cotangent is zero, and so is zero times NaN to be. What NumPy's
    functions store in arrays asks where the function tells NaN from numbers or has masks; what the
    user's own loops store, where it tells NaN. A loop that only multiplies takes a tenth longer for it.
    """
    tells_nan = does_tell_nan(fn)
    if not tells_nan and not _reads_masks(fn):
        return set()
    made_by = {t: op for op in activity.every() for _, t in op.flows}
    found, pending = set(), []
    for op in activity.every():
        if isinstance(op, Store) and (tells_nan or fn.is_written(op.statement.value)):
            pending += [source for source, _ in op.flows]
    while pending:
        leaf = pending.pop()
        op = made_by.get(leaf)
        if isinstance(op, ScalarOp | Move | Phi) and activity.active(leaf) and leaf not in found:
            found.add(leaf)
            pending += [source for source, target in op.flows if target == leaf]
    return found


def does_tell_nan(fn):
    """Whether the function asks of anything whether it is NaN, or calls one that names such a question."""
    if fn.tells_nan:
        return True
    calls = (value for _, value in fn.definitions.values() if is_expr(value, "call"))
    return any(_asks(callee_of(fn, call).key) for call in calls)


def _asks(callee):
    if isinstance(callee, Dispatcher):
        return not _NAMES.isdisjoint(callee.py_func.__code__.co_names)
    return any(callee is test for test in NAN_TESTS)


_NAMES = {test.__name__ for test in NAN_TESTS}


def _reads_masks(fn):
    """Whether the function reads an element of an array of bools."""
    read = (
        (name, value) for name, (_, value) in fn.definitions.items() if is_expr(value, "getitem")
    )
    return any(
        isinstance(fn.type_of(name), types.Boolean)
        and isinstance(fn.type_of(value.value), types.Array)
        for name, value in read
    )


class _DroppedSearch:
    def __init__(self, fn, activity, control):
        self.fn, self.activity, self.control = fn, activity, control
        self.made_by = {t: op for op in activity.every() for _, t in op.flows}
        self.found, self.seen = set(), set()

    def run(self):
        for op in self.activity.every():
            if isinstance(op, Phi):
                self._from_merge(op)
            elif isinstance(op, Extremum):
                self._spread([s for s, _ in op.flows], op.label, False)
            elif self._is_bent(op):
                root = is_root(op.function, _partials(self.activity, op))
                self._spread([s for s, _ in op.flows], op.label, root)
        return self.found

    def _is_bent(self, op):
        """Whether a function is one whose slope can be zero or infinite."""
        if not isinstance(op, ScalarOp) or is_quotient(op.function):
            return False
        return self.activity.active((op.target, ())) and not self._is_plain(op)

    def _is_plain(self, op):
        return is_quotient(op.function) or all(map(is_polynomial, _partials(self.activity, op)))

    def _from_merge(self, op):
        """What is there before the branches may be left out by the one that is taken."""
        if op.label in self.control.loops:
            return
        for source, _ in op.flows:
            made = self.made_by.get(source)
            if made is not None and made.label in self.control.dominators[op.label]:
                self._spread([source], op.label, False)

    def _spread(self, leaves, label, root):
        """Walk from uses in a block to the definitions of what is used."""
        pending = [(leaf, label) for leaf in leaves]
        while pending:
            leaf, label = pending.pop()
            op = self.made_by.get(leaf)
            if op is None or (leaf, root) in self.seen or not self.activity.active(leaf):
                continue
            if isinstance(op, Phi) and not self._passes(op, label, root):
                continue
            if isinstance(op, ScalarOp) and not self._is_plain(op):
                continue
            if isinstance(op, ScalarOp | Move | Phi) or (root and isinstance(op, Linear)):
                self.seen.add((leaf, root))
                self.found.add(leaf)
                pending += [(s, op.label) for s, t in op.flows if t == leaf]
            elif root and isinstance(op, Load):
                self.seen.add((leaf, root))
                pending += self._stored(op)

    def _stored(self, load):
        """What is stored in an array that is read: squares, added up in it, say."""
        node = self.activity.node((load.expr.value.name, ()))
        stores = (w for w in self.activity.writers.get(node, ()) if isinstance(w, Store))
        return [(source, w.label) for w in stores for source, _ in w.flows]

    def _passes(self, phi, label, root):
        """Roots ask of what a loop before them adds up; choices, of what other choices give."""
        loop = self.control.loops.get(phi.label)
        if loop is None:  # as the two results of `np.mean`
            return not root or self.fn.is_written(phi.target)
        return root and label not in loop.body
