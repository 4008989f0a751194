"""`checkpoint`: a function that is evaluated again in the reverse sweep instead of recorded."""

import inspect

from numba import njit
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

from ..errors import ArgumentError
from ..forward.promote import effects
from ..source import define
from .pipeline import INHERITED, pullback


class CheckpointDispatcher(CPUDispatcher):
    """Calls a function; its pullback keeps the arguments alone and evaluates it again."""

    @property
    def numbad_draws(self):
        """Whether it draws from `np.random` or `random`, so that an evaluation changes the next."""
        return effects(self, ()).random

    def numbad_pullback(self, wrt):
        return pullback(self.py_func.__numbad_checkpointed__, wrt)


def checkpoint(f):
    """The function itself, to be recomputed in a reverse sweep rather than recorded.

    Where a function that calls `checkpoint(f)` is differentiated in reverse, only the arguments of
    the call are kept: numbers, and copies of arrays that change. When the sweep comes back to the
    call, `f` is evaluated once more and reversed. Memory for one call of `f` is then needed at a
    time, at the cost of a second evaluation (Griewank & Walther, "Evaluating Derivatives", 2008,
    ch. 12). The second evaluation draws the same numbers from `np.random` and `random`; it prints
    what it prints again. Functions that take a `Generator` are refused.

    Parameters
    ----------
    f : function or Numba dispatcher

    Returns
    -------
    dispatcher
        Takes and returns what `f` does.

    Examples
    --------
    >>> import numbad as nd
    >>> from numba import njit
    >>> @njit
    ... def step(x):
    ...     return x - 0.1 * x * x
    >>> recomputed = nd.checkpoint(step)
    >>> @njit
    ... def f(x):
    ...     for _ in range(3):
    ...         x = recomputed(x)
    ...     return x
    >>> round(nd.grad(f, mode="reverse")(1.0), 6)
    0.548547
    """
    if not callable(f):
        raise ArgumentError(f"nd.checkpoint takes a function, not {f!r}")
    function = f if isinstance(f, Dispatcher) else njit(f)
    names = list(_parameters(function))
    source = f"def checkpointed({', '.join(names)}):\n    return function({', '.join(names)})\n"
    call = define(source, {"function": function})
    call.__name__ = function.py_func.__name__
    call.__doc__ = function.py_func.__doc__
    call.__numbad_checkpointed__ = function
    options = {k: v for k, v in function.targetoptions.items() if k in INHERITED}
    return CheckpointDispatcher(call, targetoptions={**options, "nopython": True})


def _parameters(function):
    for parameter in inspect.signature(function.py_func).parameters.values():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD or (
            parameter.default is not parameter.empty
        ):
            raise ArgumentError(
                "nd.checkpoint takes functions without *args and default arguments; "
                f"'{parameter}' of {function.py_func.__name__} is one"
            )
        yield parameter.name
