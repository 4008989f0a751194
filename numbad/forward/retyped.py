"""Instances of the user's classes whose fields hold other numbers than they were declared for.

A `@jitclass` says that a field is a float64; where a dual number is assigned to it, the instance is one
of the same class with dual numbers in its fields, and the methods are compiled for these. A `structref`
has the types of its fields in its own type, so that it needs nothing more than another type.
"""

from functools import partial

from llvmlite import ir
from numba.core import cgutils, types
from numba.experimental import structref
from numba.experimental.jitclass.base import ConstructorTemplate, imp_dtor
from numba.extending import intrinsic

from ..ir.leaves import fields_of
from . import dual as d
from .dual_dispatcher import dualized
from .dual_records import with_duals

ALLOCATORS = {structref.new: None}
"""Intrinsics that make an instance without running any code of its class: the type of such an instance."""


class _RetypedClass(types.ClassType):
    """A jitted class with other types of fields; `root` is the type of the user's own instances."""

    def __init__(self, root, struct):
        self.root, cls = root, root.class_type
        methods = {name: dualized(code) for name, code in cls.jit_methods.items()}
        static = {name: dualized(code) for name, code in cls.jit_static_methods.items()}
        properties = {
            name: {kind: dualized(code) for kind, code in found.items()}
            for name, found in cls.jit_props.items()
        }
        named = type(cls.class_name, (), {"__doc__": cls.class_doc})
        super().__init__(named, ConstructorTemplate, struct, methods, properties, static)


def root_of(ty):
    """The type of the user's own instances of a class."""
    return getattr(getattr(ty, "class_type", None), "root", ty)


def with_fields(ty, fields):
    """The type of instances of the same class whose fields have these types, in their order."""
    own = fields_of(ty)
    if tuple(own.values()) == tuple(fields):
        return ty
    struct = dict(zip(own, fields, strict=True))
    if isinstance(ty, types.StructRef):
        return type(ty)(tuple(struct.items()))
    root = root_of(ty)
    if tuple(root.struct.values()) == tuple(fields):
        return root
    known = root.class_type.__dict__.setdefault(
        "__numbad_retyped__", {}
    )  # which dies with the class
    key = tuple(fields)
    if key not in known:
        known[key] = _RetypedClass(root, struct).instance_type
    return known[key]


def in_duals(ty, dual):
    """The type with a dual number for every float in it: `dual`, of the precision that it has."""
    if isinstance(ty, types.Float | types.Complex):
        return d.with_base(dual, ty)
    if isinstance(ty, types.NestedArray):
        return types.NestedArray(in_duals(ty.dtype, dual), ty.shape)
    if isinstance(ty, types.Record):
        return with_duals(ty, partial(in_duals, dual=dual))
    if isinstance(ty, types.Array):
        return ty.copy(dtype=in_duals(ty.dtype, dual))
    if isinstance(ty, types.List):
        return types.List(in_duals(ty.dtype, dual), ty.reflected)
    if isinstance(ty, types.ListType):
        return types.ListType(in_duals(ty.dtype, dual))
    if isinstance(ty, types.DictType):
        return types.DictType(ty.key_type, in_duals(ty.value_type, dual))
    if isinstance(ty, types.Optional):
        return types.Optional(in_duals(ty.type, dual))
    if isinstance(ty, types.BaseNamedTuple):
        return named_tuple([in_duals(t, dual) for t in ty.types], ty.instance_class)
    if isinstance(ty, types.BaseTuple):
        return types.BaseTuple.from_types([in_duals(t, dual) for t in ty.types])
    fields = fields_of(ty)
    if fields is not None:
        return with_fields(ty, tuple(in_duals(t, dual) for t in fields.values()))
    return ty


def named_tuple(members, cls):
    """The type of a namedtuple with members of these types."""
    if members and len(set(members)) == 1:
        return types.NamedUniTuple(members[0], len(members), cls)
    return types.NamedTuple(members, cls)


COLLECTIONS = types.List, types.ListType, types.DictType


def numbers_in_duals(ty, dual, kept=(types.Array, *COLLECTIONS)):
    """An instance type with duals for its floats, but fields of some types as they are."""
    fields = fields_of(ty).values()
    return with_fields(ty, tuple(t if isinstance(t, kept) else in_duals(t, dual) for t in fields))


