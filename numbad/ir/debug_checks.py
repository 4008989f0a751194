"""The checks of the debug mode: indices within bounds, results finite where their operands are."""

import ctypes

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir as ll
from numba.core import cgutils, ir, types
from numba.core.ir_utils import get_definition, guard

from ..errors import NonFiniteError
from .fence import place
from .spelling import spell_value
from .stray import refuse_stray

MOST = 8  # numbers that are kept for a message
SYMBOL = "numbad_nonfinite"
_values = (ctypes.c_double * MOST)()
llvm.add_symbol(SYMBOL, ctypes.addressof(_values))
NonFiniteError.values = _values
_DOUBLE = ll.DoubleType()


def refuse_nonfinite(lower, ty, value, inst):
    """Emit the error for an assignment that makes a NaN or an infinity."""
    expr = inst.value
    if isinstance(ty, types.Array):
        _refuse_nonfinite_elements(lower, ty, value, inst)
    if not isinstance(expr, ir.Expr) or expr.op not in ("binop", "inplace_binop", "unary", "call"):
        return
    numbers = _numbers(lower, ty, value)
    read = _operands(expr)
    if any(isinstance(lower.typeof(v.name), types.RawPointer) for v in read):
        return  # numbers that are taken back from the tape
    operands = [o for v in read for o in _members(lower, v)][: MOST - 1]
    if not numbers or not operands:
        return
    builder = lower.builder
    before = _all_finite(builder, [x for _, t, v in operands for x in _numbers(lower, t, v)])
    for k, found in enumerate(numbers):
        wrong = builder.and_(before, builder.not_(_is_finite(builder, found)))
        with cgutils.if_unlikely(builder, wrong):
            kept = [found, *(_numbers(lower, t, v)[0] for _, t, v in operands)]
            _keep(builder, kept)
            what = _kind(lower.func_ir, inst.target.name, ty, k)
            shown = ", ".join(
                f"{_shown(lower.func_ir, name)} = {{{i}}}"
                for i, (name, *_) in enumerate(operands, start=1)
            )
            message = f"{what} is {{0}}, with {shown}: {place(inst.loc)}"
            lower.context.call_conv.return_user_exc(builder, NonFiniteError, (message,))


def _refuse_nonfinite_elements(lower, ty, value, inst):
    """The same for an array that an operator or a function of NumPy makes element by element."""
    expr = inst.value
    if not (_is_number(ty.dtype) and _is_elementwise(lower, expr)):
        return
    builder, names = lower.builder, [v.name for v in expr.list_vars()]
    read = [(lower.typeof(n), lower.loadvar(n)) for n in names if _holds_numbers(lower.typeof(n))]
    kept = cgutils.alloca_once_value(builder, _DOUBLE(0.0))
    with cgutils.if_unlikely(builder, _any_nonfinite(lower, ty, value, kept)):
        before = cgutils.false_bit
        for t, v in read:
            before = builder.or_(before, _any_nonfinite(lower, t, v))
        with builder.if_then(builder.not_(before)):
            _keep(builder, [builder.load(kept)])
            shown = _shown(lower.func_ir, inst.target.name)
            message = f"an element of {shown}, or a partial derivative of one, is {{0}}: {place(inst.loc)}"
            lower.context.call_conv.return_user_exc(builder, NonFiniteError, (message,))


def _is_elementwise(lower, expr):
    if not isinstance(expr, ir.Expr):
        return False
    if expr.op == "call":
        return isinstance(getattr(lower.typeof(expr.func.name), "typing_key", None), np.ufunc)
    return expr.op in ("binop", "inplace_binop", "unary", "arrayexpr")


def _holds_numbers(ty):
    return _is_number(ty.dtype if isinstance(ty, types.Array) else ty)


