"""Sums of small terms: what a term reads is at hand when it is added, and is not read again.

The iterations of such loops are reversed one by one, as those of all loops whose iterations meet only in a
sum. It is done even if nothing would be recorded, where the adjoint of the sum is known before the loop.
Loops may lie in each other, with all that is differentiated in the innermost one:
`for i in ...: for k in ...: s += a[i, k] * b[k, i]`.
"""

from ..independent import INDEPENDENT, Independent
from ..ops.array import Load
from ..ops.moves import Move, Phi
from ..ops.scalar_function import ScalarOp
from ..switches import Switch
from .iterations import Iterations, is_seeded

FUSED = Switch(
    "fused",
    "small terms of a loop's sum are reversed as they are added, in nested loops too",
)

MOST = 4  # operations a term: of more, the reverse gains more by a loop of its own that vectorises


def fused_loops(fn, activity, control, plan):
    """The outermost loops of this kind, as `Nest`."""
    candidates = [
        Nest(fn, activity, control, plan, loop)
        for loop in control.loops.values()
        if loop.parent is None
    ]
    return [nest for nest in candidates if nest.is_fused()]


class Nest(Independent):
    """A loop and the loops that lie in each other within it; `inner` is the innermost one."""

    def __init__(self, fn, activity, control, plan, loop):
        super().__init__(fn, activity, control, plan, loop)
        self.loops = sorted(
            (o for o in control.loops.values() if o.body <= loop.body), key=lambda o: -len(o.body)
        )
        inner = self.loops[-1]
        self.inner = Independent(fn, activity, control, plan, inner)
        self.outside = [op for op in self.ops if op.label not in inner.body]

    def is_fused(self):
        return (
            self._is_chain()
            and self.is_independent()
            and self._adds_in_innermost()
            and self._is_small()
            and self.way_to_result() is not None
        )

    def _is_chain(self):
        pairs = zip(self.loops, self.loops[1:], strict=False)
        return all(inner.parent is outer for outer, inner in pairs)

    def _adds_in_innermost(self):
        """Whether the innermost loop carries the sum, and the others only pass it on."""
        inner = self.inner
        return (
            inner.is_left_at_start()
            and inner.carries_one_of(self.sums)
            and not any(self._active(h) for op in self.ops for h in op.stores)
            and all(map(self._passes_on, self.outside))
        )

    def _passes_on(self, op):
        found = [target for _, target in op.flows if self._active(target)]
        return not found or (isinstance(op, Move | Phi) and all(t in self.sums for t in found))

    def _is_small(self):
        """Whether a term is made of few operations, and of no load that is the same in many terms."""
        made = [op for op in self.inner.ops if any(self._active(t) for _, t in op.flows)]
        scalars = sum(isinstance(op, ScalarOp) for op in made)
        plain = all(isinstance(op, Load | ScalarOp | Move | Phi) for op in made)
        loads = [op for op in made if isinstance(op, Load)]
        steady = any(self.plan.unchanged.outermost_loop(op.target) for op in loads)
        return plain and scalars <= MOST and not steady


class Fused(Iterations):
    """The same as a part of a `Sweep`; what is around the innermost loop has no reverse."""

    allocates = False

    @classmethod
    def find(cls, sweep, taken):
        if not (INDEPENDENT.is_on() and FUSED.is_on() and is_seeded(sweep)):
            return {}
        made = [cls(sweep, nest) for nest in fused_loops(*sweep.stages())]
        return {loop.header: part for part in made for loop in part.loops}

    def __init__(self, sweep, found):
        super().__init__(sweep, found, seeded=True)
        self.loops, self.turning = found.loops, found.inner.loop
        self.turning_sum = found.inner.sum

    def ends_iteration(self, source, target):
        return target == self.turning.header and source in self.turning.body

    def passes_by(self, label):
        return label in self.loop.body and label not in self.turning.body
