"""Instances of classes as tuples of their fields, and back: in compiled code, for every type of fields."""

import keyword
from collections import namedtuple
from functools import cache

from numba import njit
from numba.core import types
from numba.extending import overload

from ..forward.dual import primal_type
from ..forward.dual_dispatcher import dualized
from ..forward.retyped import allocator_for, root_of
from ..ir.leaves import fields_of
from ..source import define
from .argument_structure import hides_floats, leaves, parse


@cache
def _named(name, fields):
    """The namedtuple that stands for an instance; a tuple where names of fields do not allow one."""
    if not fields or any(f.startswith("_") or keyword.iskeyword(f) for f in fields):
        return None
    return namedtuple(name, fields)


def _class_name(ty):
    return ty.classname if isinstance(ty, types.ClassInstanceType) else type(ty).__name__


def tuple_type(ty):
    """The type of what `as_tuple` makes of a value."""
    fields = fields_of(ty)
    if fields is not None:
        members = [tuple_type(t) for t in fields.values()]
        named = _named(_class_name(ty), tuple(fields))
        if named is None:
            return types.BaseTuple.from_types(members)
        if len(set(members)) == 1:
            return types.NamedUniTuple(members[0], len(members), named)
        return types.NamedTuple(members, named)
    if isinstance(ty, types.BaseNamedTuple):
        members = [tuple_type(t) for t in ty.types]
        if members and len(set(members)) == 1:
            return types.NamedUniTuple(members[0], len(members), ty.instance_class)
        return types.NamedTuple(members, ty.instance_class)
    if isinstance(ty, types.BaseTuple):
        return types.BaseTuple.from_types([tuple_type(t) for t in ty.types])
    return ty


def holds_instances(ty):
    """Whether a value is an instance, or a tuple with one in it."""
    if isinstance(ty, types.BaseTuple):
        return any(map(holds_instances, ty.types))
    return fields_of(ty) is not None


def has_floats(ty):
    """Whether there is something to differentiate by among the fields."""
    return any(leaf.kind != "constant" for leaf in leaves(parse(tuple_type(ty), "")))


def out_of_reach(ty):
    """The type of the first float in a field of a kind that operators do not differentiate by."""
    return next((x.type for x in leaves(parse(tuple_type(ty), "")) if hides_floats(x)), None)


# -- instance to tuple -----------------------------------------------------------------------------


def as_tuple(x):
    """An instance as a tuple of its fields, instances in its fields too; other values as they are."""
    raise NotImplementedError


@overload(as_tuple)
def _as_tuple(x):
    if not holds_instances(x):
        return lambda x: x
    fields = fields_of(x)
    if fields is None:
        members = [f"x[{k}]" for k in range(len(x))]
        made = x.instance_class if isinstance(x, types.BaseNamedTuple) else None
    else:
        members = [f"x.{name}" for name in fields]
        made = _named(_class_name(root_of(x)), tuple(fields))
    items = "".join(f"as_tuple({member}), " for member in members)
    call = f"({items})" if made is None else f"made({items})"
    namespace = {"as_tuple": as_tuple, "made": made}
    return define(f"def read_fields(x):\n    return {call}\n", namespace)


# -- tuple to instance -----------------------------------------------------------------------------


def maker(ty):
    """A dispatcher that makes of a tuple of fields the instance, with duals where the tuple has them."""
    ty = primal_type(ty)
    if isinstance(ty, types.ClassInstanceType):  # whose type is gone with the class
        known = ty.class_type.__dict__.setdefault("__numbad_makers__", {})
    else:
        known = _MAKERS
    if ty not in known:
        known[ty] = njit(_maker_source(ty))
    return known[ty]


_MAKERS = {}


def _maker_source(ty):
    fields, namespace = fields_of(ty), {}
    if fields is None:
        return _members_source(ty)
    lines = ["def make_instance(t):"]
    items = []
    for k, part in enumerate(fields.values()):
        items.append(_item(k, part, namespace))
        lines.append(f"    part{k} = {items[-1]}")
    namespace["allocate"] = allocator_for(ty)
    parts = "".join(f"part{k}, " for k in range(len(fields)))
    lines.append(f"    instance = allocate(({parts}))")
    lines += [f"    instance.{name} = part{k}" for k, name in enumerate(fields)]
    return define("\n".join([*lines, "    return instance", ""]), namespace)


def _item(k, ty, namespace):
    if not holds_instances(ty):
        return f"t[{k}]"
    namespace[f"make{k}"] = maker(ty)
    return f"make{k}(t[{k}])"


def _members_source(ty):
    """Of a tuple with instances in it."""
    namespace = {}
    items = "".join(_item(k, part, namespace) + ", " for k, part in enumerate(ty.types))
    if isinstance(ty, types.BaseNamedTuple):
        namespace["named"] = ty.instance_class
        items = f"named({items})"
    else:
        items = f"({items})"
    return define(f"def make_members(t):\n    return {items}\n", namespace)


def restored(g, like):
    """A gradient by `as_tuple(like)` with the structure of `like`."""
    raise NotImplementedError


@overload(restored)
def _restored(g, like):
    if not holds_instances(like):
        return lambda g, like: g
    namespace = {"completed": completed, "make": dualized(maker(like))}
    return define(
        "def restore(g, like):\n    return make(completed(g, like))\n",
        namespace,
    )


def completed(g, like):
    """A gradient by `as_tuple(like)`, with the constants of `like` in place of None."""
    raise NotImplementedError


@overload(completed)
def _completed(g, like):
    if isinstance(g, types.NoneType):
        return lambda g, like: like
    if not holds_instances(like):
        return lambda g, like: g
    names = fields_of(like)
    sources = (
        [f"like[{k}]" for k in range(len(g))] if names is None else [f"like.{n}" for n in names]
    )
    items = "".join(f"completed(g[{k}], {source}), " for k, source in enumerate(sources))
    return define(f"def complete(g, like):\n    return ({items})\n", {"completed": completed})
