"""Stand-ins for functions with a rule of the user's, called where duals may be among the arguments."""

import functools
import inspect
from types import FunctionType

import numpy as np
from numba import njit
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import overload

from ..compilation.decorated import own_code
from ..errors import RuleError
from ..rules.foreign import FOREIGN, FOREIGN_WAY_OUT
from ..rules.registry import CONSTANT_CALLS, JVP, SCALAR, VJP, name_of
from ..source import define
from . import dual as d
from . import known
from .access import assemble_scalar, partial, strip
from .arithmetic import Operand
from .dual_arrays import as_scalar, dtype_of_type
from .dual_dispatcher import DualDispatcher, dualized
from .layout import empty_as
from .overloads import SCALARS, emitter, lower_differentiable, relevel, stripped, top_tag
from .promote import own_effects
from .refuse import refused_call, told

_CONSTANT = types.Number | types.Boolean | types.NoneType | types.UnicodeType | types.Callable
WITHOUT_TANGENT = (
    types.DictType | types.Set | types.ClassInstanceType | types.StructRef | types.Record
)
KINDS = {}
"""Kind of a jvp of numbad's own -> `register(stand_in, function, jvp)`; "constant" for `CONSTANT_CALLS`."""


def stand_in(fn):
    """The function that Numba meets in place of `fn`; another one for every rule of it."""
    return _stand_in(fn, SCALAR.get(fn), JVP.get(fn))


@functools.cache
def _stand_in(fn, partials, jvp):
    """Without partials and without a jvp, there is nothing for dual numbers."""

    def call(*args):
        raise NotImplementedError

    call.__name__ = getattr(fn, "__name__", "rule")
    kind = "constant" if fn in CONSTANT_CALLS else type(jvp)
    if kind in KINDS:
        KINDS[kind](call, fn, jvp)
    elif partials is not None:
        _register_scalar(call, fn)
    elif jvp is not None:
        _register_jvp(call, fn, jvp)
    else:
        _register_vjp_alone(call, fn)
    return call


# -- scalar rules ----------------------------------------------------------------------------


def _register_scalar(call, fn):
    class Template(AbstractTemplate):
        key = call

        def generic(self, args, kws):
            if kws:
                return None
            tag = top_tag(args)
            inner = tuple(stripped(a, tag) for a in args)
            if tag >= 0 and not all(isinstance(a, SCALARS) for a in args):
                return None
            target = call if top_tag(inner) >= 0 else self.context.resolve_value_type(fn)
            resolved = self.context.resolve_function_type(target, inner, {})
            if tag < 0 or resolved is None:
                return resolved
            result = relevel(resolved.return_type, args, tag)
            return None if result is None else signature(result, *args)

    infer_global(call, types.Function(Template))
    differentiate = lower_differentiable(fn, call)

    @lower_builtin(call, types.VarArg(types.Any))
    def lower(context, builder, sig, args):
        if top_tag(sig.args) >= 0:
            return differentiate(context, builder, sig, args)
        emit = emitter(context, builder, sig.return_type)
        operands = [Operand(t, a) for t, a in zip(sig.args, args, strict=True)]
        return emit.cast(emit.call(fn, operands), sig.return_type)


CHANGE_WAY_OUT = (
    "return what it computes, and make work arrays within it: a rule tells the derivative of what the "
    "function returns alone"
)


def of_change(fn, name):
    """What a function with a rule is called that changes an argument."""
    return f"{name_of(fn)}, which has a rule and changes its argument '{name}'"


# -- rules given as a jvp --------------------------------------------------------------------


def _register_jvp(call, fn, jvp):
    jvp = jvp if isinstance(jvp, Dispatcher) else njit(own_code(jvp))
    function = njit(own_code(fn)) if _is_plain_python(fn) else fn
    known.STANDS_FOR[call] = fn

    @overload(call)
    def overload_call(*args):
        args = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        top = d.top_dual(*args)
        if top is None:
            return _call_of(function, len(args))
        if any(map(_is_list_of_duals, args)):
            construct = (
                f"a list of differentiated values that goes into {name_of(fn)}, which has a rule"
            )
            raise refused_call(construct, fn, "pass an array")
        changed = isinstance(function, Dispatcher) and first_changed(function, args)
        if changed:
            raise refused_call(of_change(fn, changed), fn, CHANGE_WAY_OUT)
        return _jvp_source(args, top.n, top.tag, of_level(jvp, top.tag))


