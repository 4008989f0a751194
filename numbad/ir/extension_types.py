"""Types that others made of numbers and arrays, and the namedtuples of their parts.

A quaternion, a multivector or a measurement is a `types.Type` whose model is a struct. Inside numbad
it is a namedtuple of its members, the *parts*, so that derivatives of its members have a place: the
parts of a quaternion of floats are four floats, which may become four dual numbers. What operators
take and return is the *whole*.
"""

import re
from collections import namedtuple
from functools import lru_cache
from types import FunctionType

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import default_manager, models
from numba.core.imputils import impl_ret_borrowed
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from ..errors import UnsupportedError
from .leaves import fields_of, leaves

_LIBRARIES = {"numba", "numbad", "numba_cuda"}
_NONE_OF_THEM = (
    *(types.Number, types.Boolean, types.Array, types.BaseTuple, types.Dispatcher, types.Literal),
    *(types.StructRef, types.ClassInstanceType, types.Function, types.NoneType, types.UnicodeType),
)
_POINTERS = types.RawPointer | types.CPointer | types.MemInfoPointer | types.Opaque


@lru_cache(maxsize=4096)
def is_extension(ty):
    """Whether a type is one of others, a struct of what numbad knows, floats among it."""
    if isinstance(ty, _NONE_OF_THEM) or type(ty).__module__.partition(".")[0] in _LIBRARIES:
        return False
    members = members_of(ty)
    if not members or any(isinstance(member, _POINTERS) for _, member in members):
        return False
    inner = [leaves(parts_type(member)) for _, member in members]
    return any(inner) and all(leaf.kind != "opaque" for found in inner for leaf in found)


def members_of(ty):
    """`(name, type)` of the members of a struct; None for anything else."""
    try:
        model = default_manager.lookup(ty)
    except (KeyError, NotImplementedError):
        return None
    if not isinstance(model, models.StructModel):
        return None
    return [(name, model.get_member_fe_type(name)) for name in model._fields]


def _attributes(ty):
    """member -> the attribute that `make_attribute_wrapper` made of it."""
    found = {}
    for template in cpu_target.typing_context._get_attribute_templates(ty):
        code = getattr(template, "generic_resolve", None)
        if getattr(code, "__qualname__", "").startswith("make_attribute_wrapper."):
            attribute = _free(code.__func__, "python_attr")
            found.setdefault(_wrapped_member(ty, attribute), attribute)
    return found


def _wrapped_member(ty, attribute):
    """The member that an attribute of `make_attribute_wrapper` gives."""
    code = cpu_target.target_context.get_getattr(ty, attribute)
    return next(filter(None, (_free(c, "struct_attr") for c in _within(code))), None)


def _free(code, name):
    """What a function knows a variable of the function around it as, or None."""
    names = code.__code__.co_freevars
    return code.__closure__[names.index(name)].cell_contents if name in names else None


def _within(code):
    """A function, and those that it wraps."""
    yield code
    for cell in code.__closure__ or ():
        if isinstance(cell.cell_contents, FunctionType):
            yield from _within(cell.cell_contents)


@lru_cache(maxsize=4096)
def parts_class(ty):
    """The class of the namedtuple of an extension type's parts."""
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    attributes = _attributes(ty)
    names = [attributes.get(name, name) for name, _ in members_of(ty)]
    cls = namedtuple(re.sub(r"\W", "_", type(ty).__name__), names, rename=True)
    cls.numbad_whole = ty
    return cls


_SIMPLE = types.Number | types.Boolean | types.Array | types.Callable | types.Opaque | types.Literal


def parts_type(ty):
    """The type with namedtuples of parts in place of extension types."""
    return ty if isinstance(ty, _SIMPLE) else _parts_type(ty)


@lru_cache(maxsize=4096)
def _parts_type(ty):
    if is_extension(ty):
        return named_type([parts_type(t) for _, t in members_of(ty)], parts_class(ty))
    return _mapped(ty, parts_type)


def whole_type(ty):
    """The type with extension types in place of namedtuples of their parts."""
    return ty if isinstance(ty, _SIMPLE) else _whole_type(ty)


@lru_cache(maxsize=4096)
def _whole_type(ty):
    whole = getattr(getattr(ty, "instance_class", None), "numbad_whole", None)
    if whole is not None and ty == parts_type(whole):
        return whole
    return _mapped(ty, whole_type)


def _mapped(ty, change):
    """The type with the types of its members changed."""
    if isinstance(ty, types.BaseTuple):
        members = [change(t) for t in ty]
        if all(new is old for new, old in zip(members, ty, strict=True)):
            return ty
        if isinstance(ty, types.BaseNamedTuple):
            return named_type(members, ty.instance_class)
        return types.BaseTuple.from_types(members)
    if isinstance(ty, types.StructRef):
        old = tuple(fields_of(ty).items())
        new = tuple((name, change(t)) for name, t in old)
        return ty if new == old else type(ty)(new)
    if isinstance(ty, types.Optional):
        return types.Optional(change(ty.type)) if change(ty.type) is not ty.type else ty
    if isinstance(ty, types.List | types.ListType) and change(ty.dtype) is not ty.dtype:
        return (
            ty.copy(dtype=change(ty.dtype))
            if isinstance(ty, types.List)
            else types.ListType(change(ty.dtype))
        )
    return ty


