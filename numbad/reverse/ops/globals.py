"""Global and closure variables that are handles of memory."""

from ...forward.dual_arrays import as_dual
from .base import Op


class GlobalHandle(Op):
    """A global or closure variable that is an array or a list: constant.

    A name may stand for it on one path and for an active array on another; what is added to its
    shadow is never looked at.
    """

    def forward(self, e):
        """Beside dual numbers, a name that stands for an active array elsewhere holds duals."""
        s = self.statement
        if e.dual is None or not any(e.active(identity) for identity in self.defined()):
            e.append(s)
            return
        dual = e.dual(self.fn.type_of(s.target).dtype)
        e.assign(e.call(as_dual(dual), e.assign(s.value)), s.target)

    def shadows(self, e):
        for identity in self.defined():
            if e.active(identity):
                e.set_shadow(identity, e.new_shadow(self.statement.target))
