"""`checkpoint`: a function that is evaluated again in the reverse sweep instead of recorded."""

import inspect

from numba import njit
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

from ..compilation.decorated import own_code
from ..compilation.inherited import inherited_options
from ..compilation.memo import remembered
from ..compilation.switched_off import refuse_without_compiler
from ..errors import ArgumentError
from ..forward.promote import effects
from ..ir.functionals import functional
from ..rules.registry import generation
from ..source import define
from .pullbacks import pullback


class CheckpointDispatcher(CPUDispatcher):
    """Calls a function; its pullback keeps the arguments alone and evaluates it again."""

    @property
    def numbad_draws(self):
        """Whether it draws from `np.random` or `random`, so that an evaluation changes the next."""
        return effects(self, ()).random

    def numbad_effects(self, argtypes):
        """What the function does to arguments of these types."""
        f, key = self.py_func.__numbad_checkpointed__, (generation(), argtypes)
        known = remembered(self, "effects")
        if key not in known:
            done = effects(f, range(len(argtypes)), argtypes, by_types=True)
            known[key] = done.cautious()
        return known[key]

    def numbad_pullback(self, wrt):
        return pullback(
            self.py_func.__numbad_checkpointed__, wrt, self.py_func.__numbad_snapshots__
        )


def checkpoint(f, snapshots=None):
    """The function itself, to be recomputed in a reverse sweep rather than recorded.

    Where a function that calls `checkpoint(f)` is differentiated in reverse, only the arguments of
    the call are kept: numbers, and copies of arrays that change. When the sweep comes back to the
    call, `f` is evaluated once more and reversed. Memory for one call of `f` is then needed at a
    time, at the cost of a second evaluation (Griewank & Walther, "Evaluating Derivatives", 2008,
    ch. 12). The second evaluation draws the same numbers from `np.random` and `random`; it prints
    what it prints again. Functions that take a `Generator` are refused.

    With `snapshots=k`, the loops of `f` itself are reversed with at most `k` of their states kept at a
    time (Griewank & Walther, ACM TOMS Algorithm 799, "Revolve"): a loop of n steps takes memory for k
    states and the records of one step, and runs each step at most r times more, where r is the least
    number with C(k + r, k) >= n. That is 3 times for 10^5 steps and k = 100, 4 times for 10^7 and
    k = 150.

    Parameters
    ----------
    f : function or Numba dispatcher
    snapshots : int, optional
        How many states of a loop are kept at a time. Every outermost loop of `f` that would record
        anything must run over a range without being left early, carry numbers round and update arrays
        in place, and neither draw random numbers nor print. Without it, `f` is evaluated again as a
        whole.

    Returns
    -------
    dispatcher
        Takes and returns what `f` does.

    Raises
    ------
    ArgumentError
        If `f` is no function, or `snapshots` is less than one.
    UnsupportedError
        When a derivative is compiled, for a loop that cannot be run again from a snapshot.

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

    A long loop, with ten of its states in memory at a time:

    >>> @njit
    ... def decay(x, n):
    ...     for _ in range(n):
    ...         x = x - 0.001 * x * x
    ...     return x
    >>> round(nd.grad(nd.checkpoint(decay, snapshots=10), mode="reverse")(1.0, 1000), 6)
    0.249702
    """
    if snapshots is not None and (not isinstance(snapshots, int) or snapshots < 1):
        raise ArgumentError(f"nd.checkpoint takes a positive int for snapshots, not {snapshots!r}")
    if not (isinstance(f, Dispatcher) or inspect.isfunction(f)):
        raise ArgumentError(
            f"nd.checkpoint takes a Python function or a Numba dispatcher, not {f!r}; wrap it: "
            "@numba.njit def g(x): ..."
        )
    refuse_without_compiler()
    function = f if isinstance(f, Dispatcher) else njit(own_code(f))
    names = list(_parameters(function))
    # The number stands in the code so that what is kept on disk is told apart by it.
    given = f"def checkpointed({', '.join(names)}):\n    _snapshots = {snapshots}\n"
    source = f"{given}    return function({', '.join(names)})\n"
    call = define(source, {"function": function})
    call.__name__ = function.py_func.__name__
    call.__doc__ = function.py_func.__doc__
    call.__numbad_checkpointed__, call.__numbad_snapshots__ = function, snapshots
    options = inherited_options(function)
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


functional(checkpoint, "after", njit, in_nopython=False)
