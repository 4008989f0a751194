"""Instances of jitted classes: made, read, changed, their methods and properties entered."""

from functools import cache

from numba import njit
from numba.core import ir, types

from ...forward.dual_arrays import all_dual
from ...forward.made_instances import allocator_for_call
from ...forward.retyped import allocator, in_duals, numbers_in_duals
from ...ir.callee import attribute_code, implementation
from ...ir.fence import refuse
from ...ir.leaves import HANDLES, at, fields_of, leaves
from ...source import define
from .. import fields, shadow_types
from .base import Constant, Op, Unknown
from .call import PlainCall, StandIn
from .structural_functions import real_of


def instance_type(ty):
    """The type of an instance, also where it may be None; else None."""
    ty = ty.type if isinstance(ty, types.Optional) else ty
    return ty if fields_of(ty) is not None else None


def is_object(ty):
    """Whether a type is that of an instance, also of one that its class refers to itself."""
    inner = ty.type if isinstance(ty, types.Optional) else ty
    return isinstance(inner, types.DeferredType) or fields_of(inner) is not None


def refuse_duals(op, e):
    """Fields and records hold plain numbers."""
    if e.dual is not None:
        raise refuse(
            "fields of instances or records in second order by reverse mode",
            op.loc,
            "keep the values in variables, tuples or arrays, or use forward mode for the outer "
            "derivatives",
        )


def _holds_instance(ty):
    """Whether a value is, or has as a member, an instance or a record: memory that may change."""
    if isinstance(ty, types.Optional):
        return _holds_instance(ty.type)
    if isinstance(ty, types.BaseTuple):
        return any(map(_holds_instance, ty.types))
    return is_object(ty) or isinstance(ty, types.Record)


def refuse_instances(op, arguments):
    """What is evaluated again, or by a rule, takes no instances and no records."""
    for variable in arguments:
        if _holds_instance(op.fn.type_of(variable)):
            raise refuse(
                f"an argument of type {op.fn.type_of(variable)} of a function with a checkpoint, a rule "
                "or a derivative of its own",
                op.loc,
                "pass the fields that it needs, or call it as it is",
            )


def refuse_at_boundary(fn, activity, inputs, outputs):
    """Instances have no derivative outside of the function."""
    for name, path in inputs:
        if at(fn.type_of(name), path).kind == "object":
            raise refuse(
                f"by an instance of a class, argument '{name}' of type {fn.type_of(name)}",
                fn.loc,
                "pass the fields as arguments, and make the instance in the function",
            )
    for name, path in outputs:
        if at(fn.type_of(name), path).kind in ("object", "record") and activity.active(
            (name, path)
        ):
            raise refuse(
                "a function that returns an instance or a record",
                fn.loc,
                "return the fields",
            )


def add_part(e, source, adjoint, ty):
    """Add the adjoint of a field of type `ty` to that of the value that was written to it."""
    if isinstance(ty, types.Complex) and not e.is_complex(source):
        adjoint = e.call(real_of, adjoint)
    e.add(source, adjoint)


# -- fields ------------------------------------------------------------------------------------


class Field(Op):
    """A field of an instance; its floats have their adjoints in the instance's shadow."""

    def __init__(self, fn, label, statement, owner, name):
        self.owner, self.name = owner, name
        self.places = shadow_types.field_leaves(instance_type(fn.type_of(owner)), name)
        super().__init__(fn, label, statement)

    @property
    def instance(self):
        return self.owner.name, ()

    def link_all(self, variable, reads):
        """Everything in the field may share memory with the instance's, or flow to or from it."""
        for identity, leaf in self.leaves(variable):
            pair = (self.instance, identity) if reads else (identity, self.instance)
            (self.aliases if leaf.kind in HANDLES else self.flows).append(pair)

    def handles(self):
        return [leaf for leaf in self.places if leaf.kind in HANDLES]

    def scalars(self):
        return [leaf for leaf in self.places if leaf.kind == "scalar"]

    def at(self, leaf):
        return shadow_types.label(self.name, leaf.path)


def _holds_varied(activity, instance):
    """Whether an instance is active, or an array that depends on an input becomes its field."""
    return activity.active(instance) or any(
        leaf.kind in HANDLES and activity.node(identity) in activity.varied
        for op in activity.every()
        if isinstance(op, FieldWrite) and activity.node(op.instance) == activity.node(instance)
        for identity, leaf in op.leaves(op.statement.value)
    )


