"""Rules of the user's, which go along where a function is pickled.

A process that unpickles an operator has not run the lines that gave the rules: those of a notebook, or below
`if __name__ == "__main__":`. It would differentiate the functions' code instead.
"""

import copyreg
import os
import pickle
import sys
import time
from itertools import count

from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.serialize import _CustomPickled as ByValue

from .registry import GIVEN, JVP, SCALAR, VJP, ScalarRule, on_register
from .user_rules import give

_STAMPS = {}
"""A function with a rule of the user's -> when, and in which process, it was given."""

_numbers = count()


def let_travel(fn):
    """Let the rule that a function has now go along where the function is pickled."""
    _STAMPS[fn] = time.time_ns(), next(_numbers), os.getpid()
    # What is no dispatcher is pickled by its name: its rule goes along with all dispatchers.
    copyreg.pickle(type(fn) if isinstance(fn, Dispatcher) else CPUDispatcher, _reduced)


on_register.append(let_travel)


def _reduced(dispatcher):
    """What makes a dispatcher anew; with its rules as its state, since they may hold it themselves."""
    found = dispatcher.__reduce__()
    sent = [fn for fn in (dispatcher, *GIVEN) if fn in _STAMPS and _is_found(fn)]
    return (
        (*found[:2], {"__numbad_rules__": _Rules(list(map(_described, sent)))}) if sent else found
    )


def _is_found(fn):
    """Whether another process finds a function; what calls one that it does not is not pickled, either."""
    try:
        return isinstance(fn, Dispatcher) or bool(pickle.dumps(fn))
    except Exception:
        return False


def _described(fn):
    scalar = SCALAR[fn].partials if fn in SCALAR else None
    return fn, _STAMPS[fn], scalar, JVP.get(fn), VJP.get(fn)


class _Rules:
    """Rules within a pickle, which are given to their functions where it is read."""

    def __init__(self, described):
        self.described = described

    def __reduce__(self):
        return _receive, (ByValue(list, self.described),)


def _receive(sent):
    """Give rules to their functions, unless these have later ones.

    In a worker, what its parent has counts, be it older than what the worker's imports have given.
    """
    processes = sys.modules.get("multiprocessing.process")
    works = processes is not None and processes.parent_process() is not None
    for fn, stamp, scalar, jvp, vjp in sent.states:
        known = _STAMPS.get(fn, ())
        if stamp > known or (works and stamp != known):
            give(fn, None if scalar is None else ScalarRule(fn, scalar), jvp, vjp)
            _STAMPS[fn] = stamp
