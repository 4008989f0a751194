"""Operators and ufuncs on arrays of dual numbers: broadcasting, in place, and `np.where`."""

import operator
from types import MappingProxyType

import numpy as np
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import overload

from ..rules import CONSTANT, SCALAR, on_ship
from ..source import define
from . import dual as d
from .access import dtype_like
from .optional_arrays import overload_stand_in
from .stand_ins import stand_for

SCALARS = types.Number | types.Boolean | d.Dual


def element(ty):
    """The type of an array's elements; of a scalar, itself."""
    return ty.dtype if isinstance(ty, types.Array) else ty


_NARROW = {types.float64: types.float32, types.complex128: types.complex64}


def narrowed(scalar, inputs):
    """The type of the elements of a result: in arrays, unlike scalars, an int makes no float wider."""
    floats = [
        d.base_scalar(ty) for ty in inputs if not isinstance(ty, types.Integer | types.Boolean)
    ]
    if not isinstance(scalar, d.Dual) or not all(ty in _NARROW.values() for ty in floats):
        return scalar
    base = d.base_scalar(scalar)
    return d.with_base(scalar, _NARROW.get(base, base))


class ElementwiseTemplate(AbstractTemplate):
    """Types a call of a function of scalars where arrays are among the arguments, and duals."""

    # Numba's own `==` takes any two arrays of one type; what says its target is asked before it.
    metadata = MappingProxyType({"target": "cpu"})
    narrowed = staticmethod(narrowed)

    def generic(self, args, kws):
        if kws or not any(isinstance(a, types.Array) for a in args):
            return None
        if not any(True for a in args for _ in d.duals_in(a)):
            return None
        if not all(isinstance(element(a), SCALARS) for a in args):
            return None
        inputs = args[: self.nin]
        found = self.context.resolve_function_type(self.scalar, tuple(map(element, inputs)), {})
        if found is None or len(args) > self.nin + 1:
            return None
        scalar = self.narrowed(found.return_type, map(element, inputs))
        return self.output(inputs, scalar, args[self.nin :])

    def output(self, inputs, scalar, given):
        ndim = max((a.ndim for a in inputs if isinstance(a, types.Array)), default=0)
        if given:
            return self.into(given[0], scalar, ndim, (*inputs, *given))
        return signature(types.Array(scalar, ndim, _layout(inputs)) if ndim else scalar, *inputs)

    def into(self, out, scalar, ndim, args):
        """The signature where the result is written into the array `out`."""
        if not isinstance(out, types.Array) or ndim > out.ndim or not out.mutable:
            return None
        if self.context.can_convert(scalar, out.dtype) is None:
            return None
        return signature(out, *args)

    def get_impl_key(self, sig):
        return "numbad array", self.key


def _layout(inputs):
    """As Numba: C where any input is, else F where any is, else C."""
    layouts = {a.layout for a in inputs if isinstance(a, types.Array)}
    return "F" if "F" in layouts and "C" not in layouts else "C"


class InplaceTemplate(ElementwiseTemplate):
    """`x op= y`: the operator written into `x` if that is an array; else as Numba types it."""

    metadata = MappingProxyType({})  # nothing else types the stand-in of `op=`, on no target
    prefer_literal = True

    def generic(self, args, kws):
        if isinstance(args[0], types.Array):
            found = super().generic(args, kws)
            if found is not None:
                return found if found.return_type == args[0] else None
            if any(True for a in args for _ in d.duals_in(a)):
                return None
        return self.context.resolve_function_type(self.inplace, args, kws)

    def output(self, inputs, scalar, given):
        if not isinstance(inputs[0], types.Array):
            return super().output(inputs, scalar, given)
        ndim = max(a.ndim for a in inputs if isinstance(a, types.Array))
        found = self.into(inputs[0], scalar, ndim, inputs)
        return found


def _call(context, builder, fn, argtypes, values):
    """`fn` of scalars, as Numba compiles it: the type of its result, and the result."""
    function = context.typing_context.resolve_value_type(fn)
    resolved = function.get_call_type(context.typing_context, argtypes, {})
    implementation = context.get_function(function, resolved)
    context.add_linking_libs(getattr(implementation, "libs", ()))
    cast = [
        context.cast(builder, v, t, u)
        for v, t, u in zip(values, argtypes, resolved.args, strict=True)
    ]
    return resolved.return_type, implementation(builder, cast)


def _as_array(context, builder, ty, value):
    """A scalar dual as an array without axes, on the stack; anything else unchanged."""
    if not isinstance(ty, d.Dual):
        return ty, value
    from numba.np import arrayobj

    array_type = types.Array(ty, 0, "C")
    array = arrayobj.make_array(array_type)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(ty)))
    slot = cgutils.alloca_once(builder, context.get_data_type(ty))
    builder.store(context.data_model_manager[ty].as_data(builder, value), slot)
    arrayobj.populate_array(
        array, data=slot, shape=(), strides=(), itemsize=size, meminfo=None, parent=None
    )
    return array_type, array._getvalue()


class _Ufunc:
    """What Numba's loop generator asks of a ufunc."""

    nout = 1

    def __init__(self, name, nin):
        self.__name__, self.nin = name, nin