def _any_nonfinite(lower, ty, value, kept=None):
    """Whether a number, or an element of an array, is not finite; the first such goes to `kept`."""
    builder = lower.builder
    if not isinstance(ty, types.Array):
        return builder.not_(_all_finite(builder, _numbers(lower, ty, value)))
    found = cgutils.alloca_once_value(builder, cgutils.false_bit)
    array = lower.context.make_array(ty)(lower.context, builder, value)
    with cgutils.loop_nest(
        builder, cgutils.unpack_tuple(builder, array.shape), ll.IntType(64)
    ) as at:
        place_of = cgutils.get_item_pointer(lower.context, builder, ty, array, at)
        element = lower.context.unpack_value(builder, ty.dtype, place_of)
        for x in _numbers(lower, ty.dtype, element):
            wrong = builder.and_(
                builder.not_(builder.load(found)), builder.not_(_is_finite(builder, x))
            )
            with cgutils.if_unlikely(builder, wrong):
                builder.store(cgutils.true_bit, found)
                if kept is not None:
                    x = builder.fpext(x, _DOUBLE) if isinstance(x.type, ll.FloatType) else x
                    builder.store(x, kept)
    return builder.load(found)


def refuse_strays(lower, access):
    """Emit the errors for integers in an index of an array that are not within bounds."""
    is_set = isinstance(access, ir.SetItem | ir.StaticSetItem)
    is_get = isinstance(access, ir.Expr) and access.op in ("getitem", "static_getitem")
    if not (is_set or is_get):
        return
    array, index = access.target if is_set else access.value, access.index
    ty = lower.typeof(array.name)
    if not isinstance(ty, types.Array | types.NumpyFlatType):
        return
    value = lower.loadvar(array.name)
    if isinstance(ty, types.NumpyFlatType):
        _refuse_stray_number(lower, ty, value, access)
        return
    for axis, (kind, member) in enumerate(_of_index(lower, index)):
        at, where = (ty, value, axis, False), place(access.loc)
        if isinstance(kind, types.Integer):
            refuse_stray(lower.context, lower.builder, at, kind, member, where)
        elif isinstance(kind, types.Array) and isinstance(
            kind.dtype, types.Integer | types.Boolean
        ):
            _refuse_stray_elements(lower, at, kind, member, where)
        elif not isinstance(kind, types.SliceType):
            return


def _refuse_stray_elements(lower, at, kind, value, where):
    """The same for an array of integers, and for a mask, which is as long as the axis."""
    context, builder = lower.context, lower.builder
    array = context.make_array(kind)(context, builder, value)
    shape = cgutils.unpack_tuple(builder, array.shape)
    if isinstance(kind.dtype, types.Boolean):
        last = builder.sub(shape[0], shape[0].type(1))
        some = builder.icmp_signed(">", shape[0], shape[0].type(0))
        refuse_stray(context, builder, at, types.intp, last, where, some)
        return
    with cgutils.loop_nest(builder, shape, ll.IntType(64)) as indices:
        pointer = cgutils.get_item_pointer(context, builder, kind, array, indices)
        refuse_stray(context, builder, at, kind.dtype, builder.load(pointer), where)


def _refuse_stray_number(lower, flat, value, access):
    """The same for `a.flat[i]`, where Numba does not count a negative number from the end."""
    builder = lower.builder
    array = lower.context.make_helper(builder, flat, value).array
    for kind, number in _of_index(lower, access.index):
        if isinstance(kind, types.Integer):
            at = flat.array_type, array, None, True
            refuse_stray(lower.context, builder, at, kind, number, place(access.loc))


def _of_index(lower, index):
    """The type and the value of each member of an index."""
    if isinstance(index, ir.Var):
        ty, value = lower.typeof(index.name), lower.loadvar(index.name)
        if not isinstance(ty, types.BaseTuple):
            return [(types.unliteral(ty), value)]
        members = cgutils.unpack_tuple(lower.builder, value, len(ty))
        return [(types.unliteral(t), m) for t, m in zip(ty, members, strict=True)]
    known = index if isinstance(index, tuple) else (index,)
    return [
        (types.slice2_type, None) if isinstance(k, slice) else (types.intp, ll.IntType(64)(k))
        for k in known
        if isinstance(k, int | slice)
    ] * all(isinstance(k, int | slice) for k in known)