class FieldRead(Field):
    """`v = s.field`: the adjoint is added to the shadow; handles have their shadows in it."""

    def analyse(self):
        self.link_all(self.statement.target, reads=True)

    def shadows(self, e):
        for leaf in self.handles():
            target = self.target, leaf.path
            if e.active(target):
                shadow = e.call(fields.get_field(self.at(leaf)), e.shadow(self.instance))
                e.set_shadow(target, shadow)

    def reverse(self, e):
        for leaf in self.scalars():
            target = self.target, leaf.path
            if e.pending(target):
                adjoint = e.take(target)
                if e.active(self.instance):
                    put = fields.accumulate_field(self.at(leaf))
                    e.call(put, e.shadow(self.instance), adjoint)


class FieldWrite(Field):
    """`s.field = v`: the adjoint moves from the shadow to that of the value."""

    def analyse(self):
        self.stores.append(self.instance)
        self.link_all(self.statement.value, reads=False)

    def forward(self, e):
        if e.number is None:
            e.append(self.statement)
        else:
            self._write_duals(e)
        if not e.active(self.instance):
            return
        given = {leaf.path for _, leaf in self.leaves(self.statement.value)}
        for leaf in self.handles():
            if leaf.path in given:
                shadow = e.shadow((self.statement.value.name, leaf.path))
                e.call(fields.set_field(self.at(leaf)), e.shadow(self.instance), shadow)

    def _write_duals(self, e):
        """Arrays of constants become arrays of duals, which nobody can tell if nobody writes to them."""
        s, value = self.statement, self.statement.value
        written = e.activity.writes_elements(self.instance)
        if self.handles() and not written and _holds_varied(e.activity, self.instance):
            value = e.call(all_dual(e.number), value)
        e.append(ir.SetAttr(s.target, s.attr, value, s.loc))

    def reverse(self, e):
        if not e.active(self.instance):
            return
        given = {leaf.path: leaf for _, leaf in self.leaves(self.statement.value)}
        for leaf in self.scalars():
            adjoint = e.call(fields.take_field(self.at(leaf)), e.shadow(self.instance))
            source = self.statement.value.name, leaf.path
            if leaf.path in given and e.active(source):
                add_part(e, source, adjoint, leaf.type)


class Refused(Unknown):
    """An access to a field that has no shadow."""

    def construct(self):
        s = self.statement
        name = getattr(s, "attr", None) or self.expr.attr
        return f"the field '{name}', which is neither of floats, nor an array, nor an instance"


def get_attribute(fn, label, s, value):
    """`s.name`: a field, or a property, whose code is entered."""
    ty, name = instance_type(fn.type_of(value.value)), value.attr
    getter = None if ty is None else property_code(ty, name)
    if getter is not None:
        return Entered(fn, label, s, getter, [value.value])
    if not leaves(fn.type_of(s.target)):
        return Constant(fn, label, s)
    if ty is None or shadow_types.field_leaves(ty, name) is None:
        return Refused(fn, label, s)
    return FieldRead(fn, label, s, value.value, name)


def property_code(ty, name):
    """The code behind an attribute that is no field: a property, or an `overload_attribute`."""
    if isinstance(ty, types.ClassInstanceType):
        return ty.jit_props[name]["get"] if name in ty.jit_props else None
    return None if name in fields_of(ty) else attribute_code(ty, name)


def set_attribute(fn, label, s):
    """`s.name = v` of an instance."""
    ty = instance_type(fn.type_of(s.target))
    if ty is not None and s.attr in getattr(ty, "jit_props", ()):
        return Entered(fn, label, s, ty.jit_props[s.attr]["set"], [s.target, s.value])
    if ty is not None and not leaves(fields_of(ty)[s.attr]):
        return Constant(fn, label, s)
    if ty is None or shadow_types.field_leaves(ty, s.attr) is None:
        return Refused(fn, label, s)
    return FieldWrite(fn, label, s, s.target, s.attr)


# -- code that is entered ----------------------------------------------------------------------


class Entered(StandIn):
    """Code of a class that a statement other than a call runs: it may change all that goes in."""

    def writes(self):
        return True

    def fresh(self):
        return False


