"""`quad`: an integral as an operator on the integrand, differentiated by parameters and limits.

Leibniz's rule: `d int_a^b f(x, p) dx = f(b, p) db - f(a, p) da + int_a^b (df/dp) dp dx`. The integral
on the right is integrated with its own error control, by dual numbers.
"""

import numpy as np
from numba.core import types
from numba.extending import register_jitable

from ..errors import ArgumentError, ConvergenceError, SingularError
from ..forward.access import promote_like, tangent_of
from ..forward.custom import value_of
from ..forward.dual import Dual, top_dual
from ..forward.dualize import replacement
from ..operators.argument_structure import describe, leaves, parse, render
from ..operators.first_order import value_and_grad
from ..operators.generated_names import Writer, indented
from ..operators.operator_dispatcher import build
from ..operators.results import plain_result, scalar_result
from ..source import define
from . import quadrature
from .equation import Implicit, ImplicitDispatcher
from .implicit_pullback import ImplicitPullback
from .watch import differs, put_back, snapshot, watching

PARAMETERS = "a, b, args, epsabs, epsrel, limit"


class IntegralDispatcher(ImplicitDispatcher):
    """The compiled integral."""

    numbad_pullback_at = None  # its derivatives are integrals of their own

    def numbad_pullback(self, wrt):
        return build(IntegralPullback(self, wrt))


class Integral(Implicit):
    """The integral of `f(x, *args)` over `x` from `a` to `b`."""

    name = "quad"
    dispatcher_class = IntegralDispatcher

    def parameters(self):
        return PARAMETERS, {}

    def generate(self, typingctx, argtypes):
        a, b, args = (types.unliteral(ty) for ty in argtypes[:3])
        for name, ty in (("a", a), ("b", b)):
            if not isinstance(ty, types.Float | types.Integer | Dual):
                raise ArgumentError(f"nd.quad: limit {name} is a float, not {describe(ty)}")
        given = self.arguments(args)
        tys = (types.float64, *(ty for _, ty in given))
        scalar_result(self, parse(plain_result(typingctx, self.f, tys), ""))
        tops = [ty for ty in (a, b) if isinstance(ty, Dual)]
        if tops:
            return self._moving({"a": a, "b": b}, max(dual.tag for dual in tops))
        return self._fixed(given)

    def _fixed(self, given):
        """For limits that are floats."""
        name = self.told
        told = {
            quadrature.TOO_MANY: f"nd.quad: the integral of {name} is not accurate to epsabs and "
            "epsrel with `limit` subintervals",
            quadrature.NOT_FINITE: f"nd.quad: {name} or its derivative is NaN or infinite within the "
            "range, or the range is",
        }
        call = "value, status = integrate(f, float(a), float(b), args, epsabs, epsrel, limit)"
        args = types.BaseTuple.from_types([ty for _, ty in given])
        lines = [f"def quad({PARAMETERS}):", *map(indented, watching(self, args, call))]
        for status, what in told.items():
            lines.append(f"    if status == {status}:")
            lines.append(f"        raise ConvergenceError({what!r})")
        others = "".join(f", {source}" for source, _ in given)
        lines.append(f"    return promote_like(value{others})")
        namespace = {
            "integrate": quadrature.integrate,
            "f": replacement(self.f),
            "ConvergenceError": ConvergenceError,
            "promote_like": promote_like,
            "snapshot": snapshot,
            "differs": differs,
            "put_back": put_back,
            "ArgumentError": ArgumentError,
        }
        return define("\n".join(lines) + "\n", namespace)

    def _moving(self, limits, tag):
        """For limits that are duals: those of one level less, and what the limits' motion adds."""
        told = f"nd.quad: {self.told} is not finite at a limit that the derivative is taken by"
        lines = [
            f"def quad({PARAMETERS}):",
            f"    lower, upper = 1.0 * value_of(a, {tag}), 1.0 * value_of(b, {tag})",
            "    value = inner(lower, upper, args, epsabs, epsrel, limit)",
        ]
        moved = ""
        for limit, place, sign in (("a", "lower", "-"), ("b", "upper", "+")):
            ty = limits[limit]
            if isinstance(ty, Dual) and ty.tag == tag:  # one that is fixed may be a singularity
                moved += f" {sign} by_{limit}"
                lines += [
                    f"    by_{limit}, found = at_limit(f, {place}, tangent_of({limit}), args)",
                    "    if not found:",
                    f"        raise SingularError({told!r})",
                ]
        lines.append(f"    return value{moved}")
        namespace = {
            "inner": build(self.below()),
            "f": replacement(self.f),
            "at_limit": quadrature.at_limit,
            "tangent_of": tangent_of,
            "value_of": value_of,
            "SingularError": SingularError,
        }
        return define("\n".join(lines) + "\n", namespace)


class IntegralPullback(ImplicitPullback):
    """`pull(args, shadows, seed) -> (value, adjoints)`: the gradient in forward mode, times the seed.

    Each pass of 16 parameters is an integral with its own error control, which the points of a
    reverse sweep, chosen for the value, would not have.
    """

    def generate(self, typingctx, argtypes):
        args, _, _ = argtypes
        self.code = Writer({"np": np, "add_scaled": add_scaled})
        some = any(top_dual(ty) for ty in argtypes)
        wrt = [k for k in self.wrt if k < 3 and _floats(args[k])]
        given = ", ".join(f"args[{k}]" for k in range(len(args)))
        called = value_and_grad(self.f, tuple(wrt), mode="forward") if wrt else self.f
        lines = [f"value{', gradient' if wrt else ''} = called({given})"]
        parts = ["None"] * len(args)
        for j, k in enumerate(wrt):
            parts[k] = self._deliver(args[k], k, f"gradient[{j}]", some, lines)
        lines.append("return value, (" + "".join(f"{part}, " for part in parts) + ")")
        self.code.namespace["called"] = called
        text = "\n".join(indented(line) for line in lines)
        return define(f"def pullback_source(args, shadows, seed):\n{text}\n", self.code.namespace)

    def _deliver(self, ty, k, gradient, some, lines):
        """Add to the shadows of arrays; source of the adjoint of argument `k`."""
        tree, parts = parse(ty, f"shadows[{k}]"), parse(ty, gradient)
        numbers = {}
        for leaf, part in zip(leaves(tree), leaves(parts), strict=True):
            constant = some and top_dual(leaf.type) is None
            if leaf.kind == "scalar" and constant:
                numbers[id(leaf)] = self.code.zero(leaf.type)
            elif leaf.kind == "scalar":
                numbers[id(leaf)] = self.code.cast(f"seed * {part.source}", leaf.type)
            elif leaf.kind == "array" and not constant:
                lines.append(f"add_scaled({leaf.source}, seed, {part.source})")
        return render(tree, lambda leaf: numbers.get(id(leaf), "None"), self.code.namespace)


def _floats(ty):
    return any(leaf.kind != "constant" for leaf in leaves(parse(ty, "")))


@register_jitable
def add_scaled(a, factor, b):
    """Add `factor * b` to array `a` of the same shape."""
    for index in np.ndindex(a.shape):
        a[index] += factor * b[index]