def as_given(declared, given):
    """The type of a field declared so to which a value of another type is assigned."""
    if not any(True for _ in d.duals_in(given)):
        return declared
    if isinstance(declared, types.Array) and isinstance(given, types.Array):
        return declared.copy(dtype=given.dtype)
    return given


# -- instances without their `__init__` ----------------------------------------------------------


def allocator(ty):
    """An intrinsic `()`: an instance whose fields are all zero bits; `__init__` has not run."""
    return allocator_as(ty, lambda members: ty)


def allocator_for(ty):
    """The same, called with a tuple of what the fields are assigned: they hold duals where it does."""
    declared = fields_of(ty).values()

    def retyped(members):
        (given,) = members
        return with_fields(ty, tuple(map(as_given, declared, given)))

    return allocator_as(ty, retyped)


def allocator_as(ty, retyped):
    """An intrinsic that makes an instance of a class: of the type `retyped(types of its arguments)`."""

    @intrinsic
    def allocate(typingctx, *members):
        made = retyped(members)

        def codegen(context, builder, sig, args):
            return _new_instance(context, builder, made)

        return made(types.StarArgTuple.from_types(members)), codegen

    ALLOCATORS[allocate] = ty
    return allocate


def instance_in(context, builder, ty, meminfo):
    """The value that refers to the instance of a type in a piece of counted memory."""
    instance = context.make_helper(builder, ty)
    instance.meminfo = meminfo
    if isinstance(ty, types.ClassInstanceType):
        data = context.get_data_type(ty.get_data_type())
        pointer = context.nrt.meminfo_data(builder, meminfo)
        instance.data = builder.bitcast(pointer, data.as_pointer())
    return instance._getvalue()


def _new_instance(context, builder, ty):
    data_type = ty.get_data_type()
    if isinstance(ty, types.StructRef):  # which lies there as a value does
        data, destructor = context.get_value_type(data_type), imp_dtor(context, builder.module, ty)
    else:
        data, destructor = context.get_data_type(data_type), _destructor(context, builder, ty)
    return instance_in(context, builder, ty, _allocated(context, builder, data, destructor))


def _allocated(context, builder, data, destructor):
    """Counted memory of zero bits for data of an LLVM type."""
    size = context.get_constant(types.uintp, context.get_abi_sizeof(data))
    meminfo = context.nrt.meminfo_alloc_dtor(builder, size, destructor)
    pointer = builder.bitcast(context.nrt.meminfo_data(builder, meminfo), data.as_pointer())
    builder.store(cgutils.get_null_value(data), pointer)
    return meminfo


def _destructor(context, builder, ty):
    """What Numba's own does, which takes values of dual numbers to lie as data does."""
    if not isinstance(ty.class_type, _RetypedClass):
        return imp_dtor(context, builder.module, ty)
    pointer, size = context.get_value_type(types.voidptr), context.get_value_type(types.uintp)
    signature = ir.FunctionType(ir.VoidType(), [pointer, size, pointer])
    function = cgutils.get_or_insert_function(
        builder.module, signature, f"_Dtor_of_duals.{ty.name}"
    )
    if function.is_declaration:
        _define_destructor(context, ir.IRBuilder(function.append_basic_block()), function, ty)
    return function


def _define_destructor(context, builder, function, ty):
    data_type = ty.get_data_type()
    data = builder.bitcast(function.args[0], context.get_data_type(data_type).as_pointer())
    fields = context.make_data_helper(builder, data_type, ref=data)
    for name, field in ty.struct.items():
        context.nrt.decref(builder, field, getattr(fields, f"m_{name}"))
    builder.ret_void()


def opened(context, builder, ty, value):
    """Whether there is an instance, and its fields: `(pointer, names -> values)`; null for none."""
    if isinstance(ty, types.StructRef):
        utils = structref._Utils(context, builder, ty)
        pointer = utils.get_struct_ref(value).meminfo
        return pointer, lambda name: getattr(utils.get_data_struct(value), name)
    pointer = context.make_helper(builder, ty, value=value).data

    def field(name):
        data = context.make_data_helper(builder, ty.get_data_type(), ref=pointer)
        return getattr(data, f"m_{name}")

    return pointer, field