def first_changed(dispatcher, argtypes):
    """The name of the first argument that a dispatcher's code may change, whatever its rule says; or None."""
    changed = own_effects(dispatcher, argtypes).changed
    names = list(inspect.signature(dispatcher.py_func).parameters)
    return names[min(min(changed), len(names) - 1)] if changed else None


@functools.cache
def two_of(role, expected):
    """A nopython function that returns its argument, a pair; RuleError when compiled for anything else."""

    def pair(x):
        raise NotImplementedError

    @overload(pair)
    def _pair(x):
        if isinstance(x, types.BaseTuple) and len(x) == 2:
            return lambda x: x
        raise told(RuleError(f"the {role} of a rule returns {expected}; this one returns {x}"))

    return pair


def _register_vjp_alone(call, fn):
    function = njit(own_code(fn)) if _is_plain_python(fn) else fn

    @overload(call)
    def overload_call(*args):
        args = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        if any(True for a in args for _ in d.duals_in(a)):
            name = name_of(fn)
            if fn not in VJP:
                raise refused_call(f"{name}, {FOREIGN}", fn, FOREIGN_WAY_OUT)
            raise refused_call(
                f"{name}, whose rule has a vjp but no jvp",
                fn,
                f"give it one, nd.rule({name}, jvp=..., vjp=(forward, backward)), or use "
                'nd.grad(..., mode="reverse")',
            )
        return _call_of(function, len(args))


def _call_of(function, nargs):
    """The call of a function for constants; Numba puts none in place that is handed `*args`."""
    given = ", ".join(f"args[{k}]" for k in range(nargs))
    return define(f"def call(*args):\n    return function({given})\n", {"function": function})


def _is_plain_python(fn):
    """Whether Numba does not know a function, which then is the user's own to compile."""
    from numba.core.registry import cpu_target

    if isinstance(fn, Dispatcher) or not isinstance(fn, FunctionType):
        return False
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context._lookup_global(fn) is None


@functools.cache
def of_level(jvp, tag):
    """A copy of the rule for each level: it calls the function, whose rule it is, a level below."""
    return DualDispatcher.like(jvp) if tag else dualized(jvp)


def _jvp_source(args, n, tag, jvp):
    """Source of a function that calls the rule once for every partial; what has no tangent has None."""
    values = "".join(f"value_of(args[{k}], {tag}), " for k in range(len(args)))
    without = [isinstance(ty, WITHOUT_TANGENT) for ty in args]
    lines = ["def call(*args):", f"    primals = ({values})"]
    for i in range(n):
        tangents = "".join(
            "None, " if bare else f"tangent(args[{k}], {i}, {tag}), "
            for k, bare in enumerate(without)
        )
        lines.append(f"    value, t{i} = two_of(jvp(primals, ({tangents})))")
    partials = "".join(f"t{i}, " for i in range(n))
    lines.append(f"    return assemble(value, ({partials}), {tag})")
    namespace = {"jvp": jvp, "value_of": value_of, "tangent": tangent, "assemble": assemble}
    namespace["two_of"] = two_of("jvp", "(value, tangent)")
    return define("\n".join(lines) + "\n", namespace)


# -- taking structures of duals apart, and putting them together -----------------------------


def value_of(x, tag):
    """The value of level `tag` of a scalar, array or tuple; what has no such level is its own value."""
    raise NotImplementedError


@overload(value_of, prefer_literal=True)
def _value_of(x, tag):
    levels = {t.tag for t in d.duals_in(x)}
    if tag.literal_value not in levels:
        return lambda x, tag: x
    if isinstance(x, types.Array):

        def array_value(x, tag):
            out = np.empty(x.shape, dtype_of_value(x))
            for index in np.ndindex(x.shape):
                out[index] = strip(x[index])
            return out

        return array_value
    if isinstance(x, types.BaseTuple):
        return each_member(x, "value_of(x[{i}], tag)", {"value_of": value_of}, "x, tag")
    return lambda x, tag: strip(x)


def tangent(x, i, tag):
    """Partial number `i` of level `tag` of a scalar, array or tuple; zero where there is none."""
    raise NotImplementedError


