"""`multilevel`: the mean of many paths to a tolerance, from many coarse paths and few fine ones."""

import math
import warnings
from collections import namedtuple
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numba import typeof
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import overload

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError, ConvergenceError, NumbadWarning
from numbad.keywords import checks_keywords
from numbad.ode.by_structure import by_structure
from numbad.sde.ensemble_source import Ensemble, reduced_type
from numbad.sde.ensembles import (
    PARAMETERS,
    Statistics,
    check_key,
    check_solver,
    constant_of,
    reducer,
)
from numbad.sde.level_source import level_of
from numbad.sde.model_names import function_of
from numbad.sde.solution_operator import SolveDispatcher, problem_of

_SPLIT = 0.25  # the part of the squared tolerance that the bias may have (Giles, 2015, section 3.1)
_FIRST = 1000  # paths on a level before its variance is known
_LEAST_RATE = 0.5

Level = namedtuple("Level", "dt paths mean variance cost")
Level.__doc__ = """One level.

The width of its steps, how many paths, mean and variance of the difference to the next coarser one (of the
value itself on the first), and what a path costs, in those of level 0.
"""


@dataclass(frozen=True)
class Multilevel:
    """What `multilevel` returns.

    `mean`, its standard `error`, the estimated `bias` of the finest steps, `levels` (a tuple of `Level`), the
    number of the first path that `failed` (-1: none did), `paths` by level.
    """

    mean: float
    error: float
    bias: float
    levels: tuple
    failed: int

    @property
    def paths(self):
        """How many paths there are on each level, as `multilevel(paths=...)` takes it."""
        return tuple(level.paths for level in self.levels)

    @property
    def cost(self):
        """What all paths cost, in those of level 0."""
        return sum(level.paths * level.cost for level in self.levels)

    def summary(self):
        """The table of levels, as text."""
        lines = [
            f"{'level':>5} {'dt':>10} {'paths':>10} {'mean':>12} {'variance':>11} {'cost':>11}"
        ]
        for number, level in enumerate(self.levels):
            lines.append(
                f"{number:5} {level.dt:10.3g} {level.paths:10} {level.mean:12.4g} "
                f"{level.variance:11.3g} {level.paths * level.cost:11.3g}"
            )
        lines.append(f"mean {self.mean:.6g}, error {self.error:.2g}, bias about {self.bias:.2g}")
        return "\n".join(lines)


