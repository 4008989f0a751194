"""What stands in for functions, methods, attributes and classes where duals may be among the arguments.

The modules that write the stand-ins enter them here; `dualize.py` puts them into code.
"""

from functools import cache

from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.extending import overload

from ..ir.optionals import present
from ..source import define
from . import dual as d
from . import known
from .dual_dispatcher import dualized
from .given_code import given_method

REPLACED = {}
"""function -> the function that stands in for it when duals may be among the arguments."""

METHODS = {}
"""name of a method -> the function of the object and the arguments that stands in for it."""

ATTRIBUTES = {}
"""name of an attribute -> the function of the object that stands in for it."""

CLASSES = {}
"""Type of the user's classes -> what gives the function that stands in for a class."""

REPLACED_COMPARISONS = {}
"""`==` or `!=` -> the function that stands in for it where an operand is a `dtype`."""


def stand_for(fn, stand_in):
    """Let `stand_in` be called where code that is compiled for duals calls `fn`."""
    REPLACED[fn] = stand_in
    known.STANDS_FOR.setdefault(stand_in, fn)
    known.named(stand_in, getattr(fn, "__name__", str(fn)))


def stand_for_method(name, stand_in):
    """The same for the method `name` of any object, which becomes the first argument."""
    METHODS[name] = stand_in
    if known.STANDS_FOR.setdefault(stand_in, name) is name:
        known.named(stand_in, name)
    overload(stand_in, strict=False)(_own_method(stand_in, name, other_than=_NUMERIC))


_NUMERIC = (
    types.Array
    | types.Number
    | types.Boolean
    | types.NumPyRandomGeneratorType
    | d.Dual
    | types.DType
)


def _own_method(stand_in, name, other_than=()):
    """For objects of other classes: their own method, whose parameters may be any.

    An object that may be None has the methods of what it is otherwise.
    """

    def typed(owner, /, *args, **kws):
        if isinstance(owner, other_than):
            return None
        names = [f"_given{k}" for k in range(len(args))]  # a keyword may have any plain name
        passed = ", ".join([*names, *(f"{key}={key}" for key in kws)])
        parameters = ", ".join(["_owner", *names, *kws])
        if isinstance(owner, types.Module):  # `lib.sqrt(x)`, where `lib` is an argument
            asked = getattr(owner.pymod, name)
            own = isinstance(asked, Dispatcher)
            function = dualized(asked) if own else REPLACED.get(asked, asked)
            return define(
                f"def call({parameters}):\n    return _function({passed})\n",
                {"_function": function},
            )
        if isinstance(owner, types.Optional):
            line = f"return _method(_present(_owner), {passed})"
            code = f"def call({parameters}):\n    {line}\n"
            return define(code, {"_method": stand_in, "_present": present})
        code = getattr(owner, "jit_methods", {}).get(name) or given_method(owner, name, args, kws)
        call = f"_owner.{name}({passed})" if code is None else f"_method(_owner, {passed})"
        method = None if code is None else dualized(code)
        return define(f"def call({parameters}):\n    return {call}\n", {"_method": method})

    return typed


_OF_NUMBA = known.KNOWN_METHODS | {"add"}  # the names that methods of arrays, lists and sets have


@cache
def _method(name):
    """The function that calls the method of a user's class, compiled for duals."""

    def stand_in(owner, *args):
        raise NotImplementedError

    known.STANDS_FOR[known.named(stand_in, name)] = name
    overload(stand_in, strict=False)(_own_method(stand_in, name))
    return stand_in


def stand_in_for_method(name, own):
    """What stands for a method, of classes that have the methods `own` or of any; None if nothing."""
    if name in METHODS:
        return METHODS[name]
    if name in known.KEEPING_METHODS or (name in _OF_NUMBA and name not in own):
        return None
    return _method(name)
