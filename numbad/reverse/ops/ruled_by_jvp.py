"""A call of a function whose rule is a jvp alone: the jvp is linear in its tangents, and its adjoint by them
is the vjp.
"""

from numba import njit
from numba.core import types
from numba.core.dispatcher import Dispatcher

from ...compilation.inherited import inherited_options
from ...compilation.memo import remembered
from ...forward.custom import tangent, two_of
from ...forward.promote import own_effects
from ...rules.registry import JVP, generation
from ...source import define
from ..pullbacks import pullback
from .pulled import Pulled, copy_of, does_the_same_again, of_rule

_NO_LEVEL = 1 << 20  # of dual numbers: nothing has a tangent of it, for which `tangent` gives zeros


class RuledByJvp(Pulled):
    """The jvp is called at zero tangents and reversed, once the cotangent of the result is known."""

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
    primals = ", ".join(f"p{k}" for k in range(count))
    tangents = ", ".join(f"t{k}" for k in range(count))
    linear = define(
        f"def linear({primals}, {tangents}):\n"
        f"    return two_of(jvp(({primals},), ({tangents},)))[1]\n",
        {"jvp": jvp, "two_of": two_of("jvp", "(value, tangent)")},
        jvp.py_func,
    )
    pull = pullback(njit(linear), tuple(count + k for k in wrt))
    zeros = "".join(f", zero(args[{k}], 0, {_NO_LEVEL})" for k in range(count))
    given = "".join("None, " for _ in range(count))
    shadows = "".join(f"shadows[{k}], " for k in range(count))
    adjoints = "".join(f"adjoints[{count + k}], " for k in range(count))
    source = (
        "def pull_transposed(args, shadows, seed):\n"
        f"    _, adjoints = pull((*args{zeros}), ({given}{shadows}), seed)\n"
        f"    return None, ({adjoints})\n"
    )
    made = define(source, {"pull": pull, "zero": tangent})
    made.__numbad_rule_of__ = callee
    return njit(made)
