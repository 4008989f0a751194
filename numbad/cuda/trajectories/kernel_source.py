"""The kernel of an ensemble: reads what a trajectory is given, lets it march, notes how it ended."""

import math

from numba import cuda
from numba.core import types

from numbad.cuda.trajectories.outputs import make_put
from numbad.forward.access import unit
from numbad.source import define

# The status of a thread that ends before its trajectory does: what `fun` raises ends it.
RAISED = 127

_OUTPUTS = types.int32[::1], types.float64[::1], types.Array(types.float64, 3, "C")
_SLOPES = types.Array(types.float64, 4, "C")


def kernel_function(leaves, more, body, namespace, seeds):
    """The kernel `(*leaves, *more, status, stopped, ys[, slopes])`, a Python function.

    `body` are the lines that set `code`, a status, `stopped_at`, a number that says where, and `row`, the
    first row of `tables`, ys or (ys, slopes), that was not reached.
    """
    tables = ["ys", "slopes"] if seeds.numbers else ["ys"]
    parameters = [*(f"leaf{leaf.number}" for leaf in leaves), *more, "status", "stopped", *tables]
    lines = [
        "before = 0" if seeds.is_first else "before = status[i]",
        f"status[i] = {RAISED}",
        f"tables = ({', '.join(tables)},)",
        *body,
        *_without_values(seeds),
        "if code != 0 and before == 0:",
        "    stopped[i] = stopped_at",
        "status[i] = code if before == 0 else before",
    ]
    source = "\n".join(
        [
            f"def trajectories({', '.join(parameters)}):",
            "    i = grid(1)",
            "    if i < status.size:",
            *("        " + line for line in lines),
        ]
    )
    names = {"grid": cuda.grid, "nan": math.nan, "unit": unit}
    return define(source, {**names, "put": make_put(seeds.first, seeds.is_first), **namespace})


def _without_values(seeds):
    """Lines that make NaN of the rows that were not reached."""
    lines = ["for r in range(row, ys.shape[0]):", "    for c in range(ys.shape[1]):"]
    if seeds.is_first:
        lines.append("        ys[r, c, i] = nan")
    if seeds.numbers:
        columns = range(seeds.first, seeds.first + len(seeds.numbers))
        lines += [f"        slopes[r, c, {k}, i] = nan" for k in columns]
    return lines


def argument_types(leaves, more, seeds):
    """The types of the kernel's arguments; `more` are those of what `more` names."""
    slopes = [_SLOPES] if seeds.numbers else []
    return (*(leaf.argument_type for leaf in leaves), *more, *_OUTPUTS, *slopes)


def survey(status, ys, slopes, found):
    """Count the trajectories that failed, find the first, and make NaN of those whose thread ended."""
    i = cuda.grid(1)
    if i < status.size and status[i] != 0:
        cuda.atomic.add(found, 0, 1)
        cuda.atomic.min(found, 1, i)
        if status[i] == RAISED:
            for r in range(ys.shape[0]):
                for c in range(ys.shape[1]):
                    ys[r, c, i] = math.nan
                    for k in range(slopes.shape[2]):
                        slopes[r, c, k, i] = math.nan
