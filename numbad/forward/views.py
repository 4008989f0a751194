"""Arrays of duals without memory of their own, for where there is none to be had, as on a GPU.

`Shadowed` has its values in one array and its partials in another, the shadow; what is written to an element
goes to both. `Seeded` has the values of an array, and the partials of that array by its own elements from
number `first` on: zeros and ones, made as they are read. Both take an index for every axis, or fewer, which
gives a view of a part. Whatever else is asked of them has no code, so that it is refused.
"""

import operator

from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed
from numba.extending import (
    intrinsic,
    make_attribute_wrapper,
    overload,
    overload_attribute,
    register_model,
)

from ..source import define
from . import dual as d
from .access import assemble_scalar, pair, partial, strip, unit
from .dual_arrays import as_scalar
from .refuse import refused_call

_INDEX = types.int64
_TWICE = "keep in a variable what it needs again: each pass of forward mode writes the array anew"
_to_index = as_scalar(_INDEX)


class Shadowed(d.DualView):
    """Values in `array`; the partials in `shadow`, which has one more axis for them unless there is one.

    One that is not `readable` takes results, of several passes that must not see one another's.
    """

    def __init__(self, array, shadow, dual, readable=True):
        self.shadow, self.readable = shadow, readable
        super().__init__(array, dual, "differentiated array" if readable else "result array")
        self.name += f" with {shadow}"

    def members(self):
        return [("array", self.array), ("shadow", self.shadow), ("first", _INDEX)]


class Seeded(d.DualView):
    """Values in `array`, element number `first + k` of which has one as partial number `k`."""

    def __init__(self, array, dual):
        super().__init__(array, dual, "differentiated array")

    def members(self):
        steps = types.UniTuple(_INDEX, self.ndim)
        return [("array", self.array), ("first", _INDEX), ("steps", steps)]


@register_model(Shadowed)
@register_model(Seeded)
class ViewModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, fe_type.members())


for _kind, _names in ((Shadowed, "array shadow first"), (Seeded, "array first steps")):
    for _name in _names.split():
        make_attribute_wrapper(_kind, _name, f"_{_name}")


def _maker(view):
    """The code of an intrinsic that makes a view from values for its first members."""

    def codegen(context, builder, sig, args):
        made = cgutils.create_struct_proxy(view)(context, builder)
        for (name, ty), given, value in zip(view.members(), sig.args, args, strict=False):
            setattr(made, name, context.cast(builder, value, given, ty))
        return impl_ret_borrowed(context, builder, view, made._getvalue())

    return codegen


def _shadowing(typingctx, given, readable):
    array, shadow, _, n, tag = given
    scalar = d.join_tangent(typingctx, array.dtype, shadow.dtype)
    if scalar is None or shadow.ndim - array.ndim not in (0, 1):
        return None
    view = Shadowed(array, shadow, d.Dual(scalar, n.literal_value, tag.literal_value), readable)
    return view(*given), _maker(view)


@intrinsic(prefer_literal=True)
def shadowed(typingctx, array, shadow, first, n, tag):
    """The view of an array whose partials are in `shadow`, from number `first` on, where there are several.

    With `shadow` of as many axes as the array there is one partial; with one more, there are `n`, and
    those beyond the end are zero.
    """
    return _shadowing(typingctx, (array, shadow, first, n, tag), True)


@intrinsic(prefer_literal=True)
def written(typingctx, array, shadow, first, n, tag):
    """The same of an array that is written to and not read."""
    return _shadowing(typingctx, (array, shadow, first, n, tag), False)


@intrinsic(prefer_literal=True)
def _seeded(typingctx, array, first, steps, n, tag):
    view = Seeded(array, d.Dual(array.dtype, n.literal_value, tag.literal_value))
    return view(array, first, steps, n, tag), _maker(view)


def seeded(array, first, n, tag):
    """The view of an array whose element number `first + k`, in C order, has partial number `k`."""
    raise NotImplementedError


@overload(seeded, prefer_literal=True)
def _overload_seeded(array, first, n, tag):
    return _with_steps(array, f"{n.literal_value}, {tag.literal_value}")


def _with_steps(array, levels):
    lines = ["def seed(array, first, n, tag):", "    step = to_index(1)"]
    for k in reversed(range(array.ndim)):
        lines += [f"    step{k} = step", f"    step = step * array.shape[{k}]"]
    steps = "".join(f"step{k}, " for k in range(array.ndim))
    lines.append(f"    return seeded(array, first, ({steps}), {levels})")
    return define("\n".join(lines) + "\n", {"seeded": _seeded, "to_index": _to_index})


# -- elements and parts ------------------------------------------------------------------------


def _count(index):
    """How many axes an index of integers is for; None for any other index."""
    members = index.types if isinstance(index, types.BaseTuple) else [index]
    return len(members) if all(isinstance(ty, types.Integer) for ty in members) else None


def _members(index):
    """Sources of the members of an index called `i`."""
    return [f"i[{k}]" for k in range(len(index))] if isinstance(index, types.BaseTuple) else ["i"]


