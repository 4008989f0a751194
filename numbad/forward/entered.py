"""What others' overloads mean for dual numbers: the code that Numba chooses for the values.

An overload asks what types it gets. `p + q` of two namedtuples of dual numbers has to run what `p + q` of
the floats runs, whatever the overload says of the dual numbers, which it has never heard of.
"""

from functools import cache

from numba.core import types
from numba.core.errors import NumbaError
from numba.core.typing.templates import AbstractTemplate
from numba.extending import overload

from ..ir import chosen
from ..source import define
from . import dual as d
from .dualize import dualized


class Entered(AbstractTemplate):
    """Types a call by the implementation chosen for the values, compiled for dual numbers."""

    prefer_literal = True

    def generic(self, args, kws):
        if not any(True for ty in (*args, *kws.values()) for _ in d.duals_in(ty)):
            return None
        dispatcher = _chosen(self.original, args, kws)
        if dispatcher is None:
            return None
        ty = types.Dispatcher(dualized(dispatcher))
        found = ty.get_call_type(self.context, tuple(args), kws)
        self._key = found and ty.get_impl_key(found)
        return found

    def get_impl_key(self, sig):
        return self._key


def _chosen(original, args, kws):
    """The dispatcher that Numba chooses for the values of arguments, if it is one of others."""
    plain = [d.primal_type(ty) for ty in args], {k: d.primal_type(ty) for k, ty in kws.items()}
    try:
        return chosen.of_function(original, *plain)
    except NumbaError:  # it takes no such values
        return None


@cache
def attribute(name):
    """The function that gives the attribute `name`, which others gave to a type."""

    def stand_in(owner):
        raise NotImplementedError

    own = define(f"def own(owner):\n    return owner.{name}\n", {})

    @overload(stand_in)
    def typed(owner):
        found = chosen.of_attribute(d.primal_type(owner), name)
        entered = None if found is None else dualized(found)
        return own if found is None else lambda owner: entered(owner)

    stand_in.__name__ = name
    return stand_in


def enter(function, key=None):
    """Let a function, or its stand-in `key`, enter what others' overloads of the function say."""
    key = function if key is None else key
    ty = chosen.function_type(key)
    if not isinstance(ty, types.Function) or not chosen.has_overloads(function):
        return
    template = _template(key, function)
    if template not in ty.templates:
        ty.templates = (template, *ty.templates)


@cache
def _template(key, original):
    members = {"key": staticmethod(key), "original": staticmethod(original)}
    return type(f"Entered_{getattr(original, '__name__', 'fn')}", (Entered,), members)
