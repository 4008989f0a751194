"""What a function for dual numbers is compiled from: the function as it is for plain numbers."""

import weakref

from ..ir.signatures import as_called
from .dual import primal_type


def compile_like(made, fn):
    """Let a dispatcher compile the code of another, with its names meaning what Numba compiled."""
    original, own = weakref.ref(fn), made.py_func

    def implementation(args, kws):
        fn = original()
        return own if fn is None else as_called(fn, tuple(map(primal_type, args)))

    made._compiler._get_implementation = implementation
    return made
