"""The code of many paths: blocks of them in the machine's vectors, summed block by block.

Values: all paths of a block take a step in a loop, which LLVM makes vectors of where the functions allow.
Derivatives: a block is solved from output to output by `nd.batch` of the steps between, in lanes where the
functions allow. Reverse mode evaluates a block again when the sweep comes back to it, increments drawn again:
memory for one block at a time.
"""

from dataclasses import dataclass, replace
from functools import partial

from numba.core import types
from numba.core.registry import cpu_target

from numbad.batching.batch_operator import batch
from numbad.compilation.around import jit_around
from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ModelError
from numbad.rules.registry import CONSTANT_CALLS
from numbad.sde import checks
from numbad.sde.adaptive_source import call_of, path_of
from numbad.sde.aligned_memory import aligned, noise_rows
from numbad.sde.brownian import block_increments, draw_steps
from numbad.sde.digital import warn_of_digital
from numbad.sde.grid import constant
from numbad.sde.levy_area import levy_increments
from numbad.sde.likelihood_ratio import weighted_block
from numbad.sde.model_names import function_of
from numbad.sde.one_step import model_namespace
from numbad.sde.path_source import Problem, channel_count, read, steps_of, users_in
from numbad.sde.slopes_at_once import is_plain, pull_at, with_slopes
from numbad.sde.state_source import form_of, returned, spread
from numbad.sde.steps import StepWriter, write_step
from numbad.sde.stretch_source import core_of_any
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
    """`plan(y0, times, args, steps)`: the number of channels, and of paths in a block."""
    problem = ensemble.problem
    form = form_of(cpu_target.typing_context, problem, y0, args)
    lines = [
        "check(y0, times[0], args)",
        f"channels = {channel_count(form)}",
        "return channels, paths_in_block(steps, channels)",
    ]
    namespace = {
        "check": steps_of(problem.plain, form)["check"],
        "diffusion": problem.diffusion,
        "paths_in_block": paths_in_block,
    }
    plan = _compiled(ensemble, function_of("plan(y0, times, args, steps)", lines, namespace))
    CONSTANT_CALLS.add(plan)
    return plan


def _compiled(model, function):
    return jit_around(model.users, error_model="numpy", nogil=True)(function)


_BLOCK = "y0, args, steps, channels, key, first, count"


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def block_of(ensemble, y0, args):
    """`block(y0, args, steps, channels, key, first, count)`: paths at all outputs, (len(ts), n, count)."""
    values, lanes = (_block(ensemble, y0, args, write) for write in (_in_rows, _in_lanes))
    forward = with_tangents(ensemble, _BLOCK, lanes)
    return two_ways(values, lanes, _BLOCK, (block_of, (ensemble, y0, args)), forward=forward)


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def _block(ensemble, y0, args, write):
    """One of its ways, as `write` tells."""
    problem = ensemble.problem
    form = form_of(cpu_target.typing_context, problem, y0, args)
    if problem.is_adaptive:
        return _of_adaptive(ensemble, form, path_of(problem, y0, args))
    if problem.goes_alone:
        return _alone(ensemble, form, y0, args)
    alone = form.is_array or problem.scheme.carries or problem.scheme.needs_levy
    write = _one_by_one if alone else write
    first = "first // 2" if ensemble.mirrored else "first"
    namespace = {
        "block_increments": block_increments,
        "draw_steps": draw_steps,
        "levy_increments": levy_increments,
    }
    lines = ["ends, cells, parts, starts, sizes = steps"]
    if write is not _in_rows and not problem.scheme.needs_levy:
        lines.append(
            f"dw, dh = block_increments(key, {first}, count, cells, parts, {problem.dt!r}, channels, "
            f"{problem.scheme.needs_areas}, {ensemble.mirrored})"
        )
    lines += write(ensemble, form, namespace)
    return _compiled(ensemble, function_of(f"block({_BLOCK})", lines, namespace))


def _of_adaptive(ensemble, form, path):
    """The block of paths whose steps are chosen one path by itself; NaN where one stops early."""
    mirrored, call = ensemble.mirrored, f"y0, times, args, {call_of(ensemble.problem)}"
    lines = [
        "times, drawn = steps[0], count // 2",
        f"ys = np.empty((times.size, {'y0.size' if form.is_array else form.count}, count))",
        "for p in range(count):",
        f"    number, sign = {'first // 2 + p % drawn' if mirrored else 'first + p'}, 1.0",
        f"    if {mirrored} and p >= drawn:",
        "        sign = -1.0",
        f"    found = path({call})[0]",
        "    for i in range(times.size):",
        "        for c in range(ys.shape[1]):",
        "            ys[i, c, p] = found[i, c]",
        "return ys",
    ]
    return _compiled(ensemble, function_of(f"block({_BLOCK})", lines, {"path": path}))


