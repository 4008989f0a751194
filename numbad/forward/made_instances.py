"""Calls of the user's classes in code for dual numbers: instances that hold duals where these are assigned.

The types of the arguments of the class tell which fields hold duals; so do later assignments to the fields,
which `promote.py` finds.
"""

from functools import cache

from numba.core import types
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.experimental import structref
from numba.experimental.jitclass.base import JitClassType
from numba.extending import overload

from ..errors import NumbadError
from ..source import define
from . import dual as d
from . import known
from .dual_arrays import as_scalar
from .retyped import COLLECTIONS, allocator, allocator_as, in_duals, numbers_in_duals
from .stand_ins import CLASSES


@cache
def constructor(cls, dual=None):
    """What stands for a jitted class; with `dual`, its instances hold such duals in any case."""

    def construct(*args):
        raise NotImplementedError

    def typed(*args, **kws):
        joined = _joined(dual, [*args, *kws.values()])
        names = [f"_given{k}" for k in range(len(args))]
        passed = ", ".join([*names, *(f"{key}={key}" for key in kws)])
        parameters = ", ".join([*names, *kws])
        if joined is None:
            source = f"def make({parameters}):\n    return _class({passed})\n"
            return define(source, {"_class": cls})
        ty = _instance_type(cls.class_type.instance_type, joined, args, kws)
        namespace = {"_allocate": allocator(ty), "_initialize": ty.jit_methods["__init__"]}
        source = (
            f"def make({parameters}):\n    _instance = _allocate()\n"
            f"    _initialize(_instance, {passed})\n    return _instance\n"
        )
        return define(source, namespace)

    known.STANDS_FOR[construct] = cls
    overload(construct, strict=False)(typed)
    return construct


CLASSES[JitClassType] = constructor


def _joined(dual, args):
    """The dual type that holds every dual among the arguments, and `dual`."""
    found = [t for ty in args for t in d.duals_in(ty)]
    joined = dual
    for other in found:
        joined = other if joined is None else d.join(cpu_target.typing_context, joined, other)
    return joined


def _instance_type(ty, dual, args, kws):
    """The type of an instance of duals whose `__init__` takes such arguments.

    Arrays in fields hold duals, or, where the class is given arrays of constants, floats; lists too.
    """
    every = in_duals(ty, dual)
    kept = (types.Array,), COLLECTIONS, (types.Array, *COLLECTIONS)
    for candidate in dict.fromkeys([every, *(numbers_in_duals(ty, dual, some) for some in kept)]):
        code = types.Dispatcher(candidate.jit_methods["__init__"])
        try:
            code.get_call_type(cpu_target.typing_context, (candidate, *args), kws)
        except (NumbaError, NumbadError):
            continue
        return candidate
    return every  # whose compilation says what is wrong


@cache
def allocator_for_call(ty, dual, keywords):
    """An intrinsic called with what `__init__` will be: an instance that can hold it.

    The last arguments are those that `__init__` takes by these keywords.
    """

    def retyped(given):
        count = len(given) - len(keywords)
        args, kws = given[:count], dict(zip(keywords, given[count:], strict=True))
        return _instance_type(ty, _joined(dual, given), args, kws)

    return allocator_as(ty, retyped)


def remade(fn, dual, args):
    """`(function, what is called on each argument)` that give an instance of duals for `fn(*args)`.

    `args` are the Python objects behind the arguments, None where there is none.
    """
    cls = known.stood_for(fn)
    if isinstance(cls, JitClassType):
        return constructor(cls, dual), None
    if cls is structref.new:
        return allocator(in_duals(args[0], dual)), None
    return fn, numbers_as(dual)


@cache
def numbers_as(dual):
    """A nopython function that raises numbers, those in tuples too, and leaves the rest as it is."""

    def raised(x):
        raise NotImplementedError

    @overload(raised)
    def _raised(x):
        if isinstance(x, types.Float | types.Complex | d.Dual):
            convert = as_scalar(d.with_base(dual, d.base_scalar(x)))
            return lambda x: convert(x)
        if not isinstance(x, types.BaseTuple):
            return lambda x: x
        items = "".join(f"raised(x[{k}]), " for k in range(len(x)))
        named = x.instance_class if isinstance(x, types.BaseNamedTuple) else None
        made = f"({items})" if named is None else f"named({items})"
        namespace = {"raised": raised, "named": named}
        return define(f"def raise_members(x):\n    return {made}\n", namespace)

    return raised
