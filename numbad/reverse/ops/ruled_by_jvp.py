"""A call of a function whose rule is a jvp alone: the jvp is linear in its tangents, and its adjoint by them
is the vjp.

The jvp is reversed at tangents that are not zero, so that what it does for zero alone is not taken for the
whole, and iterations that end when they have converged do not end at once.
"""

from numba import njit
from numba.core import types
from numba.core.dispatcher import Dispatcher

from ...compilation.inherited import inherited_options
from ...compilation.memo import remembered
from ...forward.custom import two_of
from ...forward.promote import own_effects
from ...rules.registry import JVP, generation, name_of
from ...source import define
from ..memory_helpers import add_cotangent
from ..pullbacks import pullback
from ..tangents_of_rules import along, copied, make_check, still, tangent_of
from .pulled import Pulled, copy_of, does_the_same_again, of_rule


class RuledByJvp(Pulled):
    """The jvp is called and reversed once the cotangent of the result is known."""

    def changes(self):
        return False  # `RuledChange` is the call of one that does

    def draws(self):
        given = [types.unliteral(self.fn.type_of(v)) for v in self.arguments]
        return isinstance(self.callee, Dispatcher) and bool(own_effects(self.callee, given).random)

    def is_pulled_plainly(self):
        return does_the_same_again(self)

    def forward(self, e):
        if any(self._is_active(e, v) for v in self.arguments):
            self.refuse_shared(e)
        super().forward(e)

    def reverse(self, e):
        """Adjoints of tangents are gathered apart: the jvp may write to the tangents."""
        self._gathered = []
        super().reverse(e)
        for leaf, gathered in self._gathered:
            if e.active(leaf):
                e.call(add_cotangent, e.shadow(leaf), gathered)

    def shadow_of_array(self, e, leaf):
        gathered = e.new_shadow_at(leaf)
        self._gathered.append((leaf, gathered))
        return gathered

    def pull_of(self, wrt):
        if self._is_in_its_rule():
            return pullback(_without_rule(self.callee), wrt)
        return _transposed(self.callee, wrt, len(self.arguments))

    def _is_in_its_rule(self):
        """Whether the jvp of a linear function calls it with the tangents: that means its code."""
        chain = self.fn.chains.get(self.target, ())
        return isinstance(self.callee, Dispatcher) and any(
            getattr(called.py_func, "__numbad_rule_of__", None) is self.callee
            for called, _ in chain
        )


def _without_rule(function):
    """A dispatcher of the same code, which has no rule."""
    known = remembered(function, "without its rule")
    if "code" not in known:
        known["code"] = njit(copy_of(function.py_func), **inherited_options(function))
    return known["code"]


def _transposed(callee, wrt, count):
    """The dispatcher `pull(args, shadows, seed) -> (None, adjoints)` of a function with a jvp."""
    jvp = of_rule(JVP[callee], callee)
    known = remembered(jvp, "transposed")
    key = generation(), wrt, count
    if key not in known:
        known[key] = _write(jvp, wrt, count, callee)
    return known[key]


def _write(jvp, wrt, count, callee):
    """The same for a jvp of `count` arguments: that of `linear(*primals, *tangents)` by the tangents."""
    primals = ", ".join(f"p{k}" for k in range(count))
    tangents = ", ".join(f"t{k}" for k in range(count))
    linear = define(
        f"def linear({primals}, {tangents}):\n"
        f"    return tangent_of(two_of(jvp(({primals},), ({tangents},))))\n",
        {"jvp": jvp, "two_of": two_of("jvp", "(value, tangent)"), "tangent_of": tangent_of},
        jvp.py_func,
    )
    pull = pullback(njit(linear), tuple(count + k for k in wrt))
    tried = "".join(f"{'along' if k in wrt else 'still'}(args[{k}], {k}), " for k in range(count))
    nothing = "None, " * count
    lines = [
        "def pull_transposed(args, shadows, seed):",
        "    before = copied(seed)",
        f"    value, adjoints = pull((*args, {tried}), ({nothing}*shadows), seed)",
        f"    adjoints = adjoints[{count}:]",
        f"    check(value, before, ({tried}), adjoints, shadows)  # the jvp may have written to others",
        "    return None, adjoints",
    ]
    namespace = {"pull": pull, "along": along, "still": still, "copied": copied}
    made = define("\n".join(lines) + "\n", namespace | {"check": make_check(name_of(callee))})
    made.__numbad_rule_of__ = callee
    return njit(made)
