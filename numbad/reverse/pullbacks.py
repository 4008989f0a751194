"""The pullback of a dispatcher: one of its own, or the adjoint of its code."""

import inspect

from numba import njit

from ..compilation.inherited import inherited_options
from ..compilation.memo import remembered
from ..rules.registry import JVP, SCALAR, VJP, generation
from ..source import define

_OF_CODE = []


def of_code(make):
    """Let `make(f, wrt, snapshots, lanes)` differentiate the code of functions: see `pipeline.py`."""
    _OF_CODE[:] = [make]
    return make


def pullback(f, wrt, snapshots=None, lanes=None):
    """The dispatcher `pull(args, shadows, seed) -> (value, adjoints)` of a dispatcher `f`.

    `wrt` are the numbers of the arguments to differentiate by. `shadows` has one entry for each
    argument, an array for an array in `wrt`, to which the adjoint is added; `seed` is the cotangent
    of the result. `snapshots`: see `nd.checkpoint`; `lanes` is what runs loops over points in lanes:
    see `lane_loops.py`. Raises UnsupportedError when compiled, for what cannot be differentiated.
    """
    wrt = tuple(wrt)
    f = calling(f)
    known = remembered(f, "pullbacks")
    key = generation(), wrt, snapshots, bool(lanes)
    if key not in known:
        own = hasattr(f, "numbad_pullback")
        known[key] = f.numbad_pullback(wrt) if own else _OF_CODE[0](f, wrt, snapshots, lanes)
    return known[key]


def calling(f):
    """A function that calls `f`, so that the rule of `f` is met; `f` itself where it has none."""
    if not (f in SCALAR or f in VJP or f in JVP):
        return f
    known = remembered(f, "called")
    rules = SCALAR.get(f), VJP.get(f), JVP.get(f)
    if rules not in known:
        names = ", ".join(inspect.signature(f.py_func).parameters)
        source = f"def call_({names}): return function_({names})\n"
        options = inherited_options(f)
        known[rules] = njit(define(source, {"function_": f}, f.py_func), **options)
    return known[rules]
