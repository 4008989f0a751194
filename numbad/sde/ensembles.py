"""`ensemble`: many paths of a solution, kept or reduced to means with their standard errors."""

import operator
import warnings
from collections import namedtuple
from functools import partial

import numpy as np
from numba import typeof
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.extending import overload

from numbad.compilation.around import jit_around
from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError, NumbadWarning
from numbad.keywords import checks_keywords
from numbad.ode.by_structure import by_structure
from numbad.ode.python_values import check_values, with_arrays
from numbad.operators.operator_dispatcher import as_dispatcher
from numbad.random.generator_compiling import HOW_TO_MAKE_A_KEY
from numbad.sde.block_source import block_of
from numbad.sde.control_variate import adjusting, with_control
from numbad.sde.ensemble_source import MEAN, Ensemble, chunk_of, plan_of, reduced_type
from numbad.sde.grid import as_times, grid
from numbad.sde.likelihood_ratio import check_scheme
from numbad.sde.model_names import function_of
from numbad.sde.quantiles_of_paths import QuantileLevels, quantiles_of
from numbad.sde.solution_operator import SolveDispatcher, problem_of
from numbad.sde.spreading import Chunk, mapping

PATHWISE, LIKELIHOOD_RATIO = "pathwise", "likelihood_ratio"

PARAMETERS = "y0, ts, args, key, paths"

MOST_PATHS = 2**32
HOW_MANY = "paths is how many, an int"
OUTSIDE = "paths lies between 1 and 2**32"
UNPAIRED = "antithetic paths come in pairs: an even number"

Statistics = namedtuple("Statistics", "mean error paths failed")
Statistics.__doc__ = """What `ensemble` returns with a reducer.

`mean` and its standard `error` over the paths that stayed finite, in the structure that the reducer returns;
how many `paths` that were, pairs where they are antithetic; `failed`: the number of the first path that ended
in NaN or infinity, it or its mirror image, -1 if none did.
"""


