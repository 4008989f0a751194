"""`taken_steps`: the steps that a path with adaptive steps took, and how many were rejected."""

from collections import namedtuple

from numba import typeof
from numba.core.registry import cpu_target

from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.sde.adaptive_source import call_of, chosen_of, solving
from numbad.sde.ensembles import check_solver
from numbad.sde.state_source import form_of

Steps = namedtuple("Steps", "t h w areas accepted rejected reached")
Steps.__doc__ = """What `taken_steps` returns, for n steps of m channels of noise.

`t`, shape (n,): when steps begin; `h`, (n,): their sizes; `w` and `areas`, (n, m): increments and space-time
Levy areas over them; `accepted` and `rejected`: how many were tried; `reached`: the time it got to.
"""


def taken_steps(solve, y0, ts, args, key):
    """The steps that `solve(y0, ts, args, key)` takes, for a solver with adaptive steps.

    Parameters
    ----------
    solve : dispatcher
        From `nd.sde.solver`, with `rtol` or `atol`.
    y0, ts, args, key
        As `solve` takes them.

    Returns
    -------
    Steps(t, h, w, areas, accepted, rejected, reached)
        Of methods that estimate errors by halves of steps, the halves: `accepted` is half of their number. A
        path that fails has the steps up to there, and `reached` is before the last of `ts`; so has one that
        ends by a terminal event. A step in which an event happens is there as a whole.

    Raises
    ------
    ArgumentError
        for what is no solver with adaptive steps, or no key.

    Examples
    --------
    >>> import math
    >>> from numba import njit
    >>> import numbad as nd
    >>> @njit
    ... def still(t, y):
    ...     return 0.0
    >>> @njit
    ... def fading(t, y):
    ...     return (0.1 + 10.0 * math.exp(-200.0 * t)) * y
    >>> chosen = nd.sde.solver(still, fading, method="SRIW1", rtol=1e-2)
    >>> steps = nd.sde.taken_steps(chosen, 1.0, (0.0, 1.0), (), nd.random.key(42))
    >>> bool(steps.h.max() > 20.0 * steps.h.min()), steps.accepted < 100, steps.reached
    (True, True, 1.0)
    """
    first = key[0] if isinstance(key, tuple) and key else key
    problem = check_solver("taken_steps", solve, first)
    if not problem.is_adaptive:
        raise ArgumentError(
            "nd.sde.taken_steps takes a solver with adaptive steps: give it rtol or atol; its steps are dt"
        )
    found = _taken(problem, *map(typeof, (y0, ts, args, key)))(y0, ts, args, key)
    h, w, areas = found.sizes, found.dw, found.dh
    return Steps(found.starts[: h.size], h, w, areas, found.accepted, found.rejected, found.time)


@built_once(lambda problem, *_: problem.drift)
def _taken(problem, y0, ts, args, key):
    form = form_of(cpu_target.typing_context, problem, y0, args)
    chosen = chosen_of(problem.plain, form, problem.stepping.by_component)
    times = "times[:: max(times.size - 1, 1)]" if problem.dense else "times"  # no steps aside
    lines = [f"return call({times}, y0, args, {call_of(problem)})"]
    return solving("taken", problem, form, key, chosen, lines)
