"""A parallel loop that was taken out of its function: see `reverse/parallel.py`."""

from numba.core import types

from ...ir.leaves import HANDLES, leaves
from ..arena import arena_room_like
from ..contributions import STRONG_PRODUCT
from ..memory_helpers import add_scaled
from .pulled import Pulled


class Parallel(Pulled):
    """A call that runs all iterations; its adjoint runs in parallel as well."""

    def analyse(self):
        effects = self.callee.effects
        for source, target in effects.flows:
            pair = self._leaf(source), self._leaf(target)
            if pair[0] != pair[1]:
                self.flows.append(pair)
        self.stores = [self._leaf(leaf) for leaf in effects.written]

    def _leaf(self, leaf):
        k, path = leaf
        return (self.target if k is None else self.arguments[k].name), path

    # -- the sweeps --------------------------------------------------------------------------

    def forward(self, e):
        if self.is_reversed_at_once(e):
            self._reverse_at_once(e)
            return
        self.keep_arguments(e)
        if e.dual is None:
            e.append(self.statement)
            return
        pair = self._call(e, (), self.arguments, [e.none()] * len(self.arguments), e.none())
        e.assign(e.item(pair, 0), self.statement.target)

    def _call(self, e, wrt, args, shadows, seed):
        """The pullback: in parallel, but for dual numbers."""
        pull = self.callee.pullback(wrt) if e.dual is None else self.callee.kernel(wrt)
        return e.call(pull, e.tuple(args), e.tuple(shadows), seed)

    def _kept_argument(self, e, var):
        """What the second evaluation only writes to has room of its own; what is in it does not matter."""
        if self._is_only_written(var):
            return e.call(arena_room_like, e.var("$tape"), var)
        return super()._kept_argument(e, var)

    def kept_type(self, k):
        """None: no function that has such a loop is split."""

    def _is_gone(self, e, var):
        return False  # large arrays that a loop over time exchanges: the variables hold them

    def _is_only_written(self, var):
        """Whether none of the arguments that an array is, rows of it among them, is read."""
        effects = self.callee.effects
        own = [(k, ()) for k, v in enumerate(self.arguments) if v.name == var.name]
        return all(leaf in effects.written and leaf not in effects.read for leaf in own)

    def _pull(self, e, wrt, args, shadows, seed):
        return self._call(e, wrt, args, shadows, seed)

    def reverse(self, e):
        if self.is_reversed_at_once(e):
            self._add_multiples(e)
        else:
            super().reverse(e)

    # -- a loop that makes one sum -----------------------------------------------------------

    def is_reversed_at_once(self, e):
        """Whether the forward sweep finds the adjoint, as if that of the sum were one."""
        once = self.label not in e.repeated or not any(
            leaf.kind in HANDLES for _, leaf in self._active_leaves(e)
        )
        plain = isinstance(self.fn.type_of(self.target), types.Float) and not self.stores
        return plain and once and e.active((self.target, ()))

    def _active_leaves(self, e):
        for k in self.wrt(e):
            for leaf in leaves(self.fn.type_of(self.arguments[k])):
                if e.active((self.arguments[k].name, leaf.path)):
                    yield k, leaf

    def _reverse_at_once(self, e):
        wrt = self.wrt(e)
        shadows = [
            self._own_shadow(e, k, self.fn.type_of(v), ()) if k in wrt else e.none()
            for k, v in enumerate(self.arguments)
        ]
        pair = self._call(e, wrt, self.arguments, shadows, e.const(1.0))
        e.assign(e.item(pair, 0), self.statement.target)
        adjoints = e.item(pair, 1)
        for k, leaf in self._active_leaves(e):
            if leaf.kind not in HANDLES:
                adjoint = e.item(adjoints, k)
                for i in leaf.path:
                    adjoint = e.item(adjoint, i)
                e.assign(adjoint, self._kept(e, k, leaf.path))

    def _kept(self, e, k, path):
        return e.extra(self, _key(k, path))

    def _own_shadow(self, e, k, ty, path):
        """Zeros, which the adjoint of the loop is added to."""
        if not any(leaf.kind in HANDLES for leaf in leaves(ty)):
            return e.none()
        if isinstance(ty, types.BaseTuple):
            return e.tuple([self._own_shadow(e, k, t, (*path, i)) for i, t in enumerate(ty.types)])
        shadow = e.new_shadow_at((self.arguments[k].name, path))
        return e.assign(shadow, self._kept(e, k, path))

    def _add_multiples(self, e):
        factor = e.take((self.target, ()))
        for k, leaf in self._active_leaves(e):
            identity = self.arguments[k].name, leaf.path
            adjoint = e.extra_value(self, _key(k, leaf.path))
            if leaf.kind in HANDLES:
                e.call(add_scaled, e.shadow(identity), factor, adjoint)
            else:
                e.add(identity, e.call(STRONG_PRODUCT, factor, e.tuple([adjoint])))


def _key(k, path):
    return "_".join(map(str, (k, *path)))
