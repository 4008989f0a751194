"""Compiled functions around users' functions, which they have among their globals."""

from numba.core.dispatcher import Dispatcher

from .fingerprint import depends
from .linking import LinkingDispatcher
from .relinking import KNOWN, recording
from .template_cache import TemplateCache


class AroundDispatcher(LinkingDispatcher):
    """A function that is typed and lowered once, and linked with others than it calls: see `relinking`."""

    def compile(self, sig):
        with recording():
            return super().compile(sig)


KNOWN.append(AroundDispatcher)


def jit_around(users, **options):
    """`caching.jit`, as a decorator, for a function whose globals lead to the dispatchers `users`."""

    def decorate(function):
        dispatcher = AroundDispatcher(function, targetoptions={"nopython": True, **options})
        dispatcher.users = users
        contents = function, dispatcher.targetoptions

        def around(argtypes):
            return contents, dependent(function, users)

        name, options_of = function.__name__, dispatcher.targetoptions
        dispatcher._cache = TemplateCache(name, lambda: contents, around, options_of)
        return dispatcher

    return decorate


def dependent(function, users):
    """The dispatchers among the globals of a function whose code depends on that of `users`, by name."""
    scope = function.__globals__
    found = [scope[name] for name in sorted(function.__code__.co_names) if name in scope]
    return tuple(each for each in found if isinstance(each, Dispatcher) and depends(each, users))
