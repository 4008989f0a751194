"""Warns of reducers that decide by comparisons alone: zero path by path, and not so is their mean's slope.

P. Glasserman, "Monte Carlo Methods in Financial Engineering" (2003), 7.2: the mean of a payoff that jumps
cannot be differentiated path by path.
"""

from numba.core import ir, types
from numba.core.registry import cpu_target

from numbad.forward.dual import Dual, duals_in
from numbad.forward.dualize import dispatcher_for_duals
from numbad.ir.searches import warn_once


def warn_of_digital(reduce):
    """Warn once where nothing flows from the path into a number that a jitted reducer returns."""
    ys = types.Array(Dual(types.float64, 1, 0), 2, "C")
    typingctx = cpu_target.typing_context
    called = types.Dispatcher(dispatcher_for_duals(reduce))
    ty = typingctx.resolve_function_type(called, (ys,), {}).return_type
    numbers = ty if isinstance(ty, types.BaseTuple) else (ty,)
    if all(any(True for _ in duals_in(number)) for number in numbers):
        return
    code = reduce.py_func.__code__
    text = (
        f"the derivative of what {reduce.py_func.__name__} returns is zero path by path: it depends on the "
        "path through comparisons alone, and the derivative of its mean is not zero. Ways out: smooth "
        "it, as in 1 / (1 + exp(-(y - strike) / width)); return its expectation given all but the last "
        "step; or weigh it by the score of the path's density: estimator='likelihood_ratio' of "
        "nd.sde.ensemble"
    )
    warn_once(text, ir.Loc(code.co_filename, code.co_firstlineno))