@overload(tangent, prefer_literal=True)
def _tangent(x, i, tag):
    level = max((t.tag for t in d.duals_in(x)), default=-1)
    if isinstance(x, types.BaseTuple):
        return each_member(x, "tangent(x[{i}], i, tag)", {"tangent": tangent}, "x, i, tag")
    has = level == tag.literal_value
    if isinstance(x, types.Array) and isinstance(x.dtype, types.Float | types.Complex | d.Dual):
        if has:
            return _array_tangent
        return lambda x, i, tag: np.zeros_like(x)
    if isinstance(x, d.Dual) and has:
        return lambda x, i, tag: partial(x, i)
    if isinstance(x, types.Float | types.Complex | d.Dual):
        return lambda x, i, tag: _zero(x)
    if isinstance(x, types.List | types.ListType) and isinstance(
        x.dtype, types.Float | types.Complex
    ):
        return lambda x, i, tag: [_zero(member) for member in x]
    return lambda x, i, tag: x  # ints, strings and the like: the rule ignores their tangents


def _array_tangent(x, i, tag):
    out = np.empty(x.shape, dtype_of_value(x))
    for index in np.ndindex(x.shape):
        out[index] = partial(x[index], i)
    return out


def _zero(x):
    raise NotImplementedError


@overload(_zero)
def _overload_zero(x):
    convert = as_scalar(x)
    return lambda x: convert(0.0)


def dtype_of_value(x):
    """The dtype of the values of an array of duals."""
    raise NotImplementedError


@overload(dtype_of_value)
def _dtype_of_value(x):
    dtype = dtype_of_type(x.dtype.scalar)
    return lambda x: dtype()


def assemble(value, partials, tag):
    """Scalars, arrays or tuples of duals from values and a tuple of as many partials."""
    raise NotImplementedError


@overload(assemble, prefer_literal=True)
def _assemble(value, partials, tag):
    if isinstance(value, types.Float | types.Complex | d.Dual):
        return lambda value, partials, tag: assemble_scalar(value, partials, tag)
    if isinstance(value, types.Array) and isinstance(
        value.dtype, types.Float | types.Complex | d.Dual
    ):
        return _array_assembly(value, len(partials), tag.literal_value)
    if isinstance(value, types.BaseTuple):
        n = len(partials)
        inner = ", ".join(f"partials[{k}][{{i}}]" for k in range(n))
        expression = f"assemble(value[{{i}}], ({inner},), tag)"
        return each_member(value, expression, {"assemble": assemble}, "value, partials, tag")
    if not _is_constant(value):
        text = f"the jvp of a rule returns numbers, arrays and tuples of them; this one returns {value}"
        raise told(RuleError(text))
    return lambda value, partials, tag: value


def _is_list_of_duals(ty):
    if isinstance(ty, types.BaseTuple):
        return any(map(_is_list_of_duals, ty))
    return isinstance(ty, types.List | types.ListType) and any(d.duals_in(ty))


def _is_constant(ty):
    """Whether values of a type have no derivative."""
    if isinstance(ty, types.Array):
        return isinstance(ty.dtype, types.Integer | types.Boolean)
    return isinstance(ty, _CONSTANT)


def _array_assembly(value, n, tag):
    dtype = dtype_of_type(d.Dual(value.dtype, n, tag))
    items = "".join(f"partials[{k}][index], " for k in range(n))
    source = (
        "def assembled(value, partials, tag):\n"
        "    for part in partials:\n"
        "        if part.shape != value.shape:\n"
        "            raise RuleError('the tangent that the jvp of a rule returns must have the shape of "
        "the value')\n"
        "    out = empty_as(value, dtype())\n"
        "    for index in np.ndindex(value.shape):\n"
        f"        out[index] = assemble_scalar(value[index], ({items}), {tag})\n"
        "    return out\n"
    )
    namespace = {"np": np, "dtype": dtype, "assemble_scalar": assemble_scalar, "empty_as": empty_as}
    namespace["RuleError"] = RuleError
    return define(source, namespace)


def each_member(ty, expression, namespace, parameters):
    """A function that builds the tuple of `expression` for every member of a tuple type."""
    members = "".join(expression.format(i=i) + ", " for i in range(len(ty)))
    build = "cls({})" if isinstance(ty, types.BaseNamedTuple) else "({})"
    namespace = dict(namespace, cls=getattr(ty, "instance_class", None))
    return define(f"def each({parameters}):\n    return {build.format(members)}\n", namespace)
