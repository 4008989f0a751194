"""What functions of scalars are on lanes: the same in each, by vector instructions where there are some.

Typing asks Numba what the function returns for one lane. Where no instruction does all lanes at
once, Numba's own implementation is called for each, so that every lane has, bit for bit, the result
of the function on scalars.
"""

import math
import operator
from functools import partial

import numpy as np
import scipy.special as sp
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.dispatcher import Dispatcher
from numba.core.imputils import lower_builtin
from numba.core.sigutils import normalize_signature
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.core.utils import pysignature

from ..elementary import variants as elementary
from ..elementary.named import NAMES
from ..elementary.replacing import call_in_lanes
from ..rules import CONSTANT, SCALAR, STRUCTURAL
from .varying import Varying, any_lane, gathered, lane

_SCALARS = types.Integer | types.Float | types.Boolean | Varying


class LaneTemplate(AbstractTemplate):
    """Types a call with lanes among its arguments by what Numba says of one lane."""

    prefer_literal = True

    def generic(self, args, kws):
        if kws or not all(isinstance(a, _SCALARS) for a in args):
            return None
        counts = {a.n for a in args if isinstance(a, Varying)}
        if len(counts) != 1:
            return None
        resolved = self.resolve(one_lane(args))
        if resolved is None or not isinstance(resolved.return_type, types.Float | types.Boolean):
            return None
        return signature(Varying(resolved.return_type, *counts), *args)

    def resolve(self, args):
        return self.context.resolve_function_type(self.key, args, {})

    def get_impl_key(self, sig):
        return "numbad lanes", self.key


def one_lane(tys):
    """The types of the arguments in a lane; literals stay, so that `x**2` is a product."""
    return tuple(ty.scalar if isinstance(ty, Varying) else ty for ty in tys)


# -- lowering -----------------------------------------------------------------------------------------


def _lane_by_lane(fn, context, builder, sig, args):
    """Numba's implementation, called for each lane."""
    typing, inner = context.typing_context, one_lane(sig.args)
    function = typing.resolve_value_type(fn)
    inner_sig = function.get_call_type(typing, inner, {})
    implementation = context.get_function(function, inner_sig)
    context.add_linking_libs(getattr(implementation, "libs", ()))
    found = []
    for k in range(sig.return_type.n):
        given = [
            _in_lane(context, builder, k, *each)
            for each in zip(args, sig.args, inner_sig.args, strict=False)
        ]
        item = implementation(builder, given)
        found.append(context.cast(builder, item, inner_sig.return_type, sig.return_type.scalar))
    return gathered(builder, found)


def _elementary(name, fn, context, builder, sig, args):
    """Lane by lane, in a function of its own that `nd.vector_math` puts one of vectors in place of."""
    inner = signature(sig.return_type, *[sig.return_type] * len(args))
    every = {sig.return_type.scalar, *one_lane(sig.args)}
    if every != {types.float64} or context.target_name != "cpu":
        return _lane_by_lane(fn, context, builder, sig, args)

    def emit(within, vectors):
        return _lane_by_lane(fn, context, within, inner, vectors)

    return call_in_lanes(builder, name, _vectors(context, builder, sig, args), emit)


def _in_lane(context, builder, k, value, ty, wanted):
    if isinstance(ty, Varying):
        value, ty = lane(builder, value, k), ty.scalar
    return context.cast(builder, value, ty, wanted)


def _vectors(context, builder, sig, args):
    """The operands in all lanes, in the widest float type among them."""
    floats = [t for t in one_lane(sig.args) if isinstance(t, types.Float)]
    ty = Varying(max(floats, key=lambda t: t.bitwidth), sig.return_type.n)
    return [context.cast(builder, v, t, ty) for v, t in zip(args, sig.args, strict=True)]


def _all_fit(sig):
    """Whether floats, or ints that become such, are all that there is."""
    tys = one_lane(sig.args)
    if any(isinstance(t, types.Boolean) for t in tys):
        return False
    widest = max((t.bitwidth for t in tys if isinstance(t, types.Float)), default=0)
    result = sig.return_type.scalar
    return isinstance(result, types.Boolean) or result.bitwidth == widest


def _instruction(name, fn, context, builder, sig, args):
    if not _all_fit(sig):
        return _lane_by_lane(fn, context, builder, sig, args)
    return getattr(builder, name)(*_vectors(context, builder, sig, args))


def _divide(fn, context, builder, sig, args):
    """With Python's error model, a zero in any lane raises, as it does in the loop over lanes."""
    if not _all_fit(sig):
        return _lane_by_lane(fn, context, builder, sig, args)
    x, y = _vectors(context, builder, sig, args)
    if context.error_model.raise_on_fp_zero_division:
        zero = ir.Constant(y.type, [0.0] * sig.return_type.n)
        with cgutils.if_unlikely(builder, any_lane(builder, builder.fcmp_ordered("==", y, zero))):
            context.error_model.fp_zero_division(builder, ("division by zero",))
    return builder.fdiv(x, y)


def _compare(predicate, fn, context, builder, sig, args):
    if not _all_fit(sig):
        return _lane_by_lane(fn, context, builder, sig, args)
    compare = builder.fcmp_unordered if predicate == "!=" else builder.fcmp_ordered
    return compare(predicate, *_vectors(context, builder, sig, args))


