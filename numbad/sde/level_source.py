"""One level of multilevel Monte Carlo: paths by steps of dt and 2 dt, on the same Brownian motion."""

from dataclasses import replace
from functools import partial

import numpy as np
from numba.core.registry import cpu_target

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.random import fold_in
from numbad.sde import checks
from numbad.sde.arrays_of_a_path import own_args, refuse_shared
from numbad.sde.block_source import advance_of, put_rows
from numbad.sde.brownian import block_increments
from numbad.sde.digital import warn_of_digital
from numbad.sde.ensemble_source import plan_of
from numbad.sde.grid import as_times, constant, grid
from numbad.sde.model_names import function_of
from numbad.sde.path_source import steps_of
from numbad.sde.state_source import form_of
from numbad.sde.two_ways import two_ways

_BLOCK = "y0, args, fine, coarse, dt, channels, level, key, first, count"


@constant
def merged(ws, hs, sizes, wide_starts, wide_sizes, starts):
    """(W, H) of wide steps from those of the steps that they are made of, shape (steps, channels, count)."""
    with_areas, (channels, count) = hs.shape[0] > 0, ws.shape[1:]
    wide_ws = np.zeros((wide_sizes.size, channels, count))
    wide_hs = np.zeros((wide_sizes.size if with_areas else 0, channels, count))
    k = 0
    for n in range(wide_sizes.size):
        end = wide_starts[n] + wide_sizes[n]
        while k < sizes.size and starts[k] + 0.5 * sizes[k] < end:
            for j in range(channels):
                for p in range(count):
                    if with_areas:  # the integral of W from the beginning of the wide step
                        mean = wide_ws[n, j, p] + 0.5 * ws[k, j, p] + hs[k, j, p]
                        wide_hs[n, j, p] += sizes[k] * mean
                    wide_ws[n, j, p] += ws[k, j, p]
            k += 1
        if with_areas:
            wide_hs[n] = wide_hs[n] / wide_sizes[n] - 0.5 * wide_ws[n]
    return wide_ws, wide_hs


@built_once(lambda plan, *_: plan.problem.drift)
def level_of(plan, y0, args):
    """`run(y0, ts, args, key, dt, level, first, paths)`: sums over paths `first`, `first` + 1, ...

    Of what the reducer makes of a path by steps of `dt`, less that by steps of 2 `dt` where `level` is not 0:
    their sum, the sum of their squares, how many are finite, and the first path that is not, or -1.
    """
    scheme = plan.problem.scheme
    if scheme.needs_levy:
        raise ArgumentError(
            f"nd.sde.multilevel has no Levy areas of coarse steps that go with those of fine ones, which "
            f"method {scheme.name!r} needs. Way out: method='EulerHeun', or nd.sde.ensemble"
        )
    # The keys of the levels are independent of each other.
    lines = [
        "times = as_times(ts)",
        "fine, coarse = grid(times, dt), grid(times, 2.0 * dt)",
        "channels, size = plan(y0, times, args, fine[1].size)",
        "total, squares, good, bad = 0.0, 0.0, 0, -1",
        "for b in range((paths + size - 1) // size):",
        "    start = first + b * size",
        "    count = min(size, first + paths - start)",
        "    given = fine, coarse, dt, channels, level, fold_in(key, level), start, count",
        "    s, q, g, worst = block(y0, args, *given)",
        "    total, squares, good = total + s, squares + q, good + g",
        "    if bad < 0:",
        "        bad = worst",
        "return total, squares, good, bad",
    ]
    namespace = {
        "as_times": as_times,
        "grid": grid,
        "plan": plan_of(plan, y0, args),
        "fold_in": fold_in,
        "block": _block_of(plan, y0, args),
    }
    head = "run(y0, ts, args, key, dt, level, first, paths)"
    return jit(error_model="numpy", nogil=True)(function_of(head, lines, namespace))


