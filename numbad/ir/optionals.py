"""Arrays, lists and tuples that may be None, where they are used as such: the code says that they are there.

Numba lets an optional array be indexed, iterated over and computed with, and an optional tuple be taken
apart, and raises TypeError where it is None. Here each such use is one of the array, the list or the
tuple itself, which `present` gives or raises the same error.
"""

import numpy as np
from numba.core import ir, types
from numba.core.imputils import impl_ret_borrowed
from numba.core.registry import cpu_target
from numba.core.typing import signature
from numba.extending import intrinsic

from .function import is_expr, map_vars, operands

_OPERATORS = "binop", "inplace_binop", "unary"
_OVER_ARRAYS = enumerate, zip, reversed, iter, len, sum, min, max, abs, sorted, list, tuple
_SEQUENCES = types.Array | types.BaseTuple | types.List | types.ListType
_OF_A_VALUE = "getitem", "static_getitem", "getattr", "getiter", "exhaust_iter"


@intrinsic
def present(typingctx, value):
    """The value of an optional one; TypeError where it is None."""
    if value == types.none:  # all that is known of it so far, while types are found
        return None
    target = value.type if isinstance(value, types.Optional) else value

    def codegen(context, builder, sig, args):
        found = context.cast(builder, args[0], sig.args[0], target)
        return impl_ret_borrowed(context, builder, target, found)

    return target(value), codegen


def take_present(fn):
    """Put `present` where an array that may be None is used; a None as such a one is None."""
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            if (
                isinstance(s, ir.Assign)
                and is_expr(s.value, "cast")
                and _is_none(fn, s.value.value)
            ):
                fn.types[s.target.name] = types.none
            used = {v.name: v for v in _used_as_arrays(fn, s) if may_be_none(fn.type_of(v))}
            body.append(_with(fn, s, {name: _take(fn, v, body, s.loc) for name, v in used.items()}))
        block.body = body
    fn.changed()


def _is_none(fn, var):
    return isinstance(fn.type_of(var), types.NoneType)


def may_be_none(ty):
    """Whether a type is that of an array, a list or a tuple, or None."""
    return isinstance(ty, types.Optional) and isinstance(ty.type, _SEQUENCES)


def _used_as_arrays(fn, s):
    """The variables of a statement that must be what they may be."""
    if isinstance(s, ir.SetItem | ir.StaticSetItem):
        return [s.target, s.value]
    value = getattr(s, "value", None)
    if is_expr(value, *_OF_A_VALUE):
        return [value.value]
    if is_expr(value, "call"):
        return [v for v in operands(value) if v is not value.func] if _takes_arrays(fn, s) else []
    if is_expr(value, *_OPERATORS) and not _asks_for_identity(fn, s, value):
        return value.list_vars()
    return []


def _takes_arrays(fn, s):
    """Whether a call takes an array wherever it is given an array or None: `np.sum(x)` is one, `f(x)` is not.

    It returns the same type for both, so for None it can but fail.
    """
    call = s.value
    given = [fn.type_of(v) for v in operands(call) if v is not call.func]
    if not any(map(may_be_none, given)) or not _is_numpys(fn, call):
        return False
    args = tuple(_plain(fn.type_of(v)) for v in call.args)
    kws = {name: _plain(fn.type_of(v)) for name, v in call.kws}
    context = cpu_target.typing_context
    known = context.resolve_function_type(fn.type_of(call.func), args, kws)
    return known is not None and known.return_type == fn.calls[call].return_type


def _is_numpys(fn, call):
    """Whether a call is that of a function or a method that takes arrays, and never None for one."""
    ty = fn.type_of(call.func)
    if isinstance(ty, types.BoundFunction):
        return isinstance(ty.this, types.Array)
    called = fn.constant(call.func)
    module = getattr(called, "__module__", None) or ""
    of_numpy = isinstance(called, np.ufunc) or module.partition(".")[0] == "numpy"
    return of_numpy or any(called is function for function in _OVER_ARRAYS)


def _asks_for_identity(fn, s, expr):
    """Whether an operator tells an array from None."""
    if isinstance(fn.type_of(s.target), types.Array):
        return False
    return getattr(expr.fn, "__name__", expr.fn) in ("is_", "is_not", "eq", "ne", "not", "not_")


def _take(fn, var, body, loc):
    ty = fn.type_of(var).type
    known = cpu_target.typing_context.resolve_value_type(present)
    func = fn.fresh("$present", known, loc)
    body.append(ir.Assign(ir.Global("present", present, loc), func, loc))
    call = ir.Expr.call(func, [var], (), loc)
    fn.calls[call] = signature(ty, fn.type_of(var))
    target = fn.fresh("$array", ty, loc)
    body.append(ir.Assign(call, target, loc))
    return target


def _with(fn, s, taken):
    """The statement with other variables."""
    if not taken:
        return s

    def rename(var):
        return taken.get(var.name, var)

    if not isinstance(s, ir.Assign):
        new = map_vars(s, rename)
        _retype(fn, s, new)
        return new
    value = map_vars(s.value, rename)
    _retype(fn, s.value, value)
    return ir.Assign(value, s.target, s.loc)


def _retype(fn, old, new):
    if (known := fn.calls.get(old)) is not None:
        fn.calls[new] = signature(known.return_type, *map(_plain, known.args))


def _plain(ty):
    return ty.type if may_be_none(ty) else ty
