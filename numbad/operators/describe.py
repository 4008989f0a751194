"""Types in the words of a Python user, and which of those that operators take for constants hold floats."""

from numba.core import types

from ..errors import TYPED_INSTEAD, UNTYPED
from ..forward.dual import Dual, base_scalar

_LISTS = types.List | types.ListType


def is_differentiable(ty):
    """Whether derivatives by a scalar type exist: floats, complex numbers and duals.

    Numba stores half precision, but computes with it on GPUs alone.
    """
    return isinstance(ty, types.Float | types.Complex | Dual) and ty != types.float16


def contains_floats(ty):
    """Whether there may be floats in a value: in an array, list, record or object as well."""
    if isinstance(ty, types.Float | types.Complex | Dual | types.PyObject | types.DeferredType):
        return True
    return any(map(contains_floats, _parts(ty)))


def _parts(ty):
    """The types of what a value holds."""
    if isinstance(ty, types.Optional):
        return [ty.type]
    if isinstance(ty, types.Array | types.Set | _LISTS):
        return [ty.dtype]
    if isinstance(ty, types.DictType):
        return [ty.key_type, ty.value_type]
    if isinstance(ty, types.Record):
        return [field.type for field in ty.fields.values()]
    if isinstance(ty, types.ClassInstanceType):
        return [*ty.struct.values()]
    if isinstance(ty, types.StructRef):
        return [*ty.field_dict.values()]
    return [*ty] if isinstance(ty, types.BaseTuple) else []


def describe(ty):
    """A Numba type in the words of a Python user."""
    ty = types.unliteral(ty)
    for kind, words in _WORDS:
        if isinstance(ty, kind):
            return words(ty)
    return f"an object of type {ty}"


def of_lists(ty):
    """Whether values of a type are lists of lists."""
    return isinstance(ty, _LISTS) and isinstance(ty.dtype, _LISTS)


def _array(ty):
    if isinstance(ty.dtype, types.Record):
        return "a structured array"
    if isinstance(ty.dtype, types.PyObject):
        return "an array of Python objects"
    if isinstance(ty.dtype, types.CharSeq | types.UnicodeCharSeq):
        return "an array of strings"
    return f"an array of {_scalar(ty.dtype)}"


def _scalar(ty):
    return str(base_scalar(ty))


_WORDS = (
    (types.Integer, lambda ty: f"an int ({ty})"),
    (types.Boolean, lambda ty: "a bool"),
    (types.Number | Dual, lambda ty: f"a {_scalar(ty)}"),
    (types.NoneType, lambda ty: "None"),
    (types.UnicodeType | types.CharSeq | types.UnicodeCharSeq, lambda ty: "a string"),
    (types.Array, _array),
    (types.Buffer, lambda ty: f"a buffer of {_scalar(ty.dtype)} (a memoryview, an array of JAX)"),
    (types.BaseTuple, lambda ty: "a tuple" if len(ty) else "an empty tuple"),
    (_LISTS, lambda ty: f"a list of {'lists' if of_lists(ty) else _scalar(ty.dtype)}"),
    (types.Set, lambda ty: "a set"),
    (types.DictType, lambda ty: "a dict"),
    (types.Optional, lambda ty: f"{describe(ty.type).removeprefix('a ')} or None"),
    (types.DeferredType, lambda ty: "an instance of the same class"),
    (types.Record, lambda ty: "a record"),
    (types.ClassInstanceType, lambda ty: f"a jitclass object ({ty.classname})"),
    (types.Dispatcher, lambda ty: "a function"),
    (types.Generator, lambda ty: "a generator"),
    (types.PyObject, lambda ty: UNTYPED),
)


def hint(ty):
    """What to pass instead of a value of a type that holds nothing to differentiate by."""
    ty = types.unliteral(ty)
    if isinstance(ty, types.BaseTuple):
        return next(filter(None, map(hint, ty)), "")
    if ty == types.float16 or getattr(ty, "dtype", None) == types.float16:
        return ": Numba computes with float32 and float64; convert it to one of these"
    if isinstance(ty, types.Integer | types.Boolean):
        return ": pass a float (2.0 instead of 2)"
    if isinstance(ty, types.Array) and not isinstance(ty.dtype, types.Record):
        return ": convert it with .astype(np.float64)"
    if isinstance(ty, types.Buffer) and not isinstance(ty, types.Array):
        return ": pass np.asarray(...) of it"
    if isinstance(ty, types.PyObject):
        return f": {TYPED_INSTEAD}"
    if isinstance(ty, _LISTS):
        return ": pass an array, np.array(...), or a tuple"
    if contains_floats(ty):
        return ": pass the floats in it as arguments, in arrays or in a namedtuple"
    return ""


def users_name(f):
    """The name of the function that a user gave, of which a dispatcher may be an operator."""
    while hasattr(operator := getattr(f.py_func, "__numbad_operator__", None), "f"):
        f = operator.f
    return f.py_func.__name__
