"""New arrays: allocated, made of numbers, lists and tuples, copied, taken from others."""

from numba.core import ir, types

from ...ir.function import times_read
from ...ir.leaves import leaves
from .. import array_loops
from . import lists
from .array import Fresh, Inferred, LikeNumber, SameOrCopy, View
from .call import StandIn
from .scalar_function import is_scalar


def has_floats(fn, variables):
    return any(leaf.kind == "scalar" for v in variables for leaf in leaves(fn.type_of(v)))


def arguments_given(call):
    return [*call.args, *(v for _, v in call.kws)]


# -- allocations -----------------------------------------------------------------------------


def fresh(fn, label, s, call):
    """A new array; where floats go in, Numba's own Python code for it is entered instead."""
    return None if has_floats(fn, arguments_given(call)) else Fresh(fn, label, s)


def fresh_like(fn, label, s, call):
    of_number = bool(call.args) and is_scalar(fn.type_of(call.args[0]))
    return LikeNumber(fn, label, s) if of_number else fresh(fn, label, s, call)


def inferred(fn, label, s, call):
    return Inferred(fn, label, s) if leaves(fn.type_of(s.target)) else None


def new_array(fn, label, s, call):
    """`np.array(x)`: a copy of an array, of a number, or what is written out as a list or a tuple."""
    source = call.args[0]
    ty = fn.type_of(source)
    if isinstance(ty, types.Array):
        return copied(fn, label, s, source)
    if is_scalar(ty):
        out = fn.type_of(s.target)
        made = (
            array_loops.vector_of(1, out.dtype)
            if out.ndim
            else array_loops.array_of_number(out.dtype)
        )
        return StandIn(fn, label, s, made, [source])
    members = written_out(fn, source)
    if members is None and isinstance(ty, types.BaseTuple):
        return _of_members(fn, label, s, source, ty)
    if members is None and lists.is_list(ty) and (depth := array_loops.depth_of_lists(ty)):
        dtype = fn.type_of(s.target).dtype
        return StandIn(fn, label, s, array_loops.array_of_list(depth, dtype), [source])
    if members is None or not leaves(fn.type_of(s.target)):
        return None
    dtype = fn.type_of(s.target).dtype
    if all(isinstance(m, list) for m in members):
        flat = [v for row in members for v in row]
        if len({len(row) for row in members}) != 1:
            return None
        return StandIn(
            fn, label, s, array_loops.matrix_of(len(members), len(members[0]), dtype), flat
        )
    if any(isinstance(m, list) for m in members):
        return None
    return StandIn(fn, label, s, array_loops.vector_of(len(members), dtype), members)


def _of_members(fn, label, s, source, ty):
    """`np.array(t)` of a tuple."""
    out = fn.type_of(s.target)
    if not leaves(ty) or not leaves(out):
        return None
    helper = array_loops.array_of_tuple(ty, out.dtype)
    return helper and StandIn(fn, label, s, helper, [source])


def written_out(fn, var):
    """The members of a list or a tuple that the code writes out (nested ones as lists), or None."""
    value = fn.definition(var)
    if not isinstance(value, ir.Expr) or value.op not in ("build_list", "build_tuple"):
        return None
    if value.op == "build_list" and times_read(fn, var) != 1:  # it may have been changed since
        return None
    found = []
    for item in value.items:
        ty = fn.type_of(item)
        if is_scalar(ty):
            found.append(item)
            continue
        inner = written_out(fn, item)
        if inner is None:
            return None
        found.append(inner)
    return found


def copied(fn, label, s, source):
    ty, out = fn.type_of(source), fn.type_of(s.target)
    if not leaves(ty) or not isinstance(out, types.Array):
        return None
    return StandIn(fn, label, s, array_loops.copy_of(ty.ndim, out.dtype, out.layout), [source])


def copy_function(fn, label, s, call):
    source = call.args[0]
    return copied(fn, label, s, source) if isinstance(fn.type_of(source), types.Array) else None


def as_array(fn, label, s, call):
    """`np.asarray` and the like: the array itself where nothing needs to change."""
    source = call.args[0]
    if fn.type_of(source) == fn.type_of(s.target):
        return View(fn, label, s, source)
    ty = fn.type_of(source)
    if isinstance(ty, types.BaseTuple | types.List) or is_scalar(ty):
        return new_array(fn, label, s, call)
    unknown = isinstance(ty, types.Array) and (ty.layout == "A" or ty.ndim == 1)
    if unknown and ty.mutable and leaves(ty):  # nothing is written to what `np.broadcast_to` gives
        return SameOrCopy(fn, label, s, source)
    return copy_function(fn, label, s, call)


def take(fn, label, s, call):
    return _taken(fn, label, s, call, list(call.args))


def method_take(fn, label, s, call, owner, ty):
    return _taken(fn, label, s, call, [owner, *call.args])


def _taken(fn, label, s, call, arguments):
    """`np.take(a, numbers)`, along an axis too, by an array of numbers; None for other numbers."""
    named = dict(call.kws)
    arguments += [named[name] for name in ("indices", "axis") if name in named]
    if len(arguments) not in (2, 3):
        return None
    a, numbers = (fn.type_of(v) for v in arguments[:2])
    if not all(isinstance(ty, types.Array) for ty in (a, numbers)) or not leaves(a):
        return None
    if not isinstance(numbers.dtype, types.Integer):
        return None
    if len(arguments) == 2 or isinstance(fn.type_of(arguments[2]), types.NoneType):
        helper = array_loops.taken(a.ndim, numbers.ndim, a.dtype)
        return StandIn(fn, label, s, helper, arguments[:2])
    axis = fn.constant(arguments[2])
    if numbers.ndim != 1 or not isinstance(axis, int) or not -a.ndim <= axis < a.ndim:
        return None
    return StandIn(
        fn, label, s, array_loops.taken_along(a.ndim, axis % a.ndim, a.dtype), arguments[:2]
    )
