"""Writes the code of a solution: for floats the search, for dual numbers the theorem."""

from numba.core import types

from ..errors import ArgumentError, ConvergenceError, SingularError
from ..forward.access import primal
from ..forward.custom import value_of
from ..forward.dual import base_scalar, is_of_one_level, top_dual
from ..forward.dual_arrays import plain
from ..forward.dualize import replacement
from ..operators.argument_structure import describe, parse
from ..operators.first_order import jacobian
from ..operators.generated_names import Writer, indented
from ..operators.operator_dispatcher import build
from ..operators.results import plain_result, scalar_result
from ..operators.tangent import derivative, jvp
from ..source import define
from . import newton, regular
from .correction import corrected
from .linear_systems import minus_identity
from .watch import differs, put_back, snapshot, watching

PARAMETERS = "x0, args, bracket, xtol, rtol, maxiter"

STATUS = {
    newton.TOO_MANY: "did not converge within maxiter iterations",
    newton.STUCK: "does not converge: its last step is none, or makes the residual no smaller. "
    "Way out: another start, or a bracket",
    newton.NOT_FINITE: "met NaN or infinity",
    newton.NO_SIGN_CHANGE: "needs a bracket at whose ends the function has different signs",
    newton.JUMP: "found no root: the function jumps where its sign changes",
    newton.NO_MINIMUM: "ends where there is no minimum: at an end of the bracket, or at a maximum or "
    "saddle",
    newton.WRONG_LENGTH: "needs a function that returns as many numbers as there are unknowns",
}


class Code(Writer):
    """Code about one operator, under construction; `sources` are those of its arguments."""

    def __init__(self, operator, argtypes, sources):
        super().__init__()
        self.operator = operator
        self.x0, self.args, self.bracket = (types.unliteral(ty) for ty in argtypes[:3])
        self.sources = sources
        self.arguments = operator.arguments(self.args, sources[1])
        self.scalar = self._is_scalar()
        self.top = top_dual(self.args)
        self.lines = []
        self.namespace.update(
            plain=plain,
            snapshot=snapshot,
            differs=differs,
            put_back=put_back,
            minus_identity=minus_identity,
            primal=primal,
            ArgumentError=ArgumentError,
            ConvergenceError=ConvergenceError,
            SingularError=SingularError,
        )

    def _is_scalar(self):
        ty = self.x0
        array = isinstance(ty, types.Array) and ty.ndim == 1
        if isinstance(base_scalar(ty.dtype if array else ty), types.Float | types.Integer):
            return not array
        raise ArgumentError(
            f"nd.{self.operator.name}: x0 is a float or a 1-D array of floats, not {describe(ty)}"
        )

    def given(self, prefix=None):
        """Source of the arguments after `x`, of `prefix` in place of the tuple."""
        sources = [source for source, _ in self.arguments]
        if prefix is not None:
            sources = [f"{prefix}[{k}]" for k in range(len(sources))]
        return "".join(f", {source}" for source in sources)

    def slope(self, given):
        """Source of the derivative of the equation by `x` at `x`."""
        f, op = self.operator.equation, self.operator
        found = derivative(f) if self.scalar else jacobian(f, mode="forward")
        source = f"{self.constant('slope_of', found)}(x{given})"
        if not op.identity:
            return source
        return f"{source} - 1.0" if self.scalar else f"minus_identity({source})"

    def check(self, given):
        """Lines that refuse a solution whose `slope` is singular, for floats."""
        if self.operator.is_quiet:
            return
        op, tolerances = self.operator, ", ".join(self.sources[3:5])
        told = (
            f"nd.{op.name}: the solution has no derivative (the implicit function theorem does not "
            f"hold): the {op.derivative_told} of {op.told} by its first argument"
            f"{' less the identity' if op.identity else ''} is singular there, within the tolerance"
        )
        if self.scalar:
            changed = self.constant("slope_of", derivative(op.equation))
            self.namespace["nearby"] = regular.nearby
            self.lines += [
                f"other = {changed}(x + nearby(x, {tolerances}){given})",
                f"if not is_regular(slope, other{' - 1.0' if op.identity else ''}):",
                f"    raise SingularError({told!r})",
            ]
            self.namespace["is_regular"] = regular.is_regular
        else:
            along = self.constant("along", jvp(op.equation, 0))
            self.namespace["weakest"] = regular.weakest
            self.namespace["is_regular_along"] = regular.is_regular_along
            less = " - weak" if op.identity else ""
            self.lines += [
                f"weak, found = weakest(x, slope, {tolerances})",
                f"_, other = {along}((x + weak{given}), (weak,))",
                f"if not (found and is_regular_along(slope, weak, other{less})):",
                f"    raise SingularError({told!r})",
            ]

    def solve(self, operator, given):
        """The line that solves the equation."""
        solution = self.constant("solution", build(operator))
        x0, _, bracket, *rest = self.sources
        self.lines.append(f"x = {solution}({x0}, {given}, {bracket}, {', '.join(rest)})")

    def write(self, name, parameters, returned):
        lines = [*self.lines, f"return {returned}"]
        text = "\n".join(indented(line) for line in lines)
        return define(f"def {name}({parameters}):\n{text}\n", self.namespace)