@checks_keywords("nd.sde.ensemble")
def ensemble(
    solve,
    y0,
    ts,
    args,
    key,
    paths,
    *,
    reduce=None,
    executor=None,
    antithetic=False,
    estimator=PATHWISE,
    control=None,
    control_mean=None,
    progress=False,
):
    """Solve for many paths; reduce each to numbers, and these to their mean, without keeping paths.

    Parameters
    ----------
    solve : dispatcher
        From `nd.sde.solver`.
    y0, ts, args, key
        As `solve` takes them. Path number p is `solve(y0, ts, args, (key, p))`.
    paths : int
        How many.
    reduce : None, "mean", function or nd.sde.quantiles(...)
        None: all paths are returned. "mean": their mean at each of `ts`. A function: `reduce(ys)` gets the
        array (len(ts), n) of one path and returns a float or a tuple of floats (a payoff, say).
        `nd.sde.quantiles(0.05, 0.5, 0.95)`: exact quantiles; for calls from Python.
    executor : None, int or concurrent.futures.Executor
        Number of threads, or an executor: threads, processes, Dask's or MPI's; for calls from Python. The
        result is the same, bit for bit, for any.
    antithetic : bool
        Half of the paths has the increments of the other half with the opposite sign; `paths` is even.
    estimator : str
        Of derivatives. "pathwise": those of what is made of each path, for what depends continuously on it.
        "likelihood_ratio": the score of the path's density times that number, for payoffs that jump; method
        "EulerMaruyama", floats and tuples with noise of their own in each component. Its variance grows with
        the number of steps.
    control, control_mean : function, float
        A control variate: another function of a path that returns a float, and its mean, which is known. What
        is off in the mean of the control corrects that of `reduce`, a function that returns a float as well.
        Not for antithetic paths.
        Where derivatives are taken, compute `control_mean` from what they are taken by.
    progress : bool
        A bar on standard error, for calls from Python.

    Returns
    -------
    array of shape (paths, len(ts), n), `Quantiles`, or `Statistics(mean, error, paths, failed)`
        with the standard error of the mean (over pairs, where they are antithetic; NaN of a single one). A
        path that ends in NaN or infinity is left out: `paths` counts the others (pairs, where a
        mean is over these), and a warning from Python names the first.
        In nopython code it can be called with the same arguments (`reduce` is a jitted function), and be
        differentiated by `y0` and `args`; reverse mode evaluates blocks of paths again, drawing their
        increments again, so that memory does not grow with the paths.

    Raises
    ------
    ArgumentError
        for what is no solver, no key, no number of paths.

    Notes
    -----
    Blocks of paths go through the steps together, in lanes of the machine's vectors, where the functions
    allow it: see `nd.batch`. States that are arrays go one by one, as do paths with adaptive steps, jumps or
    events, and those of functions that write intermediate results to arrays in `args`: each path has copies
    of these, as they are given.

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
    >>> solve = nd.sde.solver(drift, diffusion, method="Milstein", dt=0.01)
    >>> key = nd.random.key(0)
    >>> found = nd.sde.ensemble(solve, 100.0, (0.0, 1.0), (0.05, 0.2), key, 20_000, reduce=payoff)
    >>> abs(math.exp(-0.05) * found.mean - 10.4506) < 4 * found.error     # Black and Scholes
    True

    Its derivatives by the price today, the rate and the volatility:

    >>> @njit
    ... def price(spot, rate, vol, key):
    ...     found = nd.sde.ensemble(solve, spot, (0.0, 1.0), (rate, vol), key, 20_000, reduce=payoff)
    ...     return math.exp(-rate) * found.mean
    >>> value, (delta, rho, vega) = nd.value_and_grad(price, (0, 1, 2))(100.0, 0.05, 0.2, key)
    >>> abs(delta - 0.6368) < 0.02, abs(rho - 53.23) < 2.0, abs(vega - 37.524) < 1.5
    (True, True, True)
    """
    problem = check_solver("ensemble", solve, key)
    y0, ts = with_arrays({"y0": y0, "ts": ts}).values()
    check_values("nd.sde.ensemble", {"y0": y0, "ts": ts, "args": args})
    count = _count(paths, antithetic)
    plan = _planned(problem, reduce, antithetic, estimator, control, control_mean)
    by_rank = isinstance(reduce, QuantileLevels)
    if by_rank:
        given = y0, as_times(ts), args, key, count, executor, progress
        found = quantiles_of(plan, reduce, *given)
    elif executor is None and not progress:
        found = operator_of(plan)(y0, ts, args, key, count)
    else:
        found = _by_chunks(plan, y0, ts, args, key, count, executor, progress)
    if plan.reduce is not None and found.failed >= 0:
        in_pairs = plan.mirrored and not by_rank
        of, what = (count // 2, "pairs of paths") if in_pairs else (count, "paths")
        told = f"{of - found.paths} of {of} {what} end in NaN or infinity and are left out"
        where = f"solve(y0, ts, args, (key, {found.failed})) tells when"
        if plan.mirrored:
            where += ", unless it is its mirror image that does"
        warnings.warn(
            f"{told}; the first is path {found.failed}: {where}", NumbadWarning, stacklevel=2
        )
    return found if control is None else adjusting(Statistics)(found, float(control_mean))


def _planned(problem, reduce, antithetic, estimator, control, control_mean):
    """What an ensemble is made of; ArgumentError for options that are wrong or do not go together."""
    if estimator not in (PATHWISE, LIKELIHOOD_RATIO):
        raise ArgumentError(
            f"estimator must be {PATHWISE!r} or {LIKELIHOOD_RATIO!r}, not {estimator!r}"
        )
    by_score = estimator == LIKELIHOOD_RATIO
    beside = "jumps" if problem.jumps is not None else "events" if problem.events else None
    if beside is not None and (antithetic or by_score):
        option = "antithetic=True" if antithetic else f"estimator={estimator!r}"
        raise ArgumentError(
            f"{option} is for paths without {beside}; leave it out, or leave out {beside}="
        )
    if by_score:
        check_scheme(problem)
        if reduce is None:
            raise ArgumentError(
                "estimator='likelihood_ratio' is for reductions: reduce='mean', or a function of a path"
            )
    if isinstance(reduce, QuantileLevels):
        if by_score or control is not None:
            raise ArgumentError(
                "quantiles go without estimator='likelihood_ratio' and without control="
            )
        reduce = MEAN if reduce.of is None else reduce.of
    reduce = reducer("ensemble", reduce)
    if (control is None) != (control_mean is None):
        raise ArgumentError("a control has its mean: give control= and control_mean=, or neither")
    if control is not None:
        if antithetic or not isinstance(reduce, Dispatcher) or not callable(control):
            raise ArgumentError(
                "control= is a function of a path, beside reduce=, another one; without antithetic paths"
            )
        reduce = with_control(reduce, reducer("ensemble", control))
    return Ensemble(problem, reduce, bool(antithetic), by_score)


def check_solver(name, solve, key):
    """The problem of a solver; ArgumentError for what is none, or no key."""
    if not isinstance(solve, SolveDispatcher):
        raise ArgumentError(f"nd.sde.{name} takes what nd.sde.solver returned, not {solve!r}")
    if not isinstance(key, np.uint64):
        raise ArgumentError(f"nd.sde.{name} takes a key, not {key!r}; {HOW_TO_MAKE_A_KEY}")
    return problem_of(solve, name)


def _count(paths, antithetic):
    try:
        count = operator.index(paths)
    except TypeError:
        raise ArgumentError(f"{HOW_MANY}, not {paths!r}") from None
    if not 1 <= count <= MOST_PATHS:
        raise ArgumentError(f"{OUTSIDE}; it is {paths!r}")
    if antithetic and count % 2:
        raise ArgumentError(f"{UNPAIRED}, not {paths!r}")
    return count


def reducer(name, reduce):
    """A reducer as a dispatcher, None or "mean"; ArgumentError for what is none."""
    if reduce is None or reduce == MEAN:
        return reduce
    if not callable(reduce):
        raise ArgumentError(
            f"reduce must be None, 'mean' or a function of a path, not {reduce!r}; of nd.sde.ensemble also "
            "nd.sde.quantiles(...)"
        )
    return as_dispatcher(f"sde.{name}", reduce)


@built_once(lambda plan: plan.problem.drift)
def operator_of(plan):
    """The dispatcher `ensemble(y0, ts, args, key, paths)`."""
    origin = operator_of, (plan,)
    given = partial(core, plan), plan.content, origin
    return by_structure("ensemble", PARAMETERS, *given, users=plan.users)


def check_key(name, ty):
    """Raise ArgumentError where the type of a key is none."""
    if ty != types.uint64:
        raise ArgumentError(f"nd.sde.{name} takes a key, not {ty}; {HOW_TO_MAKE_A_KEY}")


@built_once(lambda plan, *_: plan.problem.drift)
def core(plan, y0, ts, args, key, paths):
    """The function `ensemble(y0, ts, args, key, paths)` for types, as ordinary compiled code."""
    check_key("ensemble", key)
    if not isinstance(paths, types.Integer):
        raise ArgumentError(f"{HOW_MANY}, not {paths}")
    namespace = {"plan": plan_of(plan, y0, args), "as_times": as_times, "grid": grid}
    namespace["ArgumentError"] = ArgumentError
    lines = [
        f"if not 1 <= paths <= {MOST_PATHS}:",
        f"    raise ArgumentError({OUTSIDE!r})",
        *([f"if paths % 2 != 0:\n        raise ArgumentError({UNPAIRED!r})"] * plan.mirrored),
        "times = as_times(ts)",
        f"steps = {_steps(plan.problem)}",
        "channels, size = plan(y0, times, args, steps[1].size)",
        "blocks = (paths + size - 1) // size",
    ]
    if plan.reduce is None:
        namespace["block"] = block_of(plan, y0, args)
        lines += _all_paths(y0)
    else:
        namespace.update(chunk=chunk_of(plan, y0, args), finish=finish_of(plan, y0))
        lines += [
            "totals, squares, good, bad = chunk(y0, args, steps, channels, size, key, paths, 0, blocks)",
            "return finish(totals, squares, good, bad, steps[0].size)",
        ]
    compiled = jit_around(plan.users, error_model="numpy", nogil=True)
    return compiled(function_of(f"ensemble({PARAMETERS})", lines, namespace))


def _steps(problem):
    """Source of what blocks are solved by: the steps, or the outputs alone where each path has its own."""
    return "(times, times)" if problem.goes_alone else f"grid(times, {problem.dt!r})"


def _all_paths(y0):
    count = (
        "y0.size"
        if isinstance(y0, types.Array)
        else len(y0)
        if isinstance(y0, types.BaseTuple)
        else 1
    )
    return [
        f"out = np.empty((paths, steps[0].size, {count}))",
        "for b in range(blocks):",
        "    first = b * size",
        "    number = min(size, paths - first)",
        "    ys = block(y0, args, steps, channels, key, first, number)",
        "    for p in range(number):",
        "        for i in range(out.shape[1]):",
        "            for c in range(out.shape[2]):",
        "                out[first + p, i, c] = ys[i, c, p]",
        "return out",
    ]


@built_once(lambda plan, *_: plan.problem.drift)
def finish_of(plan, y0):
    """`finish(totals, squares, good, bad, outputs)`: the `Statistics` of the sums of all blocks."""
    from numba.core.registry import cpu_target

    lines = [
        "k = totals.shape[1]",
        "mean, error, count, failed = np.zeros(k), np.zeros(k), 0, -1",
        "for b in range(totals.shape[0]):",
        "    count += good[b]",
        "    if failed < 0:",
        "        failed = bad[b]",
        "    for j in range(k):",
        "        mean[j] += totals[b, j]",
        "        error[j] += squares[b, j]",
        "for j in range(k):",
        "    mean[j] = mean[j] / count",
        "    spread = (error[j] / count - mean[j] * mean[j]) / (count - 1)",
        "    least = 0.0 if count > 1 else np.nan",
        "    error[j] = math.sqrt(spread) if spread > 0.0 else least",
    ]
    if plan.reduce == MEAN:
        given = "mean.reshape((outputs, -1)), error.reshape((outputs, -1))"
    else:
        found = reduced_type(cpu_target.typing_context, plan.reduce)
        if isinstance(found, types.BaseTuple):
            given = ", ".join(
                "(" + "".join(f"{name}[{k}], " for k in range(len(found))) + ")"
                for name in ("mean", "error")
            )
        else:
            given = "mean[0], error[0]"
    lines.append(f"return Statistics({given}, count, failed)")
    head = "finish(totals, squares, good, bad, outputs)"
    return jit(error_model="numpy")(function_of(head, lines, {"Statistics": Statistics}))


def _by_chunks(plan, y0, ts, args, key, paths, executor, progress):
    """The same with the blocks spread over threads or processes, and a bar of those that are done."""
    if plan.reduce is None:
        option = "executor" if executor is not None else "progress"
        raise ArgumentError(f"{option} is for reductions: reduce='mean', or a function of a path")
    chunk = Chunk(chunk_of, plan, y0, args, as_times(ts), key, paths)
    with mapping(executor) as run:
        parts = list(chunk.parts(run, progress))
    totals, squares, good, bad = (np.concatenate(rows) for rows in zip(*parts, strict=True))
    return finish_of(plan, typeof(y0))(totals, squares, good, bad, chunk.outputs)


@overload(ensemble, prefer_literal=True, strict=False)
def _ensemble_in_nopython(
    solve,
    y0,
    ts,
    args,
    key,
    paths,
    reduce=None,
    executor=None,
    antithetic=False,
    estimator=PATHWISE,
    control=None,
    control_mean=None,
    progress=False,
):
    if not isinstance(solve, types.Dispatcher) or not isinstance(solve.dispatcher, SolveDispatcher):
        raise ArgumentError(f"nd.sde.ensemble takes what nd.sde.solver returned, not {solve}")
    problem = problem_of(solve.dispatcher, "ensemble")
    options = reduce, antithetic, estimator, control
    given = (
        None
        if isinstance(control_mean, types.Omitted | types.NoneType) or control_mean is None
        else control_mean
    )
    found = operator_of(_planned_by_types(solve, problem, options, given))
    adjust = adjusting(Statistics) if given is not None else None

    def call(
        solve,
        y0,
        ts,
        args,
        key,
        paths,
        reduce=None,
        executor=None,
        antithetic=False,
        estimator=PATHWISE,
        control=None,
        control_mean=None,
        progress=False,
    ):
        return found(y0, ts, args, key, paths)

    def controlled(
        solve,
        y0,
        ts,
        args,
        key,
        paths,
        reduce=None,
        executor=None,
        antithetic=False,
        estimator=PATHWISE,
        control=None,
        control_mean=None,
        progress=False,
    ):
        return adjust(found(y0, ts, args, key, paths), control_mean)

    return call if given is None else controlled


_REFUSED = {}  # of a solver, why options that were constants are refused: Numba asks again without


def _planned_by_types(solve, problem, options, control_mean):
    """`_planned` for types of options; Numba calls it with constants first, then with what type they have."""
    try:
        values = list(map(constant_of, options))
    except ArgumentError as error:
        raise _REFUSED.pop(solve, error) from None
    try:
        return _planned(problem, *values, control_mean)
    except ArgumentError as error:
        _REFUSED[solve] = error
        raise


def constant_of(ty):
    """The value of an argument known to the compiler: a function, a literal, a default."""
    if isinstance(ty, types.Dispatcher):
        return ty.dispatcher
    if isinstance(ty, types.Omitted):
        return ty.value
    if isinstance(ty, types.Literal):
        return ty.literal_value
    if ty is None or isinstance(ty, bool | str | Dispatcher):
        return ty
    if isinstance(ty, types.NoneType):
        return None
    raise ArgumentError(
        f"nd.sde.ensemble in compiled code needs its options as constants, not {ty}"
    )