@overload(operator.getitem)
def _getitem(a, i):
    if not isinstance(a, d.DualView) or (count := _count(i)) is None or count > a.ndim:
        return None
    kind = "shadowed" if isinstance(a, Shadowed) else "seeded"
    if not getattr(a, "readable", True) and count == a.ndim:
        raise refused_call(
            "a function that reads the array that it writes its result into", None, _TWICE
        )
    form = "element" if count == a.ndim else "part"
    return _FORMS[kind, form](a, i, _members(i))


def _shadowed_element(a, i, members):
    tag = a.dual.tag
    if a.shadow.ndim == a.ndim:
        return lambda a, i: pair(a._array[i], a._shadow[i], tag)
    places = "".join(
        f"column(a._shadow, ({', '.join(members)}, a._first + {k})), " for k in range(a.dual.n)
    )
    source = f"def element(a, i):\n    return assemble(a._array[i], ({places}), {tag})\n"
    return define(source, {"assemble": assemble_scalar, "column": _column})


def _shadowed_part(a, i, members):
    n, tag, view = a.dual.n, a.dual.tag, shadowed if a.readable else written
    return lambda a, i: view(a._array[i], a._shadow[i], a._first, n, tag)


def _numbered(a, members):
    """Lines that count the elements before an index in C order, from number `first` on, as `number`."""
    lines = ["    number = -a._first"]
    for k, member in enumerate(members):
        lines += [
            f"    k{k} = to_index({member})",
            f"    if k{k} < 0:",
            f"        k{k} += a.shape[{k}]",
            f"    number += k{k} * a._steps[{k}]",
        ]
    return lines


def _seeded_element(a, i, members):
    made = f"    return unit(a._array[i], number, {a.dual.n}, {a.dual.tag})"
    lines = ["def element(a, i):", *_numbered(a, members), made]
    return define("\n".join(lines) + "\n", {"unit": unit, "to_index": _to_index})


def _seeded_part(a, i, members):
    steps = "".join(f"a._steps[{k}], " for k in range(len(members), a.ndim))
    made = f"    return seeded(a._array[i], -number, ({steps}), {a.dual.n}, {a.dual.tag})"
    lines = ["def part(a, i):", *_numbered(a, members), made]
    return define("\n".join(lines) + "\n", {"seeded": _seeded, "to_index": _to_index})


_FORMS = {
    ("shadowed", "element"): _shadowed_element,
    ("shadowed", "part"): _shadowed_part,
    ("seeded", "element"): _seeded_element,
    ("seeded", "part"): _seeded_part,
}


def _column(shadow, index):
    """An element of a shadow; zero beyond the end of its last axis."""
    raise NotImplementedError


@overload(_column)
def _overload_column(shadow, index):
    zero = as_scalar(shadow.dtype)

    def column(shadow, index):
        return shadow[index] if index[-1] < shadow.shape[-1] else zero(0)

    return column


def _put(shadow, index, value):
    """Set an element of a shadow, unless it is beyond the end of its last axis."""
    raise NotImplementedError


@overload(_put)
def _overload_put(shadow, index, value):
    def put(shadow, index, value):
        if index[-1] < shadow.shape[-1]:
            shadow[index] = value

    return put


@overload(operator.setitem)
def _setitem(a, i, v):
    if not isinstance(a, Shadowed) or _count(i) != a.ndim or not _fits(v, a.dual):
        return None
    lines = ["def set_element(a, i, v):", "    x = to_dual(v)", "    a._array[i] = strip(x)"]
    if a.shadow.ndim == a.ndim:
        lines.append("    a._shadow[i] = partial(x, 0)")
    else:
        place = ", ".join(_members(i))
        lines += [
            f"    put(a._shadow, ({place}, a._first + {k}), partial(x, {k}))"
            for k in range(a.dual.n)
        ]
    names = {"to_dual": as_scalar(a.dual), "strip": strip, "partial": partial, "put": _put}
    return define("\n".join(lines) + "\n", names)


def _fits(ty, dual):
    """Whether a number may be assigned to an element of a dual type."""
    if isinstance(ty, d.Dual) and (ty.tag > dual.tag or (ty.tag == dual.tag and ty.n != dual.n)):
        return False
    real = not isinstance(d.base_scalar(ty), types.Complex)
    number = isinstance(ty, types.Number | types.Boolean | d.Dual)
    return number and (real or isinstance(d.base_scalar(dual), types.Complex))


# -- shapes ------------------------------------------------------------------------------------


@overload(len)
def _len(a):
    return (lambda a: len(a._array)) if isinstance(a, d.DualView) else None


@overload_attribute(d.DualView, "shape")
def _shape(a):
    return lambda a: a._array.shape


@overload_attribute(d.DualView, "size")
def _size(a):
    return lambda a: a._array.size


@overload_attribute(d.DualView, "ndim")
def _ndim(a):
    ndim = a.ndim
    return lambda a: ndim