@checks_keywords("nd.sde.multilevel")
def multilevel(
    solve, y0, ts, args, key, *, reduce, tolerance=None, paths=None, max_levels=12, executor=None
):
    """The mean of a number made of each path, by multilevel Monte Carlo.

    Level 0 has the steps of `solve`, each further level half of their width; there the mean of the difference
    between fine and coarse paths of the same Brownian motion is estimated. The levels add up to the mean for
    the finest steps, at little more than the cost of the coarse ones where differences vary little.

    Parameters
    ----------
    solve : dispatcher
        From `nd.sde.solver`; its `dt` is the width of the steps of level 0.
    y0, ts, args, key
        As `solve` takes them.
    reduce : function
        `reduce(ys)` gets the array (len(ts), n) of one path and returns a float (a payoff, say).
    tolerance : float
        The root mean square error that is asked for, in units of what `reduce` returns: levels are added
        until the estimated bias, and paths until the standard error, are small enough for it.
    paths : tuple of ints
        In place of a tolerance: how many paths on each level.
    max_levels : int
        At most so many levels; a bias that is too large then raises.
    executor : None, int or concurrent.futures.Executor
        Number of threads, or an executor of threads, among which paths are spread.

    Returns
    -------
    Multilevel
        With `mean`, `error`, `bias`, `levels`, `paths`, `cost` and `summary()`, the table of levels. In
        nopython code, where `paths` is given: `Statistics(mean, error, paths, failed)`, which is
        differentiated by `y0` and `args` in both modes.

    Raises
    ------
    ArgumentError
        for what is no solver, no key, no tolerance.
    ConvergenceError
        where the bias is above the tolerance with `max_levels` levels.

    Notes
    -----
    Giles, "Multilevel Monte Carlo path simulation", Operations Research 56 (2008) 607-617; "Multilevel Monte
    Carlo methods", Acta Numerica 24 (2015) 259-328, section 3, for the choice of levels and paths.

    Examples
    --------
    >>> import math
    >>> from numba import njit
    >>> import numbad as nd
    >>> @njit
    ... def drift(t, y, rate, vol):
    ...     return rate * y
    >>> @njit
    ... def diffusion(t, y, rate, vol):
    ...     return vol * y
    >>> @njit
    ... def payoff(ys):
    ...     return max(ys[-1, 0] - 100.0, 0.0)
    >>> coarse = nd.sde.solver(drift, diffusion, method="Milstein", dt=0.5)
    >>> given = coarse, 100.0, (0.0, 1.0), (0.05, 0.2), nd.random.key(0)
    >>> found = nd.sde.multilevel(*given, reduce=payoff, tolerance=0.05)
    >>> abs(math.exp(-0.05) * found.mean - 10.4506) < 0.15      # Black and Scholes
    True
    >>> len(found.levels) >= 3 and found.paths[0] > 10 * found.paths[2]
    True
    """
    plan = Ensemble(_even(check_solver("multilevel", solve, key)), _number(reduce))
    if (tolerance is None) == (paths is None):
        raise ArgumentError("give either tolerance=, the error to reach, or paths=, on each level")
    if not isinstance(max_levels, int) or max_levels < 1:
        raise ArgumentError(f"max_levels is a number of levels, one at least, not {max_levels!r}")
    run = level_of(plan, typeof(y0), typeof(args))

    def level(number, first, count):
        return run(y0, ts, args, key, plan.problem.dt * 0.5**number, number, first, count)

    with _mapping(executor) as spread:
        if paths is None:
            return _to_tolerance(level, spread, plan, _positive(tolerance), max_levels)
        return _finished([_Sums(level, spread, k, n) for k, n in enumerate(_counts(paths))], plan)


def _even(problem):
    """A problem, where its steps have one size, which levels halve."""
    if problem.is_adaptive:
        raise ArgumentError(
            "nd.sde.multilevel takes solvers with steps of one size, which it halves: give the solver dt, "
            "and leave out rtol and atol"
        )
    return problem


def _number(reduce):
    found = reducer("multilevel", reduce)
    if found is None or isinstance(found, str):
        raise ArgumentError(f"reduce is a function of a path that returns a float, not {reduce!r}")
    if isinstance(reduced_type(cpu_target.typing_context, found), types.BaseTuple):
        raise ArgumentError("reduce(ys) returns one float for nd.sde.multilevel, not a tuple")
    return found


def _positive(tolerance):
    try:
        found = float(tolerance)
    except (TypeError, ValueError):
        raise ArgumentError(f"tolerance is a positive float, not {tolerance!r}") from None
    if not 0.0 < found < math.inf:
        raise ArgumentError(f"tolerance is a positive float, not {tolerance!r}")
    return found


def _counts(paths):
    counts = tuple(paths) if isinstance(paths, tuple | list) else ()
    if not counts or not all(isinstance(n, int | np.integer) and n > 1 for n in counts):
        raise ArgumentError(f"paths is how many on each level, two or more, not {paths!r}")
    return counts


class _InTurn:
    """A map without threads."""

    workers = 1

    def __enter__(self):
        return map

    def __exit__(self, *_):
        return None


def _mapping(executor):
    """A context whose value maps over pieces of work."""
    if executor is None:
        return _InTurn()
    if isinstance(executor, ProcessPoolExecutor):
        raise ArgumentError(
            "nd.sde.multilevel spreads its paths over threads: executor=4, or a ThreadPoolExecutor"
        )
    if isinstance(executor, Executor):
        return _Lent(executor)
    if not isinstance(executor, int) or executor < 1:
        raise ArgumentError(f"executor is a number of threads or an Executor, not {executor!r}")
    return _Lent(ThreadPoolExecutor(executor), own=True)


