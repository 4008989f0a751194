"""The compile options that code has from the dispatcher that it is made from, or is compiled within."""

from contextlib import contextmanager

from numba.core.targetconfig import ConfigStack

OPTIONS = ("fastmath", "error_model", "boundscheck", "nogil")


def inherited_options(dispatcher):
    """Those of the options that a dispatcher was given, name -> value."""
    return {k: v for k, v in dispatcher.targetoptions.items() if k in OPTIONS}


@contextmanager
def at_llvm_discretion():
    """Compile what is inlined where LLVM finds it worth while, be it called from what always is.

    Numba hands `forceinline` on to all that is compiled within: a search that calls a derivative from twelve
    places would hold twelve copies of it, and of all that it calls.
    """
    around = ConfigStack.top_or_none()
    if around is None or not around.forceinline:
        yield
        return
    flags = around.copy()
    flags.forceinline = False
    with ConfigStack().enter(flags):
        yield
