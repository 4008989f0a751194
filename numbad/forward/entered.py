"""What others' overloads mean for dual numbers: the code that Numba chooses for the values.

An overload asks what types it gets. `p + q` of two namedtuples of dual numbers has to run what `p + q` of
the floats runs, whatever the overload says of the dual numbers, which it has never heard of.
"""

from functools import cache

from numba import njit
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.typing.templates import (
    AbstractTemplate,
    _EmptyImplementationEntry,
    infer_global,
)
from numba.extending import _Intrinsic, overload

from ..ir import chosen
from ..ir.extension_types import holds_parts
from ..source import define
from . import dual as d
from . import known
from .dual_dispatcher import dualized
from .given_code import chosen_for, given_attribute, given_by_others, is_of_duals, value_type
from .refuse import refused_call
from .stand_ins import REPLACED


class ChosenCode(AbstractTemplate):
    """Types a call by the implementation chosen for the values, compiled for dual numbers."""

    prefer_literal = True

    def generic(self, args, kws):
        if not self.every and not any(map(is_of_duals, (*args, *kws.values()))):
            return self._of_constants(args, kws)
        dispatcher = chosen_for(self.original, args, kws)
        if dispatcher is not None:
            ty = types.Dispatcher(dualized(dispatcher))
        elif any(map(holds_parts, args)) and given_by_others(self.original, args, kws):
            name = getattr(self.original, "__name__", self.original)
            told = (
                f"{name} of {', '.join(str(value_type(ty)) for ty in args)} {chosen.INSTRUCTIONS}"
            )
            raise refused_call(told, self.original, chosen.IN_PYTHON)
        elif self.every:
            ty = chosen.function_type(self.original)
        else:
            return None
        found, key = _call_of(self.context, ty, self.original, args, kws)
        instructions = isinstance(self.original, _Intrinsic) and dispatcher is None
        if instructions and any(isinstance(a, d.Dual) for a in args):
            raise _without_rule(self.original, len(args))
        if found is not None and _loses_duals(args, found.args):
            raise _without_rule(self.original, len(args))
        self._key = key
        return found

    def _of_constants(self, args, kws):
        """A stand-in for the function means the function itself there."""
        if self.key is self.original:
            return None
        ty = chosen.function_type(self.original)
        found, self._key = _call_of(self.context, ty, self.original, args, kws)
        return found

    def get_impl_key(self, sig):
        return self._key


def _call_of(context, ty, original, args, kws):
    """The signature of a call, and what it is known by where it is lowered.

    Numba puts some of its functions in place of their calls, `bool` of None for one, and has no other code.
    """
    found = ty.get_call_type(context, tuple(args), kws)
    key = found and ty.get_impl_key(found)
    if isinstance(key, _EmptyImplementationEntry) and not kws:
        ty = types.Dispatcher(_calling(original, len(args)))
        found = ty.get_call_type(context, tuple(args), {})
        key = ty.get_impl_key(found)
    return found, key


@cache
def _calling(function, count):
    """The compiled function that calls another of so many arguments."""
    given = ", ".join(f"x{k}" for k in range(count))
    return njit(define(f"def own({given}):\n    return called({given})\n", {"called": function}))


def _loses_duals(given, taken):
    """Whether what an intrinsic says it takes, whatever it is given, makes a number of a dual number."""
    pairs = zip(given, taken, strict=False)
    return any(isinstance(a, d.Dual) and isinstance(b, types.Number) for a, b in pairs)


def _without_rule(fn, count):
    name, arguments = getattr(fn, "__name__", fn), ", ".join("xyzuvw"[:count])
    way_out = (
        f"give it its partial derivatives: nd.scalar_rule({name}, lambda ans, {arguments}: ...)"
    )
    what = "an intrinsic" if isinstance(fn, _Intrinsic) else "given to Numba as instructions,"
    return refused_call(f"{name}, which is {what} without a rule", fn, way_out)


@cache
def attribute(name):
    """The function that gives the attribute `name`, which others gave to a type."""

    def stand_in(owner):
        raise NotImplementedError

    own = define(f"def own(owner):\n    return owner.{name}\n", {})

    @overload(stand_in)
    def typed(owner):
        found = given_attribute(owner, name)
        entered = None if found is None else dualized(found)
        return own if found is None else lambda owner: entered(owner)

    known.named(stand_in, name)
    stand_in.__numbad_attribute__ = name
    return stand_in


def attribute_of(function):
    """The name of the attribute that a function gives, where it is one of `attribute`; else None."""
    return getattr(function, "__numbad_attribute__", None)


def enter_operators(statement):
    """Let the operators of a statement of untyped code enter what others' overloads of them say."""
    for operator in chosen.operators_of(statement):
        _enter(operator, operator)
        _enter(REPLACED.get(operator), operator)


def instead_of(original, stand_in):
    """What to call for a function that others told Numba of, where `stand_in` is called for it else."""
    if stand_in is original and chosen.is_given(original):
        return function(original)
    if not isinstance(stand_in, Dispatcher):
        _enter(stand_in, original)
    return stand_in


def _enter(key, original):
    """Let an operator, or a stand-in, enter what others' overloads of the original say."""
    ty = None if key is None else chosen.function_type(key)
    if not isinstance(ty, types.Function) or not chosen.is_given(original):
        return
    template = _template(key, original)
    if template not in ty.templates:
        ty.templates = (template, *ty.templates)


@cache
def function(original):
    """The function to call for one that others overloaded for their types."""

    def stand_in(*args):
        raise NotImplementedError

    stand_in.__name__ = stand_in.__qualname__ = getattr(original, "__name__", stand_in.__name__)
    known.STANDS_FOR[stand_in] = original
    infer_global(stand_in, types.Function(_template(stand_in, original, True)))
    return stand_in


@cache
def _template(key, original, every=False):
    members = {"key": staticmethod(key), "original": staticmethod(original), "every": every}
    return type(f"ChosenCode_{getattr(original, '__name__', 'fn')}", (ChosenCode,), members)
