"""Arrays of dual numbers: allocation, conversion, broadcasting, reductions, products."""

import functools
import operator

import numpy as np
from numba.core import types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, overload, register_jitable

from .overloads import CONSTANT, SCALAR, STRUCTURAL
from ..source import define
from . import dual as d
from .access import dtype_like, primal
from .dualize import METHODS, REPLACED

# -- conversion ------------------------------------------------------------------------------


@functools.cache
def dtype_of_type(ty):
    """A nopython function of no arguments that returns the dtype for a scalar type."""

    @intrinsic
    def dtype(typingctx):
        def codegen(context, builder, sig, args):
            return context.get_dummy_value()

        return types.DType(ty)(), codegen

    return dtype


def is_float_array(ty):
    return isinstance(ty, types.Array) and isinstance(ty.dtype, types.Float | types.Complex)


def is_dual_array(ty):
    return isinstance(ty, types.Array) and isinstance(ty.dtype, d.Dual)


@functools.cache
def as_dual(dual):
    """A nopython function that turns a fresh float array or list into one of duals."""

    def convert(x):
        raise NotImplementedError

    @overload(convert)
    def overload_convert(x):
        if is_float_array(x):
            dtype = dtype_of_type(d.with_base(dual, x.dtype))

            def array_as_dual(x):
                out = np.empty(x.shape, dtype())
                for index in np.ndindex(x.shape):
                    out[index] = x[index]
                return out

            return array_as_dual
        if isinstance(x, types.List) and isinstance(x.dtype, types.Float | types.Complex):
            item = as_scalar(d.with_base(dual, x.dtype))
            return lambda x: [item(v) for v in x]
        return lambda x: x

    return convert


@functools.cache
def as_scalar(target):
    """A nopython function that converts a scalar to the type `target`."""

    @intrinsic
    def convert(typingctx, x):
        def codegen(context, builder, sig, args):
            return context.cast(builder, args[0], sig.args[0], target)

        return target(x), codegen

    return convert


def _number_class(cls, ty):
    """The stand-in for calls such as `np.float32(x)`; one that gives an int drops the partials."""

    def number(x=0):
        raise NotImplementedError

    @overload(number, prefer_literal=True)
    def overload_number(x=0):
        if isinstance(x, d.Dual) and isinstance(ty, types.Float | types.Complex):
            convert = as_scalar(d.with_base(x, ty))
            return lambda x=0: convert(x)
        if isinstance(x, d.Dual):
            return lambda x=0: cls(primal(x))
        return lambda x=0: cls(x)

    REPLACED[cls] = number


@overload(float)
def _float(x):
    """A dual is a float already, whatever its precision; Numba says the same of a float32."""
    if isinstance(x, d.Dual) and isinstance(d.base_scalar(x), types.Float):
        return lambda x: x


for _name in (
    "float64 float32 complex128 complex64 int64 int32 int16 int8 uint64 uint32 uint16 uint8 intp uintp"
).split():
    _number_class(getattr(np, _name), getattr(types, _name))
    _number_class(getattr(types, _name), getattr(types, _name))


# -- broadcasting ----------------------------------------------------------------------------


class ElementwiseTemplate(AbstractTemplate):
    """Types an operator or ufunc where an array is among the arguments and duals are."""

    def generic(self, args, kws):
        if kws or not any(isinstance(a, types.Array) for a in args):
            return None
        if not any(True for a in args for _ in d.duals_in(a)):
            return None
        scalars = [a.dtype if isinstance(a, types.Array) else a for a in args]
        if not all(isinstance(s, types.Number | types.Boolean | d.Dual) for s in scalars):
            return None
        resolved = self.context.resolve_function_type(self.scalar_function, tuple(scalars), {})
        if resolved is None:
            return None
        ndim = max(a.ndim for a in args if isinstance(a, types.Array))
        return self.signature_of(args, resolved.return_type, ndim)

    def signature_of(self, args, scalar, ndim):
        return signature(types.Array(scalar, ndim, "C"), *args)

    def get_impl_key(self, sig):
        return "numbad array", self.key


class InplaceTemplate(ElementwiseTemplate):
    """An in-place operator on an array: the result is the left operand itself."""

    def signature_of(self, args, scalar, ndim):
        if not isinstance(args[0], types.Array):
            return super().signature_of(args, scalar, ndim)
        if ndim > args[0].ndim or self.context.can_convert(scalar, args[0].dtype) is None:
            return None
        return signature(args[0], *args)