def method(fn, label, s, call, callee):
    """`s.name(...)`, static methods too."""
    owner = fn.type_of(callee.owner)
    if not isinstance(owner, types.ClassInstanceType):
        code = implementation(fn, call, callee)
        return (
            Unknown(fn, label, s) if code is None else PlainCall(fn, label, s, code, callee.owner)
        )
    if callee.key in owner.jit_static_methods:
        return PlainCall(fn, label, s, owner.jit_static_methods[callee.key])
    return PlainCall(fn, label, s, owner.jit_methods[callee.key], callee.owner)


def special_method(fn, label, s, names, arguments):
    """The first of the named methods that the class of the first argument has, or None."""
    methods = getattr(fn.type_of(arguments[0]), "jit_methods", {})
    for name in names:
        if name in methods:
            return Entered(fn, label, s, methods[name], arguments)
    return None


def item(fn, label, s, value, index):
    """`s[i]`."""
    where = value.index if value.op == "getitem" else value.index_var
    found = special_method(fn, label, s, ["__getitem__"], [value.value, where])
    return found or Unknown(fn, label, s)


def set_item(fn, label, s, index):
    """`s[i] = v`."""
    where = s.index_var if hasattr(s, "index_var") else s.index
    found = special_method(fn, label, s, ["__setitem__"], [s.target, where, s.value])
    return found or Unknown(fn, label, s)


def operation(fn, label, s, function, arguments, value):
    """`s + t` and the like; None where the class has no method for it."""
    name = getattr(function, "__name__", "").strip("_")
    names = [f"__{name}__"]
    if value.op == "inplace_binop":
        names.insert(0, f"__i{name}__")
    return special_method(fn, label, s, names, arguments)


def construct(fn, label, s, call, ty):
    """`Class(...)`: an instance is allocated, then the code of `__init__` is entered."""
    keywords = tuple(name for name, _ in call.kws)
    if call.vararg is not None:
        return Unknown(fn, label, s)
    helper = _constructor(ty.instance_type, len(call.args), keywords)
    return Entered(fn, label, s, helper, [*call.args, *(v for _, v in call.kws)])


@cache
def _constructor(ty, count, keywords):
    names = [f"a{k}" for k in range(count)]
    named = [f"k{k}" for k in range(len(keywords))]
    given = [*names, *(f"{key}={k}" for key, k in zip(keywords, named, strict=True))]
    lines = [
        f"def construct({', '.join([*names, *named])}):",
        "    instance = allocate()",
        f"    initialize({', '.join(['instance', *given])})",
        "    return instance",
    ]
    namespace = {"allocate": allocator(ty), "initialize": ty.jit_methods["__init__"]}
    return njit(define("\n".join(lines) + "\n", namespace))


class Allocation(Op):
    """A new instance, whose memory no other name shares."""

    def forward(self, e):
        """Beside dual numbers, one that holds these."""
        if e.number is None:
            e.append(self.statement)
            return
        ty = self.fn.type_of(self.target)
        start = None if e.active((self.target, ())) else self._start(e.activity)
        if start is not None:
            keywords = tuple(name for name, _ in start.kws)
            given = [*start.args[1:], *(value for _, value in start.kws)]
            made = e.call(allocator_for_call(ty, e.number, keywords), *given)
        else:
            varied = _holds_varied(e.activity, (self.target, ()))
            retype = in_duals if varied else numbers_in_duals
            made = e.call(allocator(retype(ty, e.number)))
        e.assign(made, self.statement.target)

    def _start(self, activity):
        """The call of `__init__` with this instance, None where its code was put in its place."""
        code = getattr(self.fn.type_of(self.target), "jit_methods", {}).get("__init__")
        instance = activity.node((self.target, ()))
        for op in activity.ops[self.label]:
            if op.number > self.number and getattr(op, "dispatcher", None) is code is not None:
                call = op.statement.value
                if call.args and activity.node((call.args[0].name, ())) == instance:
                    return call
        return None

    def shadows(self, e):
        for identity in self.defined():
            if e.active(identity):
                ty = shadow_types.struct_type(self.fn.type_of(self.target), e.number)
                e.set_shadow(identity, e.call(fields.new_struct(ty), e.var("$tape")))


def allocation(fn, label, s, call):
    """What makes an instance, and runs no code of its class."""
    return Allocation(fn, label, s)