def _alone(ensemble, form, y0, args):
    """The block of paths with jumps or events, one path by itself, each at times of its own."""
    key = types.Tuple((types.uint64, types.int64))
    path = core_of_any(ensemble.problem, y0, types.Array(types.float64, 1, "C"), args, key)
    width = "y0.size" if form.is_array else form.count
    lines = [
        f"times, ys = steps[0], np.empty((steps[0].size, {width}, count))",
        "for p in range(count):",
        "    found = path(y0, times, args, (key, first + p))",
        "    for i in range(times.size):",
        "        for c in range(ys.shape[1]):",
        "            ys[i, c, p] = found[i, c]",
        "return ys",
    ]
    return _compiled(ensemble, function_of(f"block({_BLOCK})", lines, {"path": path}))


def _one_by_one(ensemble, form, namespace):
    """Lines for states that are arrays, and for methods that carry more than the state."""
    problem = ensemble.problem
    namespace["integrate"] = steps_of(replace(problem, dt=None), form)["integrate"]
    width = "y0.size" if form.is_array else form.count
    areas = "a" if problem.scheme.needs_areas else "w"
    return [
        f"ys = np.empty((ends.size, {width}, count))",
        "for p in range(count):",
        *("    " + line for line in _drawn_alone(ensemble)),
        f"    path = integrate(y0, ends, starts, sizes, args, w, {areas})",
        "    for i in range(ends.size):",
        f"        for c in range({width}):",
        "            ys[i, c, p] = path[i, c]",
        "return ys",
    ]


def _drawn_alone(ensemble):
    """Lines that give the noise of path p; where paths are mirrored, W changes its sign, areas A do not."""
    scheme = ensemble.problem.scheme
    if not scheme.needs_levy:
        areas = ["a = np.ascontiguousarray(dh[:, :, p])"] if scheme.needs_areas else []
        return ["w = np.ascontiguousarray(dw[:, :, p])", *areas]
    first, drawn = ("first // 2", "count // 2") if ensemble.mirrored else ("first", "count")
    given = f"key, {first} + p % {drawn}, cells, parts, {ensemble.problem.dt!r}, channels"
    lines = [f"w, a = levy_increments({given})"]
    return [*lines, f"w = w if p < {drawn} else -w"] if ensemble.mirrored else lines


def _in_rows(ensemble, form, namespace):
    """Lines for states that are tuples: step by step, a row of memory for each component."""
    problem = ensemble.problem
    namespace["advance"] = advance_of(replace(problem, dt=None), form)
    rows = [f"row_{c}" for c in range(form.count)]
    areas = problem.scheme.needs_areas
    numbers = zip(rows, form.names("y"), strict=True)
    first = "first // 2" if ensemble.mirrored else "first"
    namespace["aligned"] = aligned
    given = f"key, {first}, count, k, cells, parts, {problem.dt!r}, {areas}, {ensemble.mirrored}"
    return [
        *checks.initial(form),
        f"ys = np.empty((ends.size, {form.count}, count))",
        *noise_rows(areas),
        *(f"{row} = aligned(count)" for row in rows),
        *(f"{row}[:] = {name}" for row, name in numbers),
        *(f"ys[0, {c}, :] = {row}" for c, row in enumerate(rows)),
        "start, drawn = 0, 0",
        "for i in range(1, ends.size):",
        "    for k in range(ends[i - 1], ends[i]):",
        "        if k == drawn:",
        f"            start, drawn = k, k + draw_steps({given}, dw, dh)",
        f"        advance({', '.join(rows)}, starts[k], sizes[k], args, dw[k - start], dh[k - start])",
        *(f"    ys[i, {c}, :] = {row}" for c, row in enumerate(rows)),
        "return ys",
    ]


def advance_of(problem, form):
    """One step of all paths of a block."""
    writer = StepWriter(form, problem.scheme, problem.calculus)
    rows = [f"row_{c}" for c in range(form.count)]
    names = form.names("y")
    lines = [
        *(f"{name}s = w[{j}]" for j, name in enumerate(writer.w)),
        *(f"{name}s = a[{j}]" for j, name in enumerate(writer.areas)),
        f"for p in range({rows[0]}.size):",
        *(f"    {name} = {row}[p]" for name, row in zip(names, rows, strict=True)),
        *(f"    {name} = {name}s[p]" for name in (*writer.w, *writer.areas)),
        *("    " + line for line in write_step(problem.scheme, writer)),
        *(f"    {row}[p] = {name}" for name, row in zip(names, rows, strict=True)),
    ]
    head = f"advance({', '.join(rows)}, t, h, args, w, a)"
    return _compiled(problem, function_of(head, lines, model_namespace(problem, form)))


