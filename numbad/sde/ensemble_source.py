"""The code of many paths: blocks of them (`block_source`), summed block by block.

Reverse mode evaluates a block again when the sweep comes back to it, increments drawn again: memory for one
block at a time.
"""

from dataclasses import dataclass
from functools import partial

from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.memo import built_once
from numbad.errors import ModelError
from numbad.rules.registry import CONSTANT_CALLS
from numbad.sde.arrays_of_a_path import own_args, refuse_shared
from numbad.sde.block_source import BLOCK, block_by, compiled_around, in_lanes, in_rows
from numbad.sde.digital import warn_of_digital
from numbad.sde.grid import constant
from numbad.sde.likelihood_ratio import weighted_block
from numbad.sde.model_names import function_of
from numbad.sde.path_source import Problem, channel_count, steps_of, users_in
from numbad.sde.slopes_at_once import is_plain, pull_at, with_slopes
from numbad.sde.state_source import form_of, returned
from numbad.sde.tangent_source import MOST_PATHS, goes_beside, with_tangents
from numbad.sde.two_ways import two_ways

MEAN = "mean"
_NUMBERS = 2**16


@constant
def paths_in_block(steps, channels):
    """How many paths a block has: a multiple of 16 whose increments stay in the second cache.

    It depends on nothing else, so that sums are the same however blocks are spread over threads.
    """
    most = _NUMBERS // max(steps * channels, 1) // 16 * 16
    return max(16, min(MOST_PATHS, most))


@dataclass(frozen=True)
class Ensemble:
    """Many paths of a problem, and what is to be made of each: `reduce` is None, "mean" or a function.

    `by_score`: derivatives are those of the paths' density, not of the paths.
    """

    problem: Problem
    reduce: object
    mirrored: bool = False
    by_score: bool = False

    @property
    def content(self):
        return *self.problem.content, self.reduce, self.mirrored, self.by_score

    @property
    def users(self):
        """The users' functions in it."""
        return users_in(self.content)


def reduced_type(typingctx, reduce):
    """The type that a reducer returns for a path; ModelError where it is not numbers."""
    found = returned(typingctx, reduce, (types.Array(types.float64, 2, "C"),))
    members = found if isinstance(found, types.BaseTuple) and len(found) else [found]
    if not all(isinstance(ty, types.Float | types.Integer | types.Boolean) for ty in members):
        raise ModelError(
            "reduce(ys) takes the array (len(ts), n) of one path and returns a float or a tuple of floats; "
            f"it returns {found}"
        )
    return found


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def plan_of(ensemble, y0, args):
    """`plan(y0, times, given, steps)`: the number of channels, and of paths in a block."""
    problem = ensemble.problem
    form = form_of(cpu_target.typing_context, problem, y0, args)
    namespace = {
        "check": steps_of(problem.plain, form)["check"],
        "diffusion": problem.diffusion,
        "paths_in_block": paths_in_block,
    }
    lines = [
        *refuse_shared(problem, y0, args, namespace, "given"),
        f"args = {own_args(problem, y0, args, namespace, 'given')}",
        "check(y0, times[0], args)",
        f"channels = {channel_count(form)}",
        "return channels, paths_in_block(steps, channels)",
    ]
    plan = compiled_around(ensemble, function_of("plan(y0, times, given, steps)", lines, namespace))
    CONSTANT_CALLS.add(plan)
    return plan


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def sums_of(ensemble, y0, args):
    """`sums(y0, args, steps, channels, key, first, count)` of a block.

    Returns sums of the reduced numbers, of their squares, and `(good, first bad path or -1)`. With antithetic
    paths a number is the mean over a pair.
    """
    values = _sums(ensemble, block_by(ensemble, y0, args, in_rows))
    if ensemble.by_score:
        block = weighted_block(ensemble, y0, args, BLOCK)
        differentiated = forward = _sums(ensemble, block, " * weights[{}]", goes_back=True)
    else:
        lanes = block_by(ensemble, y0, args, in_lanes)
        differentiated = _sums(ensemble, lanes, goes_back=True)
        forward = _sums(ensemble, with_tangents(ensemble, BLOCK, lanes))
    origin = sums_of, (ensemble, y0, args)
    jumps = ensemble.reduce != MEAN and not ensemble.by_score
    warn = partial(warn_of_digital, ensemble.reduce) if jumps else None
    slopes, tys = None, (y0, args)
    if _has_one_number(ensemble.reduce) and is_plain(y0) and is_plain(args):
        recorded = _recorded(ensemble, differentiated, forward, tys)
        slopes = recorded, lambda wrt: _pulled(differentiated, tys, tuple(wrt))
    return two_ways(values, differentiated, BLOCK, origin, slopes, warn, forward)


def _has_one_number(reduce):
    if reduce is None or reduce == MEAN:
        return False
    return not isinstance(reduced_type(cpu_target.typing_context, reduce), types.BaseTuple)


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def _recorded(ensemble, sums, forward, tys):
    at_once = None if ensemble.by_score else partial(goes_beside, ensemble)
    origin = _recorded, (ensemble, sums, forward, tys)
    return with_slopes(sums, forward, BLOCK, tys, at_once, origin)