def _members(lower, var):
    """The numbers in an operand, a number or a tuple of them: name, type, value."""
    ty = lower.typeof(var.name)
    if _is_number(ty):
        yield var.name, ty, lower.loadvar(var.name)
    elif isinstance(ty, types.BaseTuple) and any(map(_is_number, ty)):
        built = guard(get_definition, lower.func_ir, var)
        names = [v.name for v in built.items] if getattr(built, "op", "") == "build_tuple" else None
        values = cgutils.unpack_tuple(lower.builder, lower.loadvar(var.name), len(ty))
        for k, (t, value) in enumerate(zip(ty, values, strict=True)):
            if _is_number(t):
                yield names[k] if names else f"{var.name}", t, value


def _operands(expr):
    if expr.op == "call":
        return [*expr.args, *(v for _, v in expr.kws)]
    return [expr.value] if expr.op == "unary" else [expr.lhs, expr.rhs]


def _is_number(ty):
    """Whether a type is of floats: dual numbers, of `forward`, have a `scalar` and `tag`."""
    ty = types.unliteral(ty)
    return isinstance(ty, types.Float | types.Complex) or hasattr(ty, "tag")


def _numbers(lower, ty, value):
    """The floats of a number: its value first."""
    ty = types.unliteral(ty)
    if isinstance(ty, types.Float):
        return [value]
    if isinstance(ty, types.Complex):
        return [lower.builder.extract_value(value, k) for k in range(2)]
    if not (_is_number(ty) or (isinstance(ty, types.BaseTuple) and all(map(_is_number, ty)))):
        return []
    return list(_floats(lower.builder, value))


def _floats(builder, value):
    """Every float within a value of nested structs, arrays and vectors."""
    if isinstance(value.type, ll.VectorType):
        for k in range(value.type.count):
            yield builder.extract_element(value, ll.IntType(32)(k))
    elif isinstance(value.type, ll.DoubleType | ll.FloatType):
        yield value
    elif isinstance(value.type, ll.BaseStructType | ll.ArrayType):
        count = len(value.type.elements) if hasattr(value.type, "elements") else value.type.count
        for k in range(count):
            yield from _floats(builder, builder.extract_value(value, k))


def _is_finite(builder, x):
    """x - x is zero for finite x, else NaN."""
    rest = builder.fsub(x, x)
    return builder.fcmp_ordered("==", rest, x.type(0.0))


def _all_finite(builder, numbers):
    all_of = cgutils.true_bit
    for x in numbers:
        all_of = builder.and_(all_of, _is_finite(builder, x))
    return all_of


def _keep(builder, numbers):
    found = builder.module.globals.get(SYMBOL)
    if found is None:
        found = cgutils.add_global_variable(builder.module, _DOUBLE, SYMBOL)
    for k, x in enumerate(numbers):
        x = builder.fpext(x, _DOUBLE) if isinstance(x.type, ll.FloatType) else x
        builder.store(x, builder.gep(found, [ll.IntType(64)(k)]))


def _kind(func_ir, name, ty, number):
    shown = _shown(func_ir, name)
    return f"a partial derivative of {shown}" if number and hasattr(ty, "tag") else shown


def _shown(func_ir, name):
    """What a variable is called in a message."""
    if name.endswith("~"):
        return f"the cotangent of {_shown(func_ir, name[:-1])}"
    if name.startswith("$t"):
        return "a term of a cotangent"
    spelled = spell_value(func_ir, name) or ""
    # `apply(...)` is what takes the elements of arrays one by one, no name of the user's.
    return "a part of the expression" if not spelled or spelled.startswith("apply(") else spelled
