"""Where the sweeps begin and end: parameters and their shadows, the seed, the adjoints returned."""

import operator

from numba.core import ir, types

from ..ir.leaves import HANDLES, leaves
from .arena import borrow
from .cotangents import Lanes
from .memory_helpers import add_into
from .names import TAPE, TOP
from .row_seeds import seed_rows, shapes_of
from .value_tape import tape_start


class Boundary:
    """The part of a `Sweep` that takes arguments and returns adjoints."""

    takes_array_seeds = True  # False: the caller adds to the shadows of the arrays that it got

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
            self._parameter(k, name)
            self._parameter_shadows(k, name)
        e.assign(e.call(tape_start, e.var(TAPE)), e.var(TOP))
        for strategy in self.every_strategy():
            strategy.begin()
        self._zero_adjoints()
        block.body[start:start] = e.prelude
        block.append(ir.Jump(self.forward_labels[self.fn.entry], e.loc))
        self.blocks[0] = block

    def _parameter(self, k, name):
        """Take an argument over, with no reference of its own where nothing can hold one."""
        e, ty = self.e, self.fn.type_of(name)
        given = ir.Expr.static_getitem(e.var("$args"), k, None, e.loc)
        if isinstance(ty, types.Array) and not self.escape.may_leave((name, ())):
            given = ir.Expr.call(e.function(borrow), [e.assign(given)], (), e.loc)
        e.assign(given, e.var(name))

    def _zero_adjoints(self):
        e = self.e
        for leaf in sorted(self._bars(), key=str):
            with e.within(self.regions.get(self.plan.place_of(leaf[0]))):
                e.assign(e.zero(leaf), e.bar(leaf))
        for leaf in sorted((leaf for leaf, uses in e.undecided.items() if uses), key=str):
            with e.within(self.regions.get(self.plan.place_of(leaf[0]))):
                e.assign(e.const(False), e.reached(leaf))
        for part in self.parts():
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

    def _seed(self):
        e = self.e
        e.start(self.block_at(self.seed_label))
        e.loc = self.fn.blocks[self.exit].terminator.loc
        ty = self.fn.type_of(self.result)
        if isinstance(e.dual, Lanes):
            seed_rows(e, self.result.name, ty)
        for path, kind, _ in () if isinstance(e.dual, Lanes) else leaves(ty):
            leaf = self.result.name, path
            is_handle = kind in HANDLES
            if not self.activity.active(leaf) or (is_handle and not self.takes_array_seeds):
                continue
            if leaf not in self.activity.seeded:
                continue
            seed = e.var("$seed")
            for k in path:
                seed = e.item(seed, k)
            if is_handle:
                e.call(add_into, e.shadow(leaf), seed)
            else:
                bar = e.bar(leaf)
                e.binop(operator.add, bar, seed, bar)
        e.append(ir.Jump(self.reverse_labels[self.exit], e.loc))

    def _finish(self):
        """Return the value and the adjoints of the parameters."""
        e = self.e
        value = e.var(self.result.name)
        if isinstance(e.dual, Lanes) and e.dual.shapes:
            value = shapes_of(e, value, self.fn.type_of(self.result))
        pair = e.tuple([value, e.tuple(self._adjoints())])
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
        if isinstance(e.dual, Lanes):
            return e.bar((name, path))  # whoever takes the lanes apart sees to it
        return e.binop(operator.add, e.bar((name, path)), e.const(0.0))