@built_once(lambda plan, *_: plan.problem.drift)
def _block_of(plan, y0, args):
    """The sums of a block; reverse mode evaluates it again when it comes back to it."""
    values = _block(plan, y0, args)
    warn = partial(warn_of_digital, plan.reduce)
    return two_ways(values, values, _BLOCK, (_block_of, (plan, y0, args)), None, warn)


def _block(plan, y0, args):
    problem = plan.problem
    form = form_of(cpu_target.typing_context, problem, y0, args)
    areas = problem.scheme.needs_areas
    lines = [
        "ends, cells, parts, starts, sizes = fine",
        f"ws, hs = block_increments(key, first, count, cells, parts, dt, channels, {areas}, False)",
        "ys = paths(y0, args, ends, starts, sizes, ws, hs, count)",
        "number = np.empty(count)",
        "for p in range(count):",
        "    number[p] = reduce(np.ascontiguousarray(ys[:, :, p]))",
        "if level > 0:",
        "    ends, cells, parts, wide_starts, wide_sizes = coarse",
        "    ws, hs = merged(ws, hs, sizes, wide_starts, wide_sizes, starts)",
        "    ys = paths(y0, args, ends, wide_starts, wide_sizes, ws, hs, count)",
        "    for p in range(count):",
        "        number[p] -= reduce(np.ascontiguousarray(ys[:, :, p]))",
        "total, squares, good, bad = 0.0, 0.0, 0, -1",
        "for p in range(count):",
        "    if abs(number[p]) < np.inf:",
        "        total += number[p]",
        "        squares += number[p] * number[p]",
        "        good += 1",
        "    elif bad < 0:",
        "        bad = first + p",
        "return total, squares, good, bad",
    ]
    namespace = {
        "block_increments": block_increments,
        "merged": merged,
        "paths": _paths(replace(problem, dt=None), form, (y0, args)),
        "reduce": plan.reduce,
    }
    return jit(error_model="numpy", nogil=True)(function_of(f"block({_BLOCK})", lines, namespace))


def _paths(problem, form, tys):
    """`paths(y0, args, ends, starts, sizes, ws, hs, count)`: at all outputs, (len(ts), n, count)."""
    areas, namespace = problem.scheme.needs_areas, {}
    first = refuse_shared(problem, *tys, namespace)
    mine = own_args(problem, *tys, namespace)
    if form.is_array or problem.scheme.carries or mine != "args":
        namespace["integrate"] = steps_of(problem, form)["integrate"]
        width = "y0.size" if form.is_array else form.count
        own = [f"np.ascontiguousarray({name}[:, :, p])" for name in ("ws", "hs")]
        lines = [
            *first,
            f"ys = np.empty((ends.size, {width}, count))",
            "for p in range(count):",
            f"    w = {own[0]}",
            f"    path = integrate(y0, ends, starts, sizes, {mine}, w, {own[1] if areas else 'w'})",
            "    for i in range(ends.size):",
            f"        for c in range({width}):",
            "            ys[i, c, p] = path[i, c]",
            "return ys",
        ]
    else:
        namespace = {"advance": advance_of(problem, form)}
        rows = [f"row_{c}" for c in range(form.count)]
        numbers = zip(rows, form.names("y"), strict=True)
        given = f"{', '.join(rows)}, starts[k], sizes[k], args, ws[k], {'hs' if areas else 'ws'}[k]"
        lines = [
            *checks.initial(form),
            f"ys = np.empty((ends.size, {form.count}, count))",
            *(f"{row} = np.full(count, {name})" for row, name in numbers),
            *put_rows("0", rows),
            "for i in range(1, ends.size):",
            "    for k in range(ends[i - 1], ends[i]):",
            f"        advance({given})",
            *("    " + line for line in put_rows("i", rows)),
            "return ys",
        ]
    head = "paths(y0, args, ends, starts, sizes, ws, hs, count)"
    return jit(error_model="numpy", nogil=True)(function_of(head, lines, namespace))