def _in_lanes(ensemble, form, namespace):
    """Lines for the same: from output to output, paths in lanes."""
    problem = ensemble.problem
    areas = problem.scheme.needs_areas
    namespace["segments"] = _segments(replace(problem, dt=None), form)
    states = ", ".join(f"ys[i - 1, {c}]" for c in range(form.count))
    part = "ends[i - 1] : ends[i]"
    more = f", dh[{part}]" if areas else ""
    given = f"{states}{_leaves(form)}, starts[{part}], sizes[{part}], dw[{part}]{more}"
    names = checks.initial(form)
    return [
        *names,
        f"ys = np.empty((ends.size, {form.count}, count))",
        *(f"ys[0, {c}, :] = {name}" for c, name in enumerate(form.names("y"))),
        "for i in range(1, ends.size):",
        f"    found = segments({given})",
        *(f"    ys[i, {c}, :] = found[{c}]" for c in range(form.count)),
        "return ys",
    ]


def _leaves(form):
    """Source of the further arguments one by one, each behind a comma."""
    if form.arguments() == ", args":
        return ", args"
    return "".join(f", args[{k}]" for k in range(len(spread(form.args))))


def _segments(problem, form):
    """The steps from an output to the next, for paths in lanes."""
    writer = StepWriter(form, problem.scheme, problem.calculus)
    count, areas = len(spread(form.args)), problem.scheme.needs_areas
    whole = form.arguments() == ", args"
    names = ["args"] if whole else [f"arg_{k}" for k in range(count)]
    parameters = [*form.names("y"), *names, "starts", "sizes", "dw", *(["dh"] if areas else [])]
    lines = [] if whole else [f"args = ({''.join(name + ', ' for name in names)})"]
    lines += [
        "for k in range(starts.size):",
        "    t, h = starts[k], sizes[k]",
        *("    " + line for line in read("dw", form, writer.w)),
        *("    " + line for line in (read("dh", form, writer.areas) if areas else ())),
        *("    " + line for line in write_step(problem.scheme, writer)),
        f"return ({''.join(name + ', ' for name in form.names('y'))})",
    ]
    path = function_of(f"segment({', '.join(parameters)})", lines, model_namespace(problem, form))
    axes = (0,) * form.count + (None,) * (len(names) + 2) + (2,) * (1 + areas)
    return batch(jit(error_model="numpy")(path), in_axes=axes)


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def sums_of(ensemble, y0, args):
    """`sums(y0, args, steps, channels, key, first, count)` of a block.

    Returns sums of the reduced numbers, of their squares, and `(good, first bad path or -1)`. With antithetic
    paths a number is the mean over a pair.
    """
    values = _sums(ensemble, _block(ensemble, y0, args, _in_rows))
    if ensemble.by_score:
        block = weighted_block(ensemble, y0, args, _BLOCK)
        differentiated = forward = _sums(ensemble, block, " * weights[{}]", goes_back=True)
    else:
        lanes = _block(ensemble, y0, args, _in_lanes)
        differentiated = _sums(ensemble, lanes, goes_back=True)
        forward = _sums(ensemble, with_tangents(ensemble, _BLOCK, lanes))
    origin = sums_of, (ensemble, y0, args)
    jumps = ensemble.reduce != MEAN and not ensemble.by_score
    warn = partial(warn_of_digital, ensemble.reduce) if jumps else None
    slopes, tys = None, (y0, args)
    if _has_one_number(ensemble.reduce) and is_plain(y0) and is_plain(args):
        recorded = _recorded(ensemble, differentiated, forward, tys)
        slopes = recorded, lambda wrt: _pulled(differentiated, tys, tuple(wrt))
    return two_ways(values, differentiated, _BLOCK, origin, slopes, warn, forward)


def _has_one_number(reduce):
    if reduce is None or reduce == MEAN:
        return False
    return not isinstance(reduced_type(cpu_target.typing_context, reduce), types.BaseTuple)


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def _recorded(ensemble, sums, forward, tys):
    at_once = None if ensemble.by_score else partial(goes_beside, ensemble)
    origin = _recorded, (ensemble, sums, forward, tys)
    return with_slopes(sums, forward, _BLOCK, tys, at_once, origin)


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
        f"ys{', weights' if weight else ''} = block({_BLOCK})",
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
    return _compiled(ensemble, function_of(f"sums({_BLOCK})", lines, namespace))


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
        "    totals[b - start], squares[b - start] = total, square",
        "    good[b - start], bad[b - start] = g, worst",
        "return totals, squares, good, bad",
    ]
    namespace["len_of"] = _outputs
    head = "chunk(y0, args, steps, channels, size, key, paths, start, stop)"
    return _compiled(ensemble, function_of(head, lines, namespace))


def _count(y0):
    return len(y0) if isinstance(y0, types.BaseTuple) else 1


@constant
def _outputs(steps, components):
    return steps[0].size * components