def _lower_elementwise(fn, ufunc, inplace):
    def lower(context, builder, sig, args):
        from numba.np import npyimpl

        class Kernel(npyimpl._Kernel):
            def generate(self, *values):
                inner = [a.dtype if isinstance(a, types.Array) else a for a in sig.args]
                function = context.typing_context.resolve_value_type(fn)
                resolved = function.get_call_type(context.typing_context, inner, {})
                implementation = context.get_function(function, resolved)
                values = [
                    self.cast(v, t, u)
                    for v, t, u in zip(values, inner, resolved.args, strict=True)
                ]
                result = implementation(builder, values)
                return self.cast(result, resolved.return_type, sig.return_type.dtype)

        if inplace and isinstance(sig.args[0], types.Array):
            sig = signature(sig.return_type, *sig.args, sig.return_type)
            args = [*args, args[0]]
        return npyimpl.numpy_ufunc_kernel(context, builder, sig, args, ufunc, Kernel)

    return lower


_INPLACE = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
    operator.ifloordiv: operator.floordiv,
    operator.imod: operator.mod,
    operator.ipow: operator.pow,
}
_UFUNC = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.neg: np.negative,
    operator.pos: np.positive,
    abs: np.absolute,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
}


def _register_elementwise(key, fn, ufunc, template):
    inplace = template is InplaceTemplate
    name = f"{template.__name__}_{getattr(key, '__name__', 'fn')}"
    members = {"key": staticmethod(key), "scalar_function": staticmethod(fn)}
    infer_global(key, types.Function(type(name, (template,), members)))
    lower = _lower_elementwise(fn, ufunc, inplace)
    lower_builtin(("numbad array", key), types.VarArg(types.Any))(lower)


for _fn, _ufunc in _UFUNC.items():
    _register_elementwise(_fn, _fn, _ufunc, ElementwiseTemplate)
for _key, _fn in _INPLACE.items():
    _register_elementwise(_key, _fn, _UFUNC[_fn], InplaceTemplate)
for _fn in (*SCALAR, *CONSTANT):
    if isinstance(_fn, np.ufunc) and _fn.nout == 1:
        _register_elementwise(_fn, _fn, _fn, ElementwiseTemplate)


# -- reductions and products -----------------------------------------------------------------


def _reduction(name, functions, implementation):
    """Stand-ins for `np.name(a)` and `a.name()`: the loop for duals, NumPy's function otherwise."""
    original = functions[0]

    def stand_in(a, axis=None):
        raise NotImplementedError

    @overload(stand_in)
    def overload_stand_in(a, axis=None):
        whole = axis is None or isinstance(axis, types.NoneType | types.Omitted)
        if is_dual_array(a) and whole:
            return lambda a, axis=None: implementation(a)
        if is_dual_array(a):
            return _along_axis(a, implementation)
        if not isinstance(a, types.Array):
            if any(d.duals_in(a)):
                return lambda a, axis=None: implementation(a)
            return _method(name)
        if whole:
            return lambda a, axis=None: original(a)
        return lambda a, axis=None: original(a, axis)

    stand_in.__name__ = name
    for fn in functions:
        REPLACED[fn] = stand_in
    METHODS[name] = stand_in


def _method(name):
    """The method itself, for objects that are no arrays."""
    return define(f"def call(a, axis=None):\n    return a.{name}()\n", {})


def _along_axis(a, implementation):
    if a.ndim == 1:
        return lambda a, axis=None: implementation(a)
    if a.ndim != 2:
        return None

    def along(a, axis=None):
        if axis == 0 or axis == -2:
            rows = a.T
        elif axis == 1 or axis == -1:
            rows = a
        else:
            raise ValueError("axis is out of bounds for an array of dimension 2")
        out = np.empty(rows.shape[0], dtype_like(a))
        for i in range(rows.shape[0]):
            out[i] = implementation(rows[i])
        return out

    if a.layout == "A":
        return along

    def along_contiguous(a, axis=None):
        out = np.empty(a.shape[1] if (axis == 0 or axis == -2) else a.shape[0], dtype_like(a))
        if not -2 <= axis <= 1:
            raise ValueError("axis is out of bounds for an array of dimension 2")
        for i in range(out.shape[0]):
            if axis == 0 or axis == -2:
                out[i] = implementation(a[:, i])
            else:
                out[i] = implementation(a[i])
        return out

    return along_contiguous


@register_jitable
def _sum(a):
    total = as_zero(a)
    for x in a.flat:
        total += x
    return total


def as_zero(a):
    """The zero of the dtype of an array."""
    raise NotImplementedError


