"""What `type(x)` of a dual number is: the class of its value, which takes dual numbers as well.

`isinstance` says what it says of the value.
"""

from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.builtins import NumberClassAttribute
from numba.core.typing.templates import (
    AttributeTemplate,
    infer_getattr,
    make_callable_template,
)
from numba.cpython.builtins import ol_isinstance
from numba.extending import overload, register_model

from . import dual as d


class DualClass(types.NumberClass):
    """The class of a float or complex type, of which dual numbers are instances."""

    def __init__(self, instance_type):
        super().__init__(instance_type)
        self.name = f"class of differentiated {instance_type}"

    @property
    def key(self):
        return type(self), self.instance_type


register_model(DualClass)(models.OpaqueModel)


@infer_getattr
class ClassOfDual(AttributeTemplate):
    key = d.Dual

    def resolve___class__(self, ty):
        return DualClass(d.base_scalar(ty))


@infer_getattr
class KindOfDtype(AttributeTemplate):
    """`a.dtype.kind` of an array of duals; of complex numbers Numba knows none."""

    key = types.DType

    def resolve_kind(self, ty):
        real = isinstance(ty.dtype, d.Dual) and isinstance(d.base_scalar(ty.dtype), types.Float)
        return types.StringLiteral("f") if real else None


@infer_getattr
class CallOfClass(AttributeTemplate):
    key = DualClass

    def resolve___call__(self, classty):
        ty = classty.instance_type
        plain = NumberClassAttribute(self.context).resolve___call__(types.NumberClass(ty))

        def typer(value):
            if not isinstance(value, d.Dual):
                return plain.get_call_type(self.context, (value,), {}).return_type
            narrows = isinstance(d.base_scalar(value), types.Complex) and isinstance(
                ty, types.Float
            )
            return None if narrows else d.with_base(value, ty)

        return types.Function(make_callable_template(key=classty, typer=typer))


@lower_builtin(DualClass, types.Any)
def convert(context, builder, sig, args):
    return context.cast(builder, args[0], sig.args[0], sig.return_type)


@overload(isinstance)
def _isinstance(var, typs):
    if isinstance(var, d.Dual):
        return ol_isinstance(d.base_scalar(var), typs)
    return None