class _Lent:
    """The map of an executor, which is shut down where it is ours."""

    def __init__(self, executor, own=False):
        self.executor, self.own = executor, own

    def __enter__(self):
        return self.executor.map

    def __exit__(self, *_):
        if self.own:
            self.executor.shutdown()


_PIECE = 4096  # paths in a piece of work: sums are the same for any number of threads


class _Sums:
    """Paths of one level, and what they add up to."""

    def __init__(self, level, spread, number, count):
        self.level, self.spread, self.number = level, spread, number
        self.asked = self.good = 0
        self.total = self.squares = 0.0
        self.failed = -1
        self.add(count)

    def add(self, count):
        """Take so many paths more."""
        firsts = range(self.asked, self.asked + count, _PIECE)
        stop = self.asked + count

        def piece(first):
            return self.level(self.number, first, min(_PIECE, stop - first))

        for total, squares, good, bad in self.spread(piece, firsts):
            self.total, self.squares = self.total + total, self.squares + squares
            self.good += good
            self.failed = bad if self.failed < 0 else self.failed
        self.asked = stop

    @property
    def mean(self):
        return self.total / self.good if self.good else math.nan

    @property
    def variance(self):
        if self.good < 2:
            return math.nan
        return max(self.squares / self.good - self.mean**2, 0.0) * self.good / (self.good - 1)


def _cost(number):
    """What a path of a level costs, in those of level 0: its steps, and those of twice the width."""
    return 1.0 if number == 0 else 1.5 * 2.0**number


def _to_tolerance(level, spread, plan, tolerance, max_levels):
    """Giles (2015), algorithm 1: add paths where they pay, then levels while the bias is too large."""
    sums = [_Sums(level, spread, number, _FIRST) for number in range(min(3, max_levels))]
    while True:
        means, variances, (weak, _) = _smoothed(sums)
        roots = [math.sqrt(v * _cost(k)) for k, v in enumerate(variances)]
        scale = sum(roots) / ((1.0 - _SPLIT) * tolerance**2)
        wanted = [scale * math.sqrt(v / _cost(k)) for k, v in enumerate(variances)]
        more = [math.ceil(n - part.asked) for n, part in zip(wanted, sums, strict=True)]
        for part, count in zip(sums, more, strict=True):
            if count > 0:
                part.add(count)
        if any(n > 0.01 * part.asked for n, part in zip(more, sums, strict=True)):
            continue
        if _bias(means, weak) <= math.sqrt(_SPLIT) * tolerance:
            return _finished(sums, plan)
        if len(sums) >= max_levels:
            raise ConvergenceError(
                f"nd.sde.multilevel: with {max_levels} levels the bias is about {_bias(means, weak):.2g}, "
                f"above {math.sqrt(_SPLIT) * tolerance:.2g}. Ways out: a larger tolerance, a smaller dt of "
                "the solver, more max_levels"
            )
        sums.append(_Sums(level, spread, len(sums), _FIRST))


def _smoothed(sums):
    """Magnitudes of means and variances by level, less their scatter, and the rates at which they fall."""
    means, variances = [abs(part.mean) for part in sums], [part.variance for part in sums]
    if not all(map(math.isfinite, means + variances)):
        raise ConvergenceError(
            "nd.sde.multilevel: nearly all paths of a level end in NaN or infinity"
        )
    rates = _rate(means), _rate(variances)
    for k in range(2, len(sums)):
        means[k] = max(means[k], 0.5 * means[k - 1] / 2.0 ** rates[0])
        variances[k] = max(variances[k], 0.5 * variances[k - 1] / 2.0 ** rates[1])
    return means, variances, rates


