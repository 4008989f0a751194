"""What is remembered of a dispatcher, and forgotten when its user has it compiled anew.

Numba takes globals and closure cells for constants, and `recompile` looks at them again; so must all
that was derived from the code. Functions that call a derivative are as Numba's callers are: they
keep what they were compiled with.
"""

from functools import lru_cache

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from .rules.registry import on_renew, renew

_MEMOS = "__numbad_remembered__"


def remembered(dispatcher, what):
    """The dict of what is remembered of a dispatcher under a name."""
    return vars(dispatcher).setdefault(_MEMOS, {}).setdefault(what, {})


def built_once(function):
    """`lru_cache` for functions that build dispatchers, emptied when rules or callees change."""
    cached = lru_cache(maxsize=256)(function)
    on_renew.append(cached.cache_clear)
    return cached


def forget(dispatcher):
    """Forget all that is remembered; dispatchers that others may hold compile at their next call."""
    memos = vars(dispatcher).pop(_MEMOS, {})  # out of the way, should one lead back here
    for memo in memos.values():
        for key, value in list(memo.items()):
            if isinstance(value, Dispatcher):
                forget(value)
                value._make_finalizer()()
                value._reset_overloads()
            else:
                del memo[key]
    vars(dispatcher)[_MEMOS] = memos


@global_compiler_lock
def _recompile(dispatcher):
    """Recompile all signatures afresh, and let derivatives be compiled afresh."""
    forget(dispatcher)
    renew()
    return _numbas_recompile(dispatcher)


_numbas_recompile = Dispatcher.recompile
Dispatcher.recompile = _recompile
