"""What is remembered of a dispatcher, for as long as its code means the same.

Numba takes globals and closure cells for constants, and `recompile` looks at them again; so must all
that was derived from the code. Whoever makes something of a function calls `look_again` first, so that
what was derived from another meaning is left to those who hold it. Functions that call a derivative
are as Numba's callers are: they keep what they were compiled with.
"""

from contextlib import suppress
from functools import wraps
from weakref import WeakSet, ref

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.utils import shutting_down

from ..rules.registry import generation, renew
from .decorated import own_code, whole_of
from .meaning import forget_compiled, latest, meaning, reached
from .switched_off import refuse_without_compiler

_MEMOS = "__numbad_remembered__"
_DERIVED = "__numbad_derived__"
_CHECKED = "__numbad_checked__"
_MADE = "__numbad_made__"
_ENTRIES = "__numbad_entries__"


def remembered(dispatcher, what):
    """The dict of what is remembered of a dispatcher under a name."""
    known = vars(dispatcher).get(_MEMOS)
    if known is None:
        known = vars(dispatcher)[_MEMOS] = meaning(dispatcher), {}
    return known[1].setdefault(what, {})


def look_again(dispatcher):
    """Let go of what was derived from a dispatcher, or a callee, that means something else now."""
    before, functions = latest(), reached(dispatcher)
    if before == latest() == vars(dispatcher).get(_CHECKED):
        return
    for function in functions:
        known = vars(function).get(_MEMOS)
        if known is not None and known[0] != meaning(function):
            _let_go(function)
    vars(dispatcher)[_CHECKED] = latest()


def _let_go(dispatcher):
    """Remember nothing; what others may hold of it is still reached by `recompile`."""
    _, memos = vars(dispatcher).pop(_MEMOS)
    derived = vars(dispatcher).setdefault(_DERIVED, WeakSet())
    for memo in memos.values():
        derived.update(value for value in memo.values() if isinstance(value, Dispatcher))


class _Made(dict):
    """How it is made -> meaning, and what was made. A copy of the function starts without."""

    def __reduce__(self):
        return _Made, ()


def made_of(function, how, make):
    """`make(function)`, a dispatcher: always the same one, until the function means something else."""
    refuse_without_compiler()
    known = vars(function).setdefault(_MADE, _Made())
    version, dispatcher = known.get(how, (None, None))
    # `functools.wraps` copies what a function has.
    if dispatcher is None or _origin(dispatcher) is not function or version != meaning(dispatcher):
        dispatcher = make(own_code(function))
        look_again(dispatcher)
        vars(function)[_MADE] = _Made({**known, how: (meaning(dispatcher), dispatcher)})
    return dispatcher


def _origin(dispatcher):
    """The function that a dispatcher was made of, where that is not its own."""
    return whole_of(getattr(dispatcher.py_func, "__numbad_made_of__", dispatcher.py_func))


def built_once(dispatcher_of):
    """For functions that build dispatchers: what they return is remembered of one of the arguments.

    `dispatcher_of(*args)` is the one whose code it depends on.
    """

    def decorate(function):
        @wraps(function)
        def build(*args):
            dispatcher = dispatcher_of(*args)
            look_again(dispatcher)
            known = remembered(dispatcher, f"{function.__module__}.{function.__qualname__}")
            key = generation(), *args
            if key not in known:
                known[key] = function(*args)
            return known[key]

        return build

    return decorate


def forget(dispatcher):
    """Forget all that is remembered; dispatchers that others may hold compile at their next call."""
    version, memos = vars(dispatcher).pop(_MEMOS, (None, {}))  # should one lead back here
    for value in vars(dispatcher).pop(_DERIVED, ()):
        _reset(value)
    for memo in memos.values():
        for key, value in list(memo.items()):
            if isinstance(value, Dispatcher):
                _reset(value)
            else:
                del memo[key]
    if version is not None:
        vars(dispatcher)[_MEMOS] = meaning(dispatcher), memos


def _reset(dispatcher):
    forget(dispatcher)
    dispatcher._make_finalizer()()
    dispatcher._reset_overloads()


@global_compiler_lock
def _recompile(dispatcher):
    """Recompile all signatures afresh, and let derivatives be compiled afresh."""
    forget_compiled(dispatcher)
    forget(dispatcher)
    renew()
    return _numbas_recompile(dispatcher)


def _add_overload(dispatcher, cres):
    """Enter compiled code."""
    _numbas_add_overload(dispatcher, cres)
    enter(dispatcher, cres)


def enter(dispatcher, cres):
    """Note an entry point, for the time when the dispatcher is gone, and of what its code was made."""
    cres.library.made_of = ref(dispatcher), cres.signature.args
    vars(dispatcher).setdefault(_ENTRIES, []).append(cres.entry_point)


def _make_finalizer(dispatcher):
    """Numba's finalizer, but one that holds what is to be removed, rather than all of the overloads.

    These hold the Python functions, which would never go where one leads back to its dispatcher.
    """
    entries = vars(dispatcher).setdefault(_ENTRIES, [])
    context = dispatcher.targetctx

    def finalizer(shutting_down=shutting_down):
        while entries and not shutting_down():
            with suppress(KeyError):
                context.remove_user_function(entries.pop())

    return finalizer


_numbas_recompile, _numbas_add_overload = Dispatcher.recompile, Dispatcher.add_overload
Dispatcher.recompile, Dispatcher.add_overload = _recompile, _add_overload
Dispatcher._make_finalizer = _make_finalizer