def _rate(numbers):
    """At which power of two numbers fall from level to level, by least squares from level 1 on."""
    levels = [k for k in range(1, len(numbers)) if numbers[k] > 0.0]
    if len(levels) < 2:
        return _LEAST_RATE
    slope = np.polyfit(levels, [math.log2(numbers[k]) for k in levels], 1)[0]
    return max(_LEAST_RATE, -float(slope))


def _bias(means, rate):
    """What is estimated of the levels that are not there, from the last three."""
    last = range(max(1, len(means) - 3), len(means))
    parts = [means[k] / 2.0 ** (rate * (len(means) - 1 - k)) for k in last]
    return max(parts, default=0.0) / (2.0**rate - 1.0)


def _finished(sums, plan):
    levels = tuple(
        Level(plan.problem.dt * 0.5**k, part.good, part.mean, part.variance, _cost(k))
        for k, part in enumerate(sums)
    )
    means, _, (weak, _) = _smoothed(sums)
    error = math.sqrt(sum(level.variance / level.paths for level in levels))
    failed = next((part.failed for part in sums if part.failed >= 0), -1)
    lost = sum(part.asked - part.good for part in sums)
    if lost:
        told = f"{lost} of {sum(part.asked for part in sums)} paths end in NaN or infinity"
        warnings.warn(f"{told} and are left out", NumbadWarning, stacklevel=3)
    mean = sum(level.mean for level in levels)
    return Multilevel(mean, error, _bias(means, weak), levels, failed)


# -- in compiled code ---------------------------------------------------------------------------------


@built_once(lambda plan: plan.problem.drift)
def operator_of(plan):
    """The dispatcher `multilevel(y0, ts, args, key, paths)`."""
    origin = operator_of, (plan,)
    return by_structure("multilevel", PARAMETERS, partial(core, plan), plan.content, origin)


@built_once(lambda plan, *_: plan.problem.drift)
def core(plan, y0, ts, args, key, paths):
    """The function `multilevel(y0, ts, args, key, paths)` for types."""
    check_key("multilevel", key)
    lines = [
        "mean, variance, count, failed = 0.0, 0.0, 0, -1",
        "for k in range(len(paths)):",
        f"    s, q, good, bad = run(y0, ts, args, key, {plan.problem.dt!r} * 0.5**k, k, 0, paths[k])",
        "    mean += s / good",
        "    spread = (q / good - (s / good) * (s / good)) / (good - 1)",
        "    least = 0.0 if good > 1 else np.nan",
        "    variance += spread if spread > 0.0 else least",
        "    count += good",
        "    if failed < 0:",
        "        failed = bad",
        "error = math.sqrt(variance) if variance > 0.0 else 0.0 * variance",
        "return Statistics(mean, error, count, failed)",
    ]
    namespace = {"run": level_of(plan, y0, args), "Statistics": Statistics}
    return jit(error_model="numpy", nogil=True)(
        function_of(f"multilevel({PARAMETERS})", lines, namespace)
    )


@overload(multilevel, prefer_literal=True, strict=False)
def _multilevel_in_nopython(
    solve, y0, ts, args, key, reduce, tolerance=None, paths=None, max_levels=12, executor=None
):
    if not isinstance(solve, types.Dispatcher) or not isinstance(solve.dispatcher, SolveDispatcher):
        raise ArgumentError(f"nd.sde.multilevel takes what nd.sde.solver returned, not {solve}")
    counts = isinstance(paths, types.UniTuple) and isinstance(paths.dtype, types.Integer)
    asked = tolerance is not None and not isinstance(tolerance, types.Omitted | types.NoneType)
    if not counts or asked:
        raise ArgumentError(
            "nd.sde.multilevel in compiled code takes paths=(...), a tuple of how many on each level, and no "
            "tolerance=, which is for calls from Python; their result has such .paths"
        )
    problem = _even(problem_of(solve.dispatcher, "multilevel"))
    found = operator_of(Ensemble(problem, _number(constant_of(reduce))))

    def call(
        solve, y0, ts, args, key, reduce, tolerance=None, paths=None, max_levels=12, executor=None
    ):
        return found(y0, ts, args, key, paths)

    return call
