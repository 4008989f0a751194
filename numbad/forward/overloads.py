"""Registers the rules with Numba: how calls on dual numbers are typed, and what they compile to.

Everything goes into Numba's generic registries, which the CPU and `numba-cuda` both read. Typing
strips the highest nesting level, asks Numba what the function returns on what is left, and puts the
level back on; so the value is computed by the very instructions of the primal.
"""

from types import FunctionType

import numpy as np
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

from ..rules import CONSTANT, SCALAR, STRUCTURAL, on_register, on_ship
from . import dual as d
from .arithmetic import Operand, RuleEmitter, refuse_missing, strip_operand

SCALARS = types.Number | types.Boolean | d.Dual


def top_tag(argtypes):
    """The highest nesting level among scalar types, or -1."""
    return max((t.tag for t in argtypes if isinstance(t, d.Dual)), default=-1)


def stripped(ty, tag):
    """The type of the value of a dual of level `tag`; any other type unchanged."""
    return ty.scalar if isinstance(ty, d.Dual) and ty.tag == tag else ty


def relevel(result, argtypes, tag):
    """The type of a result whose value is a `result`, at level `tag` of the arguments.

    None where the result is no number, or where it is real and an argument complex: such a function
    has no complex derivative, and structural_duals.py says what it does.
    """
    real = not isinstance(d.base_scalar(result), types.Complex)
    if real and any(isinstance(d.base_scalar(t), types.Complex) for t in argtypes):
        return None
    if isinstance(result, types.Float | types.Complex | d.Dual):
        n = next(t.n for t in argtypes if isinstance(t, d.Dual) and t.tag == tag)
        return d.Dual(result, n, tag)
    return None


def emitter(context, builder, ty):
    """An emitter whose literals have the float type under `ty`."""
    base = d.base_scalar(ty)
    if isinstance(base, types.Complex):
        base = base.underlying_float
    return RuleEmitter(context, builder, base if isinstance(base, types.Float) else types.float64)


class ScalarTemplate(AbstractTemplate):
    """Types a call with at least one dual among scalar arguments."""

    prefer_literal = True

    def generic(self, args, kws):
        if kws or not all(isinstance(a, SCALARS) for a in args):
            return None
        tag = top_tag(args)
        if tag < 0:
            return self._on_numbers()
        inner = tuple(types.unliteral(stripped(a, tag)) for a in args)
        resolved = self.context.resolve_function_type(self.key, inner, {})
        if resolved is None:
            return None
        result = self.result(resolved.return_type, args, tag)
        return None if result is None else signature(result, *args)

    def _on_numbers(self):
        """Nothing: what a function returns on numbers is Numba's affair, and no plain one's."""
        if isinstance(self.key, FunctionType):
            raise TypingError(
                f"{self.key.__name__} is a plain Python function, which compiled code cannot call. Say @njit "
                "above it, and give the rule for what that returns"
            )

    def get_impl_key(self, sig):
        return implementation_key(self.key)


class DifferentiableTemplate(ScalarTemplate):
    def result(self, resolved, args, tag):
        partials = SCALAR[self.key].trace(len(args)) if self.key in SCALAR else ()
        for k, (ty, partial) in enumerate(zip(args, partials, strict=False)):
            if isinstance(ty, d.Dual) and ty.tag == tag:
                refuse_missing(self.key, k, partial)
        return relevel(resolved, args, tag)


class ConstantTemplate(ScalarTemplate):
    def result(self, resolved, args, tag):
        return resolved if self.key in CONSTANT else None  # the user may have given it a rule


def implementation_key(fn):
    """Where the implementation on dual numbers is kept, apart from Numba's own for `fn`."""
    return "numbad", fn


def _operands(sig, args):
    return [Operand(t, a) for t, a in zip(sig.args, args, strict=True)]


def lower_differentiable(fn, spelling=None):
    """The implementation of a function with a scalar rule: value as Numba's, partials by the rule.

    `spelling` is the name under which the function takes duals, where that is not `fn` itself.
    """

    def lower(context, builder, sig, args):
        operands = _operands(sig, args)
        tag = top_tag(sig.args)
        emit = emitter(context, builder, sig.return_type)
        inner = [strip_operand(context, builder, o, tag) for o in operands]
        nested = any(isinstance(o.type, d.Dual) for o in inner)
        answer = emit.call(spelling if nested and spelling else fn, inner)
        value = emit.cast(answer, sig.return_type.scalar)
        return emit.chain(fn, operands, tag, Operand(sig.return_type.scalar, value)).value

    return lower


def lower_constant_function(fn):
    """The implementation of a function whose derivative is zero: that of Numba on the value."""

    def lower(context, builder, sig, args):
        tag = top_tag(sig.args)
        emit = emitter(context, builder, sig.return_type)
        inner = [strip_operand(context, builder, o, tag) for o in _operands(sig, args)]
        return emit.cast(emit.call(fn, inner), sig.return_type)

    return lower


def register(fn, template, lower):
    """Make `fn` known to Numba on the arguments that `template` accepts."""
    name = f"{template.__name__}_{getattr(fn, '__name__', 'fn')}"
    infer_global(fn, types.Function(type(name, (template,), {"key": staticmethod(fn)})))
    lower_builtin(implementation_key(fn), types.VarArg(types.Any))(lower)


def register_differentiable(fn):
    register(fn, DifferentiableTemplate, lower_differentiable(fn))


def register_constant(fn):
    register(fn, ConstantTemplate, lower_constant_function(fn))


def register_later(fn):
    """What happens when a rule is given after the import; a dispatcher is replaced where called."""
    if fn in SCALAR and not isinstance(fn, Dispatcher):
        register_differentiable(fn)


def is_number_class(fn):
    """Whether a function is a class such as `np.float32`, which Numba types in its own way."""
    return isinstance(fn, type) and issubclass(fn, np.generic)


def register_all(fns):
    """Make functions with scalar rules known on dual numbers; dispatchers are replaced where called."""
    for fn in fns:
        if not is_number_class(fn) and fn not in STRUCTURAL and not isinstance(fn, Dispatcher):
            register_differentiable(fn)


register_all(SCALAR)
for _fn in CONSTANT:
    if not is_number_class(_fn) and _fn not in STRUCTURAL:
        register_constant(_fn)
on_register.append(register_later)
on_ship.append(register_all)
