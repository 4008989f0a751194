"""Extension types as packages make them: a quaternion by constructor, and a polynomial with an array.

Their values in Python are namedtuples with operators of their own, which the oracles run.
"""

import operator
from typing import NamedTuple

import numpy as np
from numba.core import cgutils, types
from numba.extending import (
    NativeValue,
    box,
    intrinsic,
    lower_builtin,
    make_attribute_wrapper,
    models,
    overload,
    overload_attribute,
    overload_method,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)


class Quaternion(NamedTuple):
    w: float
    x: float
    y: float
    z: float

    def __add__(self, other):
        return quaternion(self.w + other.w, self.x + other.x, self.y + other.y, self.z + other.z)

    def __mul__(self, other):
        return quaternion(
            self.w * other.w - self.x * other.x - self.y * other.y - self.z * other.z,
            self.w * other.x + self.x * other.w + self.y * other.z - self.z * other.y,
            self.w * other.y - self.x * other.z + self.y * other.w + self.z * other.x,
            self.w * other.z + self.x * other.y - self.y * other.x + self.z * other.w,
        )

    def __abs__(self):
        return self.square**0.5  # of mpmath's numbers as well

    def __lt__(self, other):
        return self.square < other.square

    def scale(self, k=2.0):
        return quaternion(self.w * k, self.x * k, self.y * k, self.z * k)

    def conj(self):
        return quaternion(self.w, -self.x, -self.y, -self.z)

    @property
    def square(self):
        return self.w**2 + self.x**2 + self.y**2 + self.z**2


def quaternion(w, x, y, z):
    return Quaternion(w, x, y, z)


class Polynomial(NamedTuple):
    coefficients: np.ndarray
    unit: float
    degree: int

    def __call__(self, x):
        s = 0.0
        for k in range(self.degree, -1, -1):
            s = s * (x / self.unit) + self.coefficients[k]
        return s

    def at(self, x):
        return self(x)

    def __mul__(self, k):
        return polynomial(self.coefficients * k, self.unit, self.degree)


def polynomial(coefficients, unit, degree):
    return Polynomial(coefficients, unit, degree)


def _unbox_members(ty, obj, c, names):
    made = cgutils.create_struct_proxy(ty)(c.context, c.builder)
    model = c.context.data_model_manager[ty]
    for name in names:
        part = c.pyapi.object_getattr_string(obj, name)
        setattr(made, name, c.unbox(model.get_member_fe_type(name), part).value)
        c.pyapi.decref(part)
    return NativeValue(
        made._getvalue(), is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    )


def _box_members(ty, value, c, names, cls):
    given = cgutils.create_struct_proxy(ty)(c.context, c.builder, value=value)
    model = c.context.data_model_manager[ty]
    parts = [c.box(model.get_member_fe_type(name), getattr(given, name)) for name in names]
    made = c.pyapi.unserialize(c.pyapi.serialize_object(cls))
    result = c.pyapi.call_function_objargs(made, parts)
    for part in (*parts, made):
        c.pyapi.decref(part)
    return result


# -- the quaternion: its constructor is typed and lowered by hand, as Numba's documentation does it ---


class QuaternionType(types.Type):
    def __init__(self):
        super().__init__("quaternion")


QUATERNION = QuaternionType()


@typeof_impl.register(Quaternion)
def _typeof_quaternion(value, c):
    return QUATERNION


@register_model(QuaternionType)
class QuaternionModel(models.StructModel):
    def __init__(self, manager, ty):
        super().__init__(manager, ty, [(name, types.float64) for name in "zyxw"])


for _name in "wxyz":
    make_attribute_wrapper(QuaternionType, _name, _name)


@type_callable(quaternion)
def _type_quaternion(context):
    def typer(w, x, y, z):
        if all(isinstance(t, types.Float | types.Integer) for t in (w, x, y, z)):
            return QUATERNION

    return typer


@lower_builtin(quaternion, types.Any, types.Any, types.Any, types.Any)
def _lower_quaternion(context, builder, signature, args):
    made = cgutils.create_struct_proxy(QUATERNION)(context, builder)
    for name, value, ty in zip("wxyz", args, signature.args, strict=True):
        setattr(made, name, context.cast(builder, value, ty, types.float64))
    return made._getvalue()


@unbox(QuaternionType)
def _unbox_quaternion(ty, obj, c):
    return _unbox_members(ty, obj, c, "wxyz")


@box(QuaternionType)
def _box_quaternion(ty, value, c):
    return _box_members(ty, value, c, "wxyz", Quaternion)


def _both(code):
    return lambda self, other: code if self is QUATERNION and other is QUATERNION else None


for _operator, _code in ((operator.add, Quaternion.__add__), (operator.mul, Quaternion.__mul__)):
    overload(_operator)(_both(_code))
overload(operator.lt)(_both(Quaternion.__lt__))
overload(abs)(lambda self: Quaternion.__abs__ if self is QUATERNION else None)
overload_method(QuaternionType, "scale")(lambda self, k=2.0: Quaternion.scale)
overload_method(QuaternionType, "conj")(lambda self: Quaternion.conj)
overload_attribute(QuaternionType, "square")(lambda self: Quaternion.square.fget)