class Solution(Code):
    """The function `(x0, args, bracket, xtol, rtol, maxiter) -> x`."""

    def __init__(self, operator, typingctx, argtypes):
        super().__init__(operator, argtypes, PARAMETERS.split(", "))
        self.typingctx = typingctx

    def _check_result(self):
        """Refuse a function that returns what cannot be solved for the unknown."""
        op = self.operator
        x = types.float64 if self.scalar else types.Array(types.float64, 1, "C")
        result = parse(plain_result(self.typingctx, op.f, (x, *(t for _, t in self.arguments))), "")
        if self.scalar or not op.of_array:
            scalar_result(op, result)
        elif not (isinstance(result.type, types.Array) and result.type.ndim == 1):
            raise ArgumentError(
                f"nd.{op.name}: {op.told} must return a 1-D array, as x0 is one; it returns "
                f"{describe(result.type)}"
            )

    def values(self):
        """For floats: the search, and an error where it fails."""
        self._check_result()
        bracketed = not isinstance(self.bracket, types.NoneType | types.Omitted)
        if bracketed and not self.scalar:
            raise ArgumentError(
                f"nd.{self.operator.name}: bracket= is for a float x; x0 is {describe(self.x0)}"
            )
        search, called, more = self.operator.solver(self.scalar, bracketed)
        self.namespace.update(search=search)
        names = ", ".join(self.constant("called", function) for function in called)
        start = "float(plain(x0))" if self.scalar else "plain(x0).astype(np.float64)"
        self.lines.append(f"x = {start}")
        if bracketed:
            self.lines.append("lower, upper = primal(bracket[0]), primal(bracket[1])")
        call = f"x, status = search({names}, x, args, {more}xtol, rtol, maxiter)"
        self.lines += watching(self.operator, self.args, call)
        self.lines.append("if status != 0:")
        op = self.operator
        if op.is_quiet:
            self.lines.append("    x = np.nan" if self.scalar else "    x[:] = np.nan")
            return self.write("values", PARAMETERS, "x")
        for status, what in STATUS.items():
            told = f"nd.{op.name}: the search for {op.told} {what}"
            self.lines.append(f"    if status == {status}:")
            self.lines.append(f"        raise ConvergenceError({told!r})")
        return self.write("values", PARAMETERS, "x")

    def tangents(self):
        """For duals: those of one level less, then the theorem for this level."""
        tag = self.top.tag
        self.namespace.update(
            value_of=value_of,
            corrected=corrected,
            f=replacement(self.operator.equation),
        )
        self.lines.append(f"inner = value_of(args, {tag})")
        self.solve(self.operator.below(self.args), "inner")
        below = self.given("inner")
        self.lines.append(f"slope = {self.slope(below)}")
        if is_of_one_level(self.args):
            self.check(below)
        self.lines.append(f"residual = f(x{self.given()})")
        returned = f"corrected(x, slope, residual, {tag}, {self.top.n})"
        return self.write("tangents", PARAMETERS, returned)