@overload(as_zero)
def _as_zero(a):
    zero = as_scalar(a.dtype)
    return lambda a: zero(0.0)


@register_jitable
def _mean(a):
    return _sum(a) / a.size


@register_jitable
def _prod(a):
    total = as_zero(a) + 1.0
    for x in a.flat:
        total *= x
    return total


@register_jitable
def _min(a):
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation not possible")
    least = a.flat[0]
    for x in a.flat:
        if x < least or x != x:
            least = x
    return least


@register_jitable
def _max(a):
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation not possible")
    most = a.flat[0]
    for x in a.flat:
        if x > most or x != x:
            most = x
    return most


@register_jitable
def _var(a):
    mean = _mean(a)
    total = as_zero(a)
    for x in a.flat:
        total += (x - mean) * (x - mean)
    return total / a.size


@register_jitable
def _std(a):
    return np.sqrt(_var(a))


_reduction("sum", (np.sum,), _sum)
_reduction("mean", (np.mean,), _mean)
_reduction("prod", (np.prod,), _prod)
_reduction("min", (np.min, np.amin), _min)
_reduction("max", (np.max, np.amax), _max)
_reduction("var", (np.var,), _var)
_reduction("std", (np.std,), _std)


def cumsum(a):
    raise NotImplementedError


@overload(cumsum)
def _cumsum(a):
    if not is_dual_array(a):
        return lambda a: np.cumsum(a)

    def dual_cumsum(a):
        out = np.empty(a.size, dtype_like(a))
        total = as_zero(a)
        for i, x in enumerate(a.flat):
            total += x
            out[i] = total
        return out

    return dual_cumsum


REPLACED[np.cumsum] = METHODS["cumsum"] = cumsum


def dot(a, b):
    raise NotImplementedError


@overload(dot)
def _dot(a, b):
    if not (is_dual_array(a) or is_dual_array(b)):
        return lambda a, b: np.dot(a, b)
    if not (isinstance(a, types.Array) and isinstance(b, types.Array)):
        return lambda a, b: a * b
    return {
        (1, 1): _vector_vector,
        (2, 1): _matrix_vector,
        (1, 2): lambda a, b: _matrix_vector_loop(b.T, a),
        (2, 2): _matrix_matrix,
    }.get((a.ndim, b.ndim))


def _check_inner(m, n):
    raise NotImplementedError


@overload(_check_inner)
def _overload_check_inner(m, n):
    def check(m, n):
        if m != n:
            raise ValueError("incompatible array sizes for the product")

    return check


def _vector_vector(a, b):
    _check_inner(a.shape[0], b.shape[0])
    total = as_zero(a) * as_zero(b)
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@register_jitable
def _matrix_vector_loop(a, b):
    _check_inner(a.shape[1], b.shape[0])
    out = np.empty(a.shape[0], dtype_like(a, b))
    for i in range(a.shape[0]):
        total = as_zero(a) * as_zero(b)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k]
        out[i] = total
    return out


def _matrix_vector(a, b):
    return _matrix_vector_loop(a, b)


def _matrix_matrix(a, b):
    _check_inner(a.shape[1], b.shape[0])
    out = np.empty((a.shape[0], b.shape[1]), dtype_like(a, b))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = as_zero(a) * as_zero(b)
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            out[i, j] = total
    return out


REPLACED[np.dot] = METHODS["dot"] = dot
REPLACED[operator.matmul] = dot


@overload(np.array)
def _array_of_duals(object, dtype=None):
    """`np.array` of a flat list or tuple of scalars, at least one of them a dual."""
    if dtype is not None and not isinstance(dtype, types.NoneType | types.Omitted):
        return None
    if isinstance(object, types.List) and isinstance(object.dtype, d.Dual):

        def from_list(object, dtype=None):
            out = np.empty(len(object), dtype_like(object[0]))
            for i in range(len(object)):
                out[i] = object[i]
            return out

        return from_list
    if isinstance(object, types.BaseTuple) and any(isinstance(t, d.Dual) for t in object):
        return _array_from_tuple(len(object))
    return None


@functools.cache
def _array_from_tuple(n):
    stores = "\n".join(f"    out[{i}] = object[{i}]" for i in range(n))
    source = (
        "def from_tuple(object, dtype=None):\n"
        f"    out = np.empty({n}, dtype_like(object))\n{stores}\n    return out\n"
    )
    namespace = {"np": np, "dtype_like": dtype_like}
    return define(source, namespace)


