"""The gradients of a batch's elements, all at once: the pullback of the batch, in lanes.

An element's result depends on no other element, so that cotangents of one for all results give, for each
element, its own gradient: `batch(grad(f))(x)` is what `batch(f)` pulls back to `x`. An argument that all
elements share becomes an array with one copy for each.
"""

from numba.core import types

from ..operators import runtime
from ..operators.generated_names import Writer, indented
from ..operators.jacobian_operator import Jacobian
from ..operators.operator_dispatcher import OperatorDispatcher, build, plain_parameters
from ..operators.vjp import VJP
from ..source import define
from .batch_axes import plain


def has_gradients(batch, argtypes):
    """Whether it is the gradient by doubles, not asked for in forward mode, that is evaluated."""
    gradient = batch.f.operator if isinstance(batch.f, OperatorDispatcher) else None
    if not isinstance(gradient, Jacobian) or not gradient.scalar or gradient.has_aux:
        return False
    if gradient.chunk is not None:
        return False
    doubles = all(_is_double(batch, k, plain(argtypes[k])) for k in gradient.argnums)
    return doubles and gradient.choice.mode != "forward"


def _is_double(batch, k, ty):
    if batch.axes[k] is None:
        return ty == types.float64
    return isinstance(ty, types.Array) and ty.ndim == 1 and ty.dtype == types.float64


class Gradients(Writer):
    """The code of `batch(grad(f))` by the pullback of `of_function`, the batch of `f`."""

    def __init__(self, batch, argtypes, of_function):
        super().__init__({"np": runtime.np})
        self.batch, self.tys, self.gradient = batch, argtypes, batch.f.operator
        self.pull = build(VJP(build(of_function), self.gradient.argnums))

    def values(self, typingctx):
        """The function that evaluates the batch."""
        shared = [k for k in self.gradient.argnums if self.batch.axes[k] is None]
        lines = []
        first = next(k for k, axis in enumerate(self.batch.axes) if axis is not None)
        lines.append(f"count = arg{first}.shape[{self.batch.axes[first]}]")
        lines += [f"arg{k} = np.full(count, arg{k})" for k in shared]
        given = "".join(f"arg{k}, " for k in range(len(self.batch.names)))
        pull = self.constant("pull", self.pull)
        lines.append(f"value, cotangents = {pull}(({given}), np.ones(count))")
        self._compile(typingctx, shared)
        found = "cotangents[0]" if self.gradient.single else "cotangents"
        lines.append(f"return value, {found}" if self.gradient.with_value else f"return {found}")
        text = "\n".join(map(indented, lines))
        parameters = plain_parameters(self.batch.f.py_func)
        return define(f"def batch_source({parameters}):\n{text}\n", self.namespace)

    def _compile(self, typingctx, shared):
        """Raises where the batch has no pullback in lanes."""
        tys = [plain(ty) for ty in self.tys]
        for k in shared:
            tys[k] = types.Array(tys[k], 1, "C")
        given = types.BaseTuple.from_types(tys), types.Array(types.float64, 1, "C")
        typingctx.resolve_function_type(types.Dispatcher(self.pull), given, {})
