"""A call of a function within its own code: by a pair of functions, one for each sweep."""

from numba.core import types

from ...forward.dual_arrays import all_dual
from ...forward.promote import effects
from ...ir.fence import refuse
from ...ir.leaves import HANDLES, leaves
from .pulled import Pulled


class Recursive(Pulled):
    """The forward part leaves what the reverse part needs on the tape that both share."""

    def __init__(self, fn, label, statement, arguments, dispatcher, argtypes):
        self.argtypes = argtypes
        super().__init__(fn, label, statement, arguments, dispatcher)

    def changes(self):
        every = set(range(len(self.arguments)))
        return bool(effects(self.callee, every, self.argtypes).changed)

    def refuse_if_active(self, e):
        """What a pair cannot carry."""
        kinds = {leaf.kind for _, leaf in self.leaves(self.target)}
        if kinds & set(HANDLES) - {"array"} or isinstance(
            self.fn.type_of(self.target), types.Optional
        ):
            raise refuse(
                "a recursive call that returns a list, a record, an instance or perhaps None",
                self.loc,
                "return arrays and numbers, write the result into an argument, or use a loop",
            )

    def forward(self, e):
        if not self.is_live(e):
            e.append(self.statement)
            return
        self.refuse_if_active(e)
        wrt = self.wrt(e)
        shadows = [
            self._shadow(e, v, self.fn.type_of(v), ()) if k in wrt else e.none()
            for k, v in enumerate(self.arguments)
        ]
        forward, _ = e.pair(self.callee, self.argtypes, wrt, e.dual)
        arguments = e.tuple(self.arguments)
        if e.dual is not None:
            arguments = e.call(all_dual(e.dual(types.float64)), arguments)
        found = e.call(forward, e.var("$tape"), e.var("$top"), arguments, e.tuple(shadows))
        e.assign(e.item(found, 0), self.statement.target)
        e.assign(e.item(found, 1), e.var("$top"))
        for identity in filter(e.active, self.defined()):
            shadow = e.item(found, 2)
            for k in identity[1]:
                shadow = e.item(shadow, k)
            e.set_shadow(identity, shadow)

    def shadows(self, e):
        """Nothing: the forward part has returned those of the arrays that it returns."""

    def seed_of_array(self, e, leaf):
        """None: what has been added to the shadow is there where the reverse part looks."""
        return e.none()

    def reverse(self, e):
        if not self.is_live(e):
            return
        wrt = self.wrt(e)
        seed = self.seed(e, self.fn.type_of(self.target))
        _, back = e.pair(self.callee, self.argtypes, wrt, e.dual)
        pair = e.call(back, e.var("$tape"), e.var("$top"), seed)
        e.assign(e.item(pair, 1), e.var("$top"))
        adjoints = e.item(pair, 0)
        for k in wrt:
            ty = self.fn.type_of(self.arguments[k])
            if any(leaf.kind == "scalar" for leaf in leaves(ty)):
                self._add_floats(e, self.arguments[k], ty, e.item(adjoints, k), ())