def named_type(members, cls):
    """The type of a namedtuple, as Numba spells it."""
    if members and len(set(members)) == 1:
        return types.NamedUniTuple(members[0], len(members), cls)
    return types.NamedTuple(members, cls)


def holds_extension(ty):
    """Whether there is an extension type in a type."""
    return ty is not None and parts_type(ty) is not ty


def holds_parts(ty):
    """Whether there is a namedtuple of the parts of an extension type in a type."""
    if hasattr(getattr(ty, "instance_class", None), "numbad_whole"):
        return True
    if isinstance(ty, types.BaseTuple):
        return any(map(holds_parts, ty))
    if isinstance(ty, types.StructRef):
        return any(map(holds_parts, fields_of(ty).values()))
    inner = getattr(ty, "dtype", None) or getattr(ty, "type", None)
    return isinstance(ty, types.Optional | types.List | types.ListType) and holds_parts(inner)


# -- from one to the other ---------------------------------------------------------------------


@intrinsic
def parts(typingctx, x):
    """A value with namedtuples of parts in place of extension types."""
    target = parts_type(x)

    def codegen(context, builder, sig, args):
        value = _taken_apart(context, builder, sig.args[0], target, args[0])
        return impl_ret_borrowed(context, builder, target, value)

    return target(x), codegen


_PARTS_OF = {}  # (identity of a constant, type) -> the function below, which keeps the constant


def parts_of(value, ty):
    """A function for compiled code that gives the parts of a constant of an extension type."""
    key = id(value), ty
    if key not in _PARTS_OF:
        _PARTS_OF[key] = _made_parts_of(value, ty)
    return _PARTS_OF[key]


def _made_parts_of(value, ty):
    @intrinsic
    def parts_of_constant(typingctx):
        target = parts_type(ty)

        def codegen(context, builder, sig, args):
            apart = _taken_apart(
                context, builder, ty, target, context.get_constant_generic(builder, ty, value)
            )
            return impl_ret_borrowed(context, builder, target, apart)

        return target(), codegen

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    return parts_of_constant


def _same_memory(context, ty, target):
    """Whether an instance of one type of `structref` may be taken for one of the other.

    It is memory that others see, so that it cannot be copied.
    """
    if not isinstance(ty, types.StructRef):
        return False
    one, other = (list(_laid_out(context.get_value_type(t.get_data_type()))) for t in (ty, target))
    if one != other:
        raise UnsupportedError(
            f"cannot differentiate with an argument of type {ty}: its members do not lie in memory as those "
            "of a namedtuple do\nWay out: pass the members as arguments, and make the instance "
            "in the function."
        )
    return True


def _laid_out(llvm):
    """The scalars of an LLVM type: four in an array lie as four in a struct do."""
    if isinstance(llvm, ir.ArrayType):
        for _ in range(llvm.count):
            yield from _laid_out(llvm.element)
    elif isinstance(llvm, ir.BaseStructType):
        for element in llvm.elements:
            yield from _laid_out(element)
    else:
        yield llvm


def _taken_apart(context, builder, ty, target, value):
    if ty == target or _same_memory(context, ty, target):
        return value
    if is_extension(ty):
        proxy = cgutils.create_struct_proxy(ty)(context, builder, value=value)
        members = [(t, getattr(proxy, name)) for name, t in members_of(ty)]
    else:
        members = list(zip(ty, cgutils.unpack_tuple(builder, value, len(ty)), strict=True))
    apart = [
        _taken_apart(context, builder, t, new, member)
        for (t, member), new in zip(members, target, strict=True)
    ]
    return context.make_tuple(builder, target, apart)


@intrinsic
def whole(typingctx, x):
    """A value with extension types in place of namedtuples of their parts."""
    target = whole_type(x)

    def codegen(context, builder, sig, args):
        value = _put_together(context, builder, sig.args[0], target, args[0])
        return impl_ret_borrowed(context, builder, target, value)

    return target(x), codegen


def _put_together(context, builder, ty, target, value):
    if ty == target or _same_memory(context, ty, target):
        return value
    members = zip(ty, cgutils.unpack_tuple(builder, value, len(ty)), strict=True)
    if not is_extension(target):
        made = [
            _put_together(context, builder, t, new, member)
            for (t, member), new in zip(members, target, strict=True)
        ]
        return context.make_tuple(builder, target, made)
    proxy = cgutils.create_struct_proxy(target)(context, builder)
    for (t, member), (name, new) in zip(members, members_of(target), strict=True):
        setattr(proxy, name, _put_together(context, builder, t, new, member))
    return proxy._getvalue()