def _lower_elementwise(fn, nin, inplace=None):
    def lower(context, builder, sig, args):
        if inplace and not _is_into(sig):
            _, result = _call(context, builder, inplace, sig.args, args)
            return result
        if not isinstance(sig.return_type, types.Array):
            return _lower_scalars(context, builder, fn, sig, args)
        if inplace:
            sig, args = signature(sig.return_type, *sig.args, sig.args[0]), [*args, args[0]]
        return _lower_loop(context, builder, fn, nin, sig, args)

    return lower


def _is_into(sig):
    """Whether the result of an in-place operator is the left operand, an array."""
    duals = any(True for a in sig.args for _ in d.duals_in(a))
    return duals and isinstance(sig.args[0], types.Array)


def _lower_loop(context, builder, fn, nin, sig, args):
    from numba.np import npyimpl

    scalars = [element(a) for a in sig.args[:nin]]
    result = sig.return_type.dtype

    class ElementwiseKernel(npyimpl._Kernel):
        def generate(self, *values):
            ty, value = _call(context, builder, fn, scalars, values)
            return context.cast(builder, value, ty, result)

    pairs = [_as_array(context, builder, t, v) for t, v in zip(sig.args, args, strict=True)]
    looped = signature(sig.return_type, *(t for t, _ in pairs))
    ufunc = _Ufunc(getattr(fn, "__name__", "fn"), nin)
    return npyimpl.numpy_ufunc_kernel(
        context, builder, looped, [v for _, v in pairs], ufunc, ElementwiseKernel
    )


def _lower_scalars(context, builder, fn, sig, args):
    """Arrays without axes, whose elements give a scalar."""
    from numba.np import arrayobj

    def load(ty, value):
        if not isinstance(ty, types.Array):
            return value
        array = arrayobj.make_array(ty)(context, builder, value)
        return arrayobj.load_item(context, builder, ty, array.data)

    values = [load(t, v) for t, v in zip(sig.args, args, strict=True)]
    ty, value = _call(context, builder, fn, [element(a) for a in sig.args], values)
    return context.cast(builder, value, ty, sig.return_type)


_OPERATORS = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
}
_INPLACE = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
    operator.ifloordiv: operator.floordiv,
    operator.imod: operator.mod,
    operator.ipow: operator.pow,
}


def broadcasting(key, fn, nin, template=ElementwiseTemplate, inplace=None):
    """Let `key` take arrays of dual numbers, whose elements `fn` is called with."""
    name = f"{template.__name__}_{getattr(key, '__name__', 'fn')}"
    members = {"key": staticmethod(key), "scalar": staticmethod(fn), "nin": nin}
    members["inplace"] = staticmethod(inplace)
    infer_global(key, types.Function(type(name, (template,), members)))
    lower = _lower_elementwise(fn, nin, inplace)
    lower_builtin(("numbad array", key), types.VarArg(types.Any))(lower)


def _register_inplace(key, fn):
    """Numba's own typing of `key` fails on arrays that it does not know, so another stands in."""

    def stand_in(x, y):
        raise NotImplementedError

    stand_in.__name__ = stand_in.__qualname__ = key.__name__
    broadcasting(stand_in, fn, 2, InplaceTemplate, key)
    stand_for(key, stand_in)


def _of_elements(fn):
    """What an operator on arrays does to elements: division by zero is no error there."""
    divides = fn in (operator.truediv, operator.floordiv, operator.mod)
    return _OPERATORS[fn] if divides else fn


for _fn, _ufunc in _OPERATORS.items():
    broadcasting(_fn, _of_elements(_fn), _ufunc.nin)
for _key, _fn in _INPLACE.items():
    _register_inplace(_key, _of_elements(_fn))


def _register_ufuncs(fns):
    """Functions of numbers that broadcast: NumPy's and SciPy's, and those that are called as they."""
    for fn in fns:
        if getattr(fn, "nout", 0) == 1:
            broadcasting(fn, fn, fn.nin)


_register_ufuncs((*SCALAR, *CONSTANT))
broadcasting(np.conjugate, np.conjugate, 1)
on_ship.append(_register_ufuncs)


# -- where -----------------------------------------------------------------------------------


def choose(condition, x, y):
    """`x` where the condition holds, else `y`, for scalars."""
    raise NotImplementedError


@overload_stand_in(choose)
def _choose(condition, x, y):
    def chosen(condition, x, y):
        return x if condition else y

    return chosen


class WhereTemplate(ElementwiseTemplate):
    """`np.where`, which is no ufunc of Numba's: there, an int does make a float wider."""

    narrowed = staticmethod(lambda scalar, inputs: scalar)

    def output(self, inputs, scalar, given):
        return None if _without_axes(inputs) else super().output(inputs, scalar, given)


def _without_axes(inputs):
    return not any(isinstance(ty, types.Array) and ty.ndim for ty in inputs)


broadcasting(np.where, choose, 3, WhereTemplate)


@overload(np.where)
def _where_scalars(condition, x, y):
    """As Numba's, an array without axes where no argument has any."""
    given = {"condition": condition, "x": x, "y": y}
    if not _without_axes(given.values()):
        return None
    if not any(isinstance(element(ty), d.Dual) for ty in (x, y)):
        return None
    lines = ["def where(condition, x, y):"]
    for name, ty in given.items():
        lines += [
            f"    {name}_ = {name}[()]" if isinstance(ty, types.Array) else f"    {name}_ = {name}"
        ]
    lines += [
        "    out = np.empty((), dtype_like(x_, y_))",
        "    out[()] = x_ if condition_ else y_",
    ]
    return define("\n".join([*lines, "    return out"]), {"np": np, "dtype_like": dtype_like})
