"""The record of derivative rules, and the look-up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakSet

from numba.core.dispatcher import Dispatcher

from numbad.errors import RuleError
from numbad.rules.expression import Answer, Arg, as_expr, evaluate
from numbad.rules.expression import call as build
from numbad.rules.tracing import arity, trace

SCALAR: dict = {}
"""function -> ScalarRule: partial derivatives, symbolically."""

CONSTANT: set = set()
"""Functions whose derivative is zero, or whose result is not a float."""

STRUCTURAL: dict = {}
"""function -> how the engines treat it: what partials of scalars cannot express."""

NON_HOLOMORPHIC: dict = {}
"""function -> what the engines do for complex arguments; the scalar rule is for floats."""

JVP: dict = {}
"""function -> jvp(primals, tangents) -> (value, tangent), the user's own."""

VJP: dict = {}
"""function -> (forward, backward), the user's own."""

CONSTANT_CALLS: WeakSet = WeakSet()
"""Jitted functions of numbad's own whose results have no derivative."""

STOPPING: set = set()
"""Functions that return their argument as a constant."""

COPYING: set = set()
"""Those among them that return copies of arrays."""

HOLOMORPHIC: dict = {}
"""real function -> the same function where the argument is complex."""

GIVEN: dict = {}
"""Functions that are no dispatchers (`math.erf`, a ufunc, an intrinsic) and got a rule of the user's."""

on_register: list = []
"""Called with every function that gets a rule after the import."""

on_ship: list = []
"""Called with functions whose rules are numbad's own, and loaded where a program needs them."""


@dataclass(frozen=True, eq=False)
class ScalarRule:
    """Partial derivatives of a function of scalars.

    `partials(ans, *args)` returns one expression for each argument. The same partials hold for
    complex arguments of a holomorphic function, unless `complex_partials` says otherwise.
    """

    fn: Callable
    partials: Callable
    complex_partials: Callable | None = None
    _traces: dict = field(default_factory=dict, repr=False)

    def trace(self, nargs, literals=None, kind="real"):
        """The partials as a tuple of `nargs` expressions.

        `literals` maps positions to numbers known at compile time, which fold; `kind` is "real"
        or "complex". Raises RuleError where the partials do not take so many arguments.
        """
        literals = literals or {}
        key = nargs, kind, *((k, repr(v)) for k, v in sorted(literals.items()))
        if key not in self._traces:
            self._traces[key] = self._trace(nargs, literals, kind)
        return self._traces[key]

    def _trace(self, nargs, literals, kind):
        least, most = arity(self.partials)
        if not least <= nargs + 1 <= most:
            raise RuleError(f"rule for {name_of(self.fn)}: its partials do not take {nargs} values")
        args = [as_expr(literals[k]) if k in literals else Arg(k) for k in range(nargs)]
        if kind == "complex" and self.fn in NON_HOLOMORPHIC:
            raise RuleError(f"{name_of(self.fn)} is not holomorphic: {NON_HOLOMORPHIC[self.fn]}")
        if kind == "real":
            return trace(name_of(self.fn), self.partials, Answer(), args)
        partials = self.complex_partials or self.partials
        exprs = trace(name_of(self.fn), partials, Answer(), args)
        return evaluate(exprs, [Arg(k) for k in range(nargs)], Answer(), as_expr, _complex_call)


def _complex_call(fn, operands):
    return build(HOLOMORPHIC.get(fn, fn), *operands)


def name_of(fn):
    """What messages call a function."""
    module, name = getattr(fn, "__module__", None), getattr(fn, "__name__", None)
    if name is None:
        return repr(fn)
    return f"{module}.{name}" if module and module != "__main__" else name


def find(fn):
    """The ScalarRule of a function, or None; of what has no hash as well."""
    try:
        return SCALAR.get(fn)
    except TypeError:  # as with foreign functions of ctypes
        return None


def ship(rules):
    """Add rules of numbad's own, function -> partials, which a program has asked for."""
    added = {fn: ScalarRule(fn, partials) for fn, partials in rules.items() if fn not in SCALAR}
    SCALAR.update(added)
    for hook in on_ship:
        hook(tuple(added))


@dataclass(frozen=True, eq=False)
class Linearized:
    """A jvp in two parts, so that several tangents share what does not depend on them."""

    forward: Callable
    push: Callable | dict


@dataclass(frozen=True, eq=False)
class ImplicitRule:
    """The jvp of a matrix that makes a linear function of it zero: one system for all tangents."""

    forward: Callable
    defect: Callable
    solve: Callable


def linear_rule(fn, forward, push, pull):
    """Give a jitted function of numbad's own its derivative as a linear map and the adjoint of it.

    All three are jitted functions. `forward(*args)` returns `(value, residuals)`, for both modes;
    `push(residuals, tangents)` the tangent of the value, `pull(residuals, cotangent)` a tuple of
    cotangents, None for zero. The tangent of a constant argument is None; where that may be either,
    `push` is a dict: a tuple of which arguments are not constant -> the jitted function.
    """
    JVP[fn] = Linearized(forward, push)
    VJP[fn] = (forward, pull)


def implicit_rule(fn, forward, defect, solve, pull):
    """Give a jitted function, whose value is the matrix `x` with `defect(*args, x) == 0`, its derivative.

    `solve(residuals, moved)` returns the tangent of `x` by that of the defect at a constant `x`, each
    column by itself; `forward` and `pull` as in `linear_rule`.
    """
    JVP[fn] = ImplicitRule(forward, defect, solve)
    VJP[fn] = (forward, pull)


_generation = 0
_given = 0


def generation():
    """A number that grows with every rule that is given: what was built before knows less."""
    return _generation


def rules_given():
    """How many rules have been given: what was compiled for dual numbers before knows less."""
    return _given


def renew():
    """Let everything be built anew from here on."""
    global _generation
    _generation += 1


def announce(fn):
    """Tell of a function that got a rule after the import: what was compiled before counts no more.

    What is loaded later reads `GIVEN`.
    """
    global _given
    _given += 1
    if not isinstance(fn, Dispatcher):
        GIVEN[fn] = None
    renew()
    for hook in on_register:
        hook(fn)