def _intrinsic(name, fn, context, builder, sig, args):
    """A function of one float that LLVM has for vectors, rounded as for scalars."""
    if not _all_fit(sig):
        return _lane_by_lane(fn, context, builder, sig, args)
    (x,) = _vectors(context, builder, sig, args)
    suffix = f"v{x.type.count}f{sig.return_type.scalar.bitwidth}"
    fnty = ir.FunctionType(x.type, [x.type])
    function = cgutils.get_or_insert_function(builder.module, fnty, f"llvm.{name}.{suffix}")
    return builder.call(function, [x])


def _identity(fn, context, builder, sig, args):
    if sig.args[0] != sig.return_type:
        return _lane_by_lane(fn, context, builder, sig, args)
    return args[0]


def _extremum(predicate, fn, context, builder, sig, args):
    """As Numba's `min` and `max`: a later value only where it compares."""
    found, *others = _vectors(context, builder, sig, args)
    for x in others:
        found = builder.select(builder.fcmp_ordered(predicate, x, found), x, found)
    return found


def _logic(name, fn, context, builder, sig, args):
    if not all(isinstance(t, types.Boolean) for t in one_lane(sig.args)):
        return _lane_by_lane(fn, context, builder, sig, args)
    masks = [
        context.cast(builder, v, t, sig.return_type) for v, t in zip(args, sig.args, strict=True)
    ]
    return getattr(builder, name)(*masks)


_ELEMENTARY = {
    **NAMES,
    **{getattr(sp, f.name): f.name for f in elementary.FUNCTIONS if f.scipy},
}

_VECTOR = {
    **{fn: partial(_instruction, "fadd") for fn in (operator.add, operator.iadd)},
    **{fn: partial(_instruction, "fsub") for fn in (operator.sub, operator.isub)},
    **{fn: partial(_instruction, "fmul") for fn in (operator.mul, operator.imul)},
    **dict.fromkeys((operator.truediv, operator.itruediv), _divide),
    operator.neg: partial(_instruction, "fneg"),
    operator.pos: _identity,
    operator.lt: partial(_compare, "<"),
    operator.le: partial(_compare, "<="),
    operator.gt: partial(_compare, ">"),
    operator.ge: partial(_compare, ">="),
    operator.eq: partial(_compare, "=="),
    operator.ne: partial(_compare, "!="),
    **{fn: partial(_intrinsic, "sqrt") for fn in (math.sqrt, np.sqrt)},
    **{fn: partial(_intrinsic, "fabs") for fn in (abs, math.fabs, np.absolute, np.fabs)},
    max: partial(_extremum, ">"),
    min: partial(_extremum, "<"),
    **dict.fromkeys((bool, float, operator.truth), _identity),
    operator.not_: partial(_logic, "not_"),
    operator.and_: partial(_logic, "and_"),
    operator.or_: partial(_logic, "or_"),
}


def by_instructions(fn):
    """Whether a function of floats takes all lanes at once, without `nd.vector_math()`."""
    return fn in _VECTOR


def by_vectors(fn):
    """The same, with it."""
    return fn in _VECTOR or fn in _ELEMENTARY


def by_calls(fn):
    """Whether it may take one lane after the other, which holds of each."""
    return True


def _by_name(fn):
    return partial(_elementary, _ELEMENTARY[fn]) if fn in _ELEMENTARY else _lane_by_lane


def _register(fn):
    name = f"Lanes_{getattr(fn, '__name__', 'fn')}"
    infer_global(fn, types.Function(type(name, (LaneTemplate,), {"key": staticmethod(fn)})))
    lower = _VECTOR.get(fn) or _by_name(fn)
    lower = partial(lower, fn)
    lower_builtin(("numbad lanes", fn), types.VarArg(types.Any))(lower)


FUNCTIONS = {
    fn
    for fn in (*SCALAR, *CONSTANT, *_VECTOR, *_ELEMENTARY)
    if by_vectors(fn) or not (isinstance(fn, Dispatcher | type) or fn in STRUCTURAL)
}
"""The functions that there are for lanes."""

for _fn in sorted(FUNCTIONS, key=repr):
    _register(_fn)


class _CompiledTemplate(LaneTemplate):
    """The same of a function compiled for scalars."""

    def resolve(self, args):
        return types.Dispatcher(self.key).get_call_type(self.context, args, {})


def _take_lanes(dispatcher):
    """Have a function of scalars that rules call, `digamma` for one, called for each lane."""
    key = "numbad lanes", dispatcher
    template = type("Lanes", (_CompiledTemplate,), {"key": staticmethod(dispatcher)})
    call_template, overload = dispatcher.get_call_template, dispatcher.get_overload

    def of_lanes(tys):
        return any(isinstance(ty, Varying) for ty in tys)

    def get_call_template(args, kws):
        if kws or not of_lanes(args):
            return call_template(args, kws)
        return template, pysignature(dispatcher.py_func), args, kws

    def get_overload(sig):
        return key if of_lanes(normalize_signature(sig)[0]) else overload(sig)

    dispatcher.get_call_template, dispatcher.get_overload = get_call_template, get_overload
    lower_builtin(key, types.VarArg(types.Any))(partial(_lane_by_lane, dispatcher))


for _fn in SCALAR:
    if isinstance(_fn, Dispatcher):
        _take_lanes(_fn)


@lower_builtin(bool, Varying)
def _truth(context, builder, sig, args):
    """Numba types `bool` by `operator.truth`, and then looks for this."""
    return _identity(bool, context, builder, sig, args)
