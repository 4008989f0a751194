"""Whether operators that are made now take elementary functions that LLVM makes vectors of."""

from contextlib import contextmanager
from contextvars import ContextVar

_ASKED = ContextVar("vector_math", default=None)


def asked():
    """What runs a loop in lanes for operators that are made now; None where they take no code of vectors."""
    return _ASKED.get()


@contextmanager
def asked_as(wanted):
    """Make operators as others were made."""
    token = _ASKED.set(wanted)
    try:
        yield
    finally:
        _ASKED.reset(token)
