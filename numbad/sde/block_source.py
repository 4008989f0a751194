"""The code of a block of paths: all of them at all outputs.

Values: all paths of a block take a step in a loop, which LLVM makes vectors of where the functions allow.
Derivatives: a block is solved from output to output by `nd.batch` of the steps between, in lanes where the
functions allow. States that are arrays, methods that carry more than the state, and functions that write to
arrays among the arguments go path by path.
"""

from dataclasses import replace
from functools import partial

from numba.core import types
from numba.core.registry import cpu_target

from numbad.batching.batch_operator import batch
from numbad.compilation.around import jit_around
from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.sde import checks
from numbad.sde.adaptive_source import call_of, path_of
from numbad.sde.aligned_memory import aligned, noise_rows
from numbad.sde.arrays_of_a_path import own_args
from numbad.sde.brownian import block_increments, draw_steps
from numbad.sde.levy_area import levy_increments
from numbad.sde.model_names import function_of
from numbad.sde.one_step import model_namespace
from numbad.sde.path_source import read, steps_of
from numbad.sde.state_source import form_of, spread
from numbad.sde.steps import StepWriter, write_step
from numbad.sde.stretch_source import core_of_any
from numbad.sde.tangent_source import with_tangents
from numbad.sde.two_ways import two_ways

BLOCK = "y0, args, steps, channels, key, first, count"
"""The parameters of a block."""


def compiled_around(model, function):
    """A function of a problem or an ensemble, compiled around the users' functions in it."""
    return jit_around(model.users, error_model="numpy", nogil=True)(function)


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def block_of(ensemble, y0, args):
    """`block(y0, args, steps, channels, key, first, count)`: paths at all outputs, (len(ts), n, count)."""
    values, lanes = (block_by(ensemble, y0, args, write) for write in (in_rows, in_lanes))
    forward = with_tangents(ensemble, BLOCK, lanes)
    return two_ways(values, lanes, BLOCK, (block_of, (ensemble, y0, args)), forward=forward)


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def block_by(ensemble, y0, args, write):
    """One of its ways, as `write` tells: `in_rows` or `in_lanes`."""
    problem = ensemble.problem
    form = form_of(cpu_target.typing_context, problem, y0, args)
    namespace = {
        "block_increments": block_increments,
        "draw_steps": draw_steps,
        "levy_increments": levy_increments,
    }
    mine = own_args(problem, y0, args, namespace)
    if problem.goes_alone:
        alone = _of_adaptive if problem.is_adaptive else _alone
        return alone(ensemble, form, (y0, args), mine, namespace)
    scheme = problem.scheme
    if form.is_array or scheme.carries or scheme.needs_levy or mine != "args":
        write = partial(_one_by_one, mine=mine)
    first = "first // 2" if ensemble.mirrored else "first"
    lines = ["ends, cells, parts, starts, sizes = steps"]
    if write is not in_rows and not problem.scheme.needs_levy:
        lines.append(
            f"dw, dh = block_increments(key, {first}, count, cells, parts, {problem.dt!r}, channels, "
            f"{problem.scheme.needs_areas}, {ensemble.mirrored})"
        )
    lines += write(ensemble, form, namespace)
    return compiled_around(ensemble, function_of(f"block({BLOCK})", lines, namespace))


def _of_adaptive(ensemble, form, tys, mine, namespace):
    """The block of paths whose steps are chosen one path by itself; NaN where one stops early."""
    mirrored = ensemble.mirrored
    namespace["path"] = path_of(ensemble.problem, *tys, True)
    call = f"y0, times, {mine}, {call_of(ensemble.problem)}"
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
    return compiled_around(ensemble, function_of(f"block({BLOCK})", lines, namespace))


def _alone(ensemble, form, tys, mine, namespace):
    """The block of paths with jumps or events, one path by itself, each at times of its own."""
    (y0, args), key = tys, types.Tuple((types.uint64, types.int64))
    times = types.Array(types.float64, 1, "C")
    namespace["path"] = core_of_any(ensemble.problem, y0, times, args, key)
    width = "y0.size" if form.is_array else form.count
    lines = [
        f"times, ys = steps[0], np.empty((steps[0].size, {width}, count))",
        "for p in range(count):",
        f"    found = path(y0, times, {mine}, (key, first + p))",
        "    for i in range(times.size):",
        "        for c in range(ys.shape[1]):",
        "            ys[i, c, p] = found[i, c]",
        "return ys",
    ]
    return compiled_around(ensemble, function_of(f"block({BLOCK})", lines, namespace))


def _one_by_one(ensemble, form, namespace, mine):
    """Lines for states that are arrays, methods that carry more than the state, functions that write."""
    problem = ensemble.problem
    namespace.update(steps_of(replace(problem, dt=None), form))
    taken = [f"mine = {mine}"]
    if mine != "args":
        taken.append("check(y0, starts[0], mine)")  # as the solver does before its steps
    width = "y0.size" if form.is_array else form.count
    areas = "a" if problem.scheme.needs_areas else "w"
    return [
        f"ys = np.empty((ends.size, {width}, count))",
        "for p in range(count):",
        *("    " + line for line in (*_drawn_alone(ensemble), *taken)),
        f"    path = integrate(y0, ends, starts, sizes, mine, w, {areas})",
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


def in_rows(ensemble, form, namespace):
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
        *put_rows("0", rows),
        "start, drawn = 0, 0",
        "for i in range(1, ends.size):",
        "    for k in range(ends[i - 1], ends[i]):",
        "        if k == drawn:",
        f"            start, drawn = k, k + draw_steps({given}, dw, dh)",
        f"        advance({', '.join(rows)}, starts[k], sizes[k], args, dw[k - start], dh[k - start])",
        *("    " + line for line in put_rows("i", rows)),
        "return ys",
    ]


def put_rows(output, rows):
    """Lines that put the numbers of paths, a row for each component, among the outputs.

    One by one: to assign a row takes Numba a second more to compile.
    """
    numbers = (f"    ys[{output}, {c}, p] = {row}[p]" for c, row in enumerate(rows))
    return ["for p in range(count):", *numbers]


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
    return compiled_around(problem, function_of(head, lines, model_namespace(problem, form)))


def in_lanes(ensemble, form, namespace):
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
        *("    " + line for line in put_rows("i", [f"found[{c}]" for c in range(form.count)])),
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