@intrinsic
def lerp_by_hand(typingctx, p, q):
    """`q - p * q`, member by member, in instructions that can be followed."""

    def codegen(context, builder, signature, args):
        p, q = (cgutils.create_struct_proxy(QUATERNION)(context, builder, value=v) for v in args)
        made = cgutils.create_struct_proxy(QUATERNION)(context, builder)
        for name in "wxyz":
            product = builder.fmul(getattr(p, name), getattr(q, name))
            setattr(made, name, builder.fsub(getattr(q, name), product))
        return made._getvalue()

    return QUATERNION(p, q), codegen


@intrinsic
def ratio_by_hand(typingctx, p, q):
    """`p / q`, member by member, in instructions that are not followed."""

    def codegen(context, builder, signature, args):
        p, q = (cgutils.create_struct_proxy(QUATERNION)(context, builder, value=v) for v in args)
        made = cgutils.create_struct_proxy(QUATERNION)(context, builder)
        for name in "wxyz":
            setattr(made, name, builder.fdiv(getattr(p, name), getattr(q, name)))
        return made._getvalue()

    return QUATERNION(p, q), codegen


def lerp(p, q):
    return quaternion(q.w - p.w * q.w, q.x - p.x * q.x, q.y - p.y * q.y, q.z - p.z * q.z)


overload(lerp)(lambda p, q: lambda p, q: lerp_by_hand(p, q))


# -- the polynomial: an intrinsic behind an overload, an array and a whole number -----------------


class PolynomialType(types.Type):
    def __init__(self, array):
        self.array = array
        super().__init__(f"polynomial({array})")


@typeof_impl.register(Polynomial)
def _typeof_polynomial(value, c):
    return PolynomialType(types.Array(types.float64, 1, "C"))


@register_model(PolynomialType)
class PolynomialModel(models.StructModel):
    def __init__(self, manager, ty):
        members = [("array", ty.array), ("unit", types.float64), ("degree", types.int64)]
        super().__init__(manager, ty, members)


make_attribute_wrapper(PolynomialType, "array", "coefficients")
make_attribute_wrapper(PolynomialType, "unit", "unit")
make_attribute_wrapper(PolynomialType, "degree", "degree")


@intrinsic
def _make_polynomial(typingctx, array, unit, degree):
    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        made.array, made.unit, made.degree = args
        context.nrt.incref(builder, signature.args[0], args[0])
        return made._getvalue()

    return PolynomialType(array)(array, types.float64, types.int64), codegen


@overload(polynomial)
def _polynomial(coefficients, unit, degree):
    return lambda coefficients, unit, degree: _make_polynomial(coefficients, unit, degree)


overload_method(PolynomialType, "at")(lambda self, x: Polynomial.__call__)


@overload(operator.mul)
def _times(self, k):
    if isinstance(self, PolynomialType) and isinstance(k, types.Float):
        return Polynomial.__mul__


@unbox(PolynomialType)
def _unbox_polynomial(ty, obj, c):
    made = cgutils.create_struct_proxy(ty)(c.context, c.builder)
    for name, attribute in (("array", "coefficients"), ("unit", "unit"), ("degree", "degree")):
        part = c.pyapi.object_getattr_string(obj, attribute)
        member = c.context.data_model_manager[ty].get_member_fe_type(name)
        setattr(made, name, c.unbox(member, part).value)
        c.pyapi.decref(part)
    return NativeValue(
        made._getvalue(), is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    )


@box(PolynomialType)
def _box_polynomial(ty, value, c):
    return _box_members(ty, value, c, ("array", "unit", "degree"), Polynomial)


# -- the point in a plane: its one member is a namedtuple, whose class tells what its numbers are ------


class Cartesian(NamedTuple):
    x: float
    y: float


class Polar(NamedTuple):
    r: float
    phi: float


class Point:
    def __init__(self, coordinates):
        self.coordinates = coordinates


class PointType(types.Type):
    def __init__(self, coordinates):
        self.coordinates = coordinates
        super().__init__(f"point({coordinates})")


@register_model(PointType)
class PointModel(models.StructModel):
    def __init__(self, manager, ty):
        super().__init__(manager, ty, [("coordinates", ty.coordinates)])


make_attribute_wrapper(PointType, "coordinates", "coordinates")


@type_callable(Point)
def _type_point(context):
    return lambda coordinates: PointType(coordinates)


@lower_builtin(Point, types.Any)
def _lower_point(context, builder, signature, args):
    made = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    made.coordinates = args[0]
    return made._getvalue()


def _in(ty, kind):
    return isinstance(ty, PointType) and ty.coordinates.instance_class is kind


@overload_attribute(PointType, "radius")
def _radius(point):
    if _in(point, Cartesian):
        return lambda point: np.hypot(point.coordinates.x, point.coordinates.y)
    if _in(point, Polar):
        return lambda point: point.coordinates.r


_ALIAS = "radius"
overload_attribute(PointType, "distance")(lambda point: lambda point: getattr(point, _ALIAS))


@overload_method(PointType, "add")
def _add_points(point, other):
    if not (_in(point, Cartesian) and _in(other, Cartesian)):
        return None

    def add(point, other):
        a, b = point.coordinates, other.coordinates
        return Point(Cartesian(a.x + b.x, a.y + b.y))

    return add
