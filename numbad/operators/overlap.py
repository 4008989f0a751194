"""Whether arguments share memory, asked of those that a function changes.

Differentiation gives every array, list and instance a copy of its own that holds duals, or a shadow, so a
change through one name would not be seen through another.
"""

from itertools import combinations

from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array
from numba.typed.typedobjectutils import _nonoptional

from ..ir.array_extents import arrays_overlap
from ..ir.leaves import fields_of
from ..source import define
from .argument_structure import leaves, parse
from .describe import users_name
from .instance_tuples import as_tuple


@intrinsic
def _are_one(typingctx, a, b):
    """Whether two lists, or two instances, are the same."""

    def codegen(context, builder, sig, args):
        memory = [
            context.make_helper(builder, ty, value=value).meminfo
            for ty, value in zip(sig.args, args, strict=True)
        ]
        same = builder.icmp_unsigned("==", *memory)
        return builder.and_(same, cgutils.is_not_null(builder, memory[0]))

    return types.boolean(a, b), codegen


@intrinsic
def _array_of(typingctx, record):
    """A record as an array of one: the same memory."""
    ty = types.Array(record, 1, "C")

    def codegen(context, builder, sig, args):
        array = make_array(ty)(context, builder)
        one, size = (context.get_constant(types.intp, n) for n in (1, record.size))
        data = builder.bitcast(args[0], array.data.type)
        given = {"shape": [one], "strides": [size], "itemsize": size, "meminfo": None}
        populate_array(array, data=data, **given)
        return array._getvalue()

    return ty(record), codegen


LISTS = types.List | types.ListType


def overlap(a, b):
    """Whether arrays, lists, instances, or what these hold, may share memory."""
    raise NotImplementedError


@overload(overlap)
def _overlap(a, b):
    if isinstance(a, types.Optional):
        return lambda a, b: a is not None and overlap(_nonoptional(a), b)
    if isinstance(a, types.Record):
        return lambda a, b: overlap(_array_of(a), b)
    if isinstance(b, types.Record):
        return lambda a, b: overlap(a, _array_of(b))
    if isinstance(a, types.Array) and isinstance(b, types.Array):
        return lambda a, b: arrays_overlap(a, b)
    if a == b and (isinstance(a, LISTS) or fields_of(a) is not None):
        return lambda a, b: _are_one(a, b) or _parts_overlap(a, b)
    return lambda a, b: _parts_overlap(a, b)


def _parts_overlap(a, b):
    """Whether a part of the one shares memory with the other."""
    raise NotImplementedError


@overload(_parts_overlap)
def _overload_parts(a, b):
    if fields_of(a) is not None:
        return lambda a, b: overlap(as_tuple(a), b)
    if isinstance(a, types.BaseTuple):
        found = " or ".join(f"overlap(a[{k}], b)" for k, t in enumerate(a) if _is_shared(t))
        return define(f"def any_member(a, b):\n    return {found or False}\n", {"overlap": overlap})
    if isinstance(a, LISTS) and _is_shared(a.dtype):

        def any_item(a, b):
            for item in a:  # noqa: SIM110  (Numba knows no `any`)
                if overlap(item, b):
                    return True
            return False

        return any_item
    if _has_parts(b):
        return lambda a, b: overlap(b, a)
    return lambda a, b: False


def _has_parts(ty):
    """Whether a value holds others that may share memory."""
    if isinstance(ty, types.Optional):
        return _is_shared(ty.type)
    if isinstance(ty, LISTS):
        return _is_shared(ty.dtype)
    members = ty.types if isinstance(ty, types.BaseTuple) else (fields_of(ty) or {}).values()
    return any(map(_is_shared, members))


def _is_shared(ty):
    """Whether a value is, or has in it, memory that another may share."""
    return isinstance(ty, types.Array | types.Record | LISTS) or _has_parts(ty)


def overlaps_within(x):
    """Whether two fields of an instance share memory."""
    raise NotImplementedError


@overload(overlaps_within)
def _overlaps_within(x):
    if fields_of(x) is not None:
        return lambda x: overlaps_within(as_tuple(x))
    shared = [k for k, t in enumerate(x) if _is_shared(t)] if isinstance(x, types.BaseTuple) else ()
    found = [f"overlap(x[{i}], x[{k}])" for i, k in combinations(shared, 2)]
    found += [f"overlaps_within(x[{k}])" for k in shared if _has_parts(x[k])]
    namespace = {"overlap": overlap, "overlaps_within": overlaps_within}
    return define(f"def two_of(x):\n    return {' or '.join(found) or False}\n", namespace)


def may_meet(tys):
    """Whether arguments of these types may share memory, so that it counts which of them are changed."""
    shared = [ty for ty in tys if _is_shared(ty)]
    return len(shared) > 1 or any(map(_has_parts, shared))


def checks(operator, names, arguments, done):
    """Source lines that raise where a changed argument shares memory with another, or in itself.

    `arguments` maps the number of an argument to its type and source. Lists and instances have no copies
    that hold duals: for these, what differentiated values are written to counts.
    """
    shared = [
        (k, leaf)
        for k, (ty, source) in arguments.items()
        for leaf in leaves(parse(ty, source))
        if _is_shared(leaf.type)
    ]
    for i, (k, first) in enumerate(shared):
        if k in done.written and _has_parts(first.type):
            told = _message(operator, _two_parts(names[k]))
            yield f"if overlaps_within({first.source}):\n    raise ArgumentError({told!r})"
        for m, second in shared[i + 1 :]:
            arrays = types.Array | types.Record
            copied = any(isinstance(leaf.type, arrays) for leaf in (first, second))
            if {k, m} & (done.changed if copied else done.written):
                both = f"one of its arguments '{names[k]}' and '{names[m]}', which share memory"
                told = _message(operator, _two_parts(names[k]) if k == m else both)
                yield f"if overlap({first.source}, {second.source}):\n    raise ArgumentError({told!r})"


def _two_parts(name):
    return f"its argument '{name}', two parts of which share memory"


def _message(operator, changed):
    function = users_name(operator.f)
    return f"nd.{operator.name}: {function} changes {changed} here; pass a copy of one of them"


NAMES = {"overlap": overlap, "overlaps_within": overlaps_within}
"""What the lines of `checks` call."""