@built_once(lambda sums, *_: sums)
def _pulled(sums, tys, wrt):
    return pull_at(sums, tys, wrt, (_pulled, (sums, tys, wrt)))


def _sums(ensemble, block, weight="", goes_back=False):
    """One of its ways; `weight` is the source of a factor of a path's numbers, where there is one.

    Code that a sweep goes back through gives each path an array of its own: it would keep what is lost.
    """
    namespace = {"block": block, "reduce": ensemble.reduce}
    memory = None if goes_back else "one"
    lines = [
        f"ys{', weights' if weight else ''} = block({BLOCK})",
        f"pairs = count // 2 if {ensemble.mirrored} else count",
        f"k = {numbers_in_path(ensemble.reduce)}",
        "total, squares, number = np.zeros(k), np.zeros(k), np.zeros(k)",
        "good, bad = 0, -1",
        *([f"{memory} = np.empty(ys.shape[:2])"] if memory else []),
        "for p in range(pairs):",
        *(
            "    " + line
            for line in number_of_path(ensemble.reduce, "p", "number[{}] = {}", weight, memory)
        ),
    ]
    if ensemble.mirrored:
        lines += [
            "    " + line
            for line in number_of_path(
                *(ensemble.reduce, "p + pairs", "number[{0}] = 0.5 * (number[{0}] + {1})"),
                *(weight, memory),
            )
        ]
    lines += [
        "    finite = True",
        "    for j in range(k):",
        "        if not abs(number[j]) < np.inf:",
        "            finite = False",
        "    if finite:",
        "        good += 1",
        "        for j in range(k):",
        "            total[j] += number[j]",
        "            squares[j] += number[j] * number[j]",
        "    elif bad < 0:",
        f"        bad = {'first // 2' if ensemble.mirrored else 'first'} + p",
        "return total, squares, good, bad",
    ]
    return compiled_around(ensemble, function_of(f"sums({BLOCK})", lines, namespace))


def numbers_in_path(reduce):
    """How many numbers are made of a path; for the mean, source that tells."""
    if reduce == MEAN:
        return "ys.shape[0] * ys.shape[1]"
    found = reduced_type(cpu_target.typing_context, reduce)
    return len(found) if isinstance(found, types.BaseTuple) else 1


def number_of_path(reduce, path, put, weight, memory=None):
    """Lines that put what is made of a path, times its weight, into `number`.

    A reducer gets the path in an array of its own, or in `memory`, which then holds one after the other.
    """
    weight = weight.format(path)
    if reduce == MEAN:
        return [
            "for i in range(ys.shape[0]):",
            "    for c in range(ys.shape[1]):",
            f"        {put.format('i * ys.shape[1] + c', f'ys[i, c, {path}]{weight}')}",
        ]
    found = reduced_type(cpu_target.typing_context, reduce)
    if memory is None:
        lines = [f"value = reduce(np.ascontiguousarray(ys[:, :, {path}]))"]
    else:
        lines = [
            "for i in range(ys.shape[0]):",
            "    for c in range(ys.shape[1]):",
            f"        {memory}[i, c] = ys[i, c, {path}]",
            f"value = reduce({memory})",
        ]
    if isinstance(found, types.BaseTuple):
        return lines + [put.format(k, f"value[{k}]{weight}") for k in range(len(found))]
    return [*lines, put.format(0, f"value{weight}")]


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def chunk_of(ensemble, y0, args):
    """`chunk(y0, args, steps, channels, size, key, paths, start, stop)`: sums of blocks start..stop - 1.

    One row a block: `(totals, squares, good, bad)`.
    """
    namespace = {"sums": sums_of(ensemble, y0, args)}
    size = f"len_of(steps, {'y0.size' if isinstance(y0, types.Array) else _count(y0)})"
    k = size if ensemble.reduce == MEAN else numbers_in_path(ensemble.reduce)
    lines = [
        f"k = {k}",
        "totals, squares = np.zeros((stop - start, k)), np.zeros((stop - start, k))",
        "good, bad = np.zeros(stop - start, np.int64), np.full(stop - start, -1)",
        "for b in range(start, stop):",
        "    first = b * size",
        "    total, square, g, worst = sums(y0, args, steps, channels, key, first, min(size, paths - first))",
        "    for j in range(k):",
        "        totals[b - start, j], squares[b - start, j] = total[j], square[j]",
        "    good[b - start], bad[b - start] = g, worst",
        "return totals, squares, good, bad",
    ]
    namespace["len_of"] = _outputs
    head = "chunk(y0, args, steps, channels, size, key, paths, start, stop)"
    return compiled_around(ensemble, function_of(head, lines, namespace))


def _count(y0):
    return len(y0) if isinstance(y0, types.BaseTuple) else 1


@constant
def _outputs(steps, components):
    return steps[0].size * components
