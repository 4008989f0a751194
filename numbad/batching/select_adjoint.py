"""The adjoint of a choice by mask."""

from numba.core import types
from numba.extending import intrinsic

from ..lanes.varying import anywhere, both, either, guarded, other, select
from ..reverse.ops.base import Constant, Op
from ..reverse.ops.by_name import FUNCTIONS


class SelectByMask(Op):
    """`select(mask, x, y)`: what is not chosen has the adjoint zero, whatever it is multiplied by."""

    cheap = chooses_by_mask = True

    def __init__(self, fn, label, statement, call):
        self.mask, self.x, self.y = call.args
        super().__init__(fn, label, statement)

    def analyse(self):
        for chosen in (self.x, self.y):
            self.link(chosen, self.target)

    def reverse(self, e):
        target = self.target, ()
        if not e.pending(target):
            return
        adjoint = e.take(target)
        mask = e.value(self.mask)
        for var, function in ((self.x, where_held), (self.y, where_not_held)):
            leaf = var.name, ()
            if (leaf, target) in self.flows and e.active(leaf):
                e.note_reached(self, leaf, mask, function is where_held)
                e.add(leaf, e.call(function, mask, adjoint), of=target)


@intrinsic
def where_held(typingctx, mask, adjoint):
    """The adjoint where the mask holds, else zero."""
    return _masked(mask, adjoint, True)


@intrinsic
def where_not_held(typingctx, mask, adjoint):
    """Zero where the mask holds, else the adjoint."""
    return _masked(mask, adjoint, False)


def _masked(mask, adjoint, held):
    ty = types.unliteral(adjoint)

    def codegen(context, builder, sig, args):
        taken, value = args
        values = value, context.get_constant_null(ty)
        return builder.select(taken, *(values if held else values[::-1]))

    return ty(mask, adjoint), codegen


class Mask(Constant):
    """A mask made of masks."""

    cheap = True


def _mask(fn, label, s, call):
    return Mask(fn, label, s)


FUNCTIONS[select] = FUNCTIONS[guarded] = SelectByMask
for _function in (anywhere, both, either, other):
    FUNCTIONS[_function] = _mask
