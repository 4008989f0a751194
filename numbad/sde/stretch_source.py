"""The code of one path in stretches: increments are drawn on the way, in memory that does not grow.

The numbers are those of `path_source`, bit for bit. Reverse mode keeps the state at the beginning of each
stretch alone, and evaluates a stretch again when it comes back to it.
"""

from dataclasses import replace

import numpy as np
from numba.core.registry import cpu_target

from numbad.compilation.around import jit_around
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.random.generator_compiling import HOW_TO_MAKE_A_KEY
from numbad.reverse.checkpoint import checkpoint
from numbad.sde import checks
from numbad.sde.brownian import increments
from numbad.sde.events_at_jumps import landing_lines, names_at_jumps
from numbad.sde.events_of_paths import event_lines, names_of_events
from numbad.sde.grid import as_times, constant, count_steps, place
from numbad.sde.jumps_of_paths import jump_lines, names_of_jumps
from numbad.sde.levy_area import levy_increments, pair_count
from numbad.sde.model_names import function_of
from numbad.sde.one_step import model_namespace, step_of
from numbad.sde.path_source import (
    PathError,
    as_rows_1,
    as_rows_2,
    channel_count,
    check_path,
    drawing,
    given_increments,
    number_and_path,
    read,
    started,
    steps_of,
)
from numbad.sde.state_source import form_of, spread
from numbad.sde.steps import StepWriter, write_step
from numbad.sde.steps.reversible import carried_names

_WHERE = "since, until, before, first, last, channels"
LENGTH = 256
"""Steps in a stretch where `checkpoints` leaves it open: what belongs to them stays in the first cache."""


@constant
def steps_between(since, until, first, last, dt):
    """`(cells, parts, starts, sizes)` as of `grid`, of steps `first` to `last` - 1 between two times."""
    start, part = place(since, dt)
    final, end = place(until, dt)
    count = last - first
    cells, parts = np.empty(count, np.int64), np.empty((count, 2))
    starts, sizes = np.empty(count), np.empty(count)
    for k in range(count):
        cell = start + first + k
        begin = part if first + k == 0 else 0.0
        stop = end if cell == final else 1.0
        cells[k], parts[k, 0], parts[k, 1] = cell, begin, stop
        starts[k] = (cell + begin) * dt
        sizes[k] = dt if begin == 0.0 and stop == 1.0 else (stop - begin) * dt
    return cells, parts, starts, sizes


FINITE = [
    "for i in range(outputs.size):",
    "    for c in range(ys.shape[1]):",
    "        if not abs(ys[i, c]) < np.inf:",
    "            raise PathError(outputs[max(i - 1, 0)], outputs[i])",
]


def _unless_over(lines):
    return ["if over == 0.0:", *("    " + line for line in lines)]


class Stretches:
    """The source of a path in stretches, for a problem and the types of its arguments."""

    def __init__(self, problem, y0, args, key):
        self.problem, self.key, self.more_names = problem, key, {}
        self.form = form_of(cpu_target.typing_context, problem, y0, args)
        self.writer = StepWriter(self.form, problem.scheme, problem.calculus)
        self.is_drawn = number_and_path(key) is not None
        if problem.jumps is not None and not self.is_drawn:
            raise ArgumentError(f"jumps are functions of a key, not of {key}; {HOW_TO_MAKE_A_KEY}")

    @property
    def carried(self):
        """Names of all that a step hands to the next: the state, and what the method carries beside it."""
        names = list(self.writer.y)
        if self.problem.scheme.carries:
            names += [name for group in carried_names(self.writer) for name in group]
        return [*names, *self.of_events]

    @property
    def of_events(self):
        """Names of what events ask for beside the state, and their values at the beginning."""
        if not self.problem.events:
            return {}
        return {"over": "0.0"} if self.problem.jumps is None else {"over": "0.0", "returned": "0"}

    @property
    def calls_step(self):
        """Whether steps are calls of `step_of`, which takes areas in any case."""
        return bool(self.problem.events)

    @property
    def shared(self):
        """What the code of a step depends on."""
        return replace(
            self.problem, dt=None, adjoint="auto", checkpoints=None, jumps=None, events=()
        )

    @property
    def compiled(self):
        """What compiles a function around those of the problem."""
        return jit_around(self.problem.users, error_model="numpy", nogil=True)

    def namespace(self):
        """The names that the lines use."""
        shared = self.shared
        more = {} if self.problem.jumps is None else names_of_jumps(self.problem.jumps)
        if self.problem.events:
            by_events = replace(shared, events=self.problem.events)
            at_jumps = names_at_jumps(by_events, self.form) if more else {}
            more = {
                **more,
                **at_jumps,
                **names_of_events(by_events, self.form),
                "step": step_of(shared, self.form, False),
            }
        return {
            "as_times": as_times,
            "count_steps": count_steps,
            "steps_between": steps_between,
            "increments": increments,
            "levy_increments": levy_increments,
            "pair_count": pair_count,
            "PathError": PathError,
            "as_rows_1": as_rows_1,
            "as_rows_2": as_rows_2,
            "check_path": check_path,
            **model_namespace(self.problem, self.form),
            **more,
            "check": steps_of(shared, self.form)["check"],
        }

    def beginning(self):
        """Lines before the first step: output times, and what the increments are made of."""
        channels = channel_count(self.form, "outputs[0]")
        lines = [
            "outputs = as_times(ts)",
            f"ends = count_steps(outputs, {self.problem.dt!r})",
            f"channels = {channels}",
            f"length = {self._length()}",
        ]
        if self.is_drawn:
            number, path = number_and_path(self.key)
            return [*lines, f"number, path = {number}, {path}"]
        taken = given_increments(self.problem.scheme, "channels", self.key, "ends[-1]")
        return [*lines, *taken, "all_w, all_h = dw, dh"]

    def _length(self):
        if self.problem.checkpoints is None:
            return LENGTH
        return f"max(1, -(-ends[-1] // {self.problem.checkpoints}))"

    @property
    def noise(self):
        """What the increments of a stretch are made of."""
        return "number, path" if self.is_drawn else "all_w, all_h"

    def drawing(self, between="outputs[i - 1], outputs[i]"):
        """Lines that give the steps `first` to `last` - 1 between two times, and their increments."""
        dt = self.problem.dt
        lines = [f"cells, parts, starts, sizes = steps_between({between}, first, last, {dt!r})"]
        if self.is_drawn:
            return [*lines, drawing(self.problem, "number", "path", "channels")]
        rows = "before + first : before + last"
        return [*lines, f"dw, dh = all_w[{rows}], all_h[{rows}]"]

    def reading(self):
        """Lines that read the noise of step k."""
        areas = read("dh", self.form, self.writer.areas)
        more = areas if self.problem.scheme.needs_areas else []
        if self.calls_step and not more:
            names = zip(self.writer.areas, self.writer.w, strict=True)
            more = [f"{area} = 0.0 * {w}" for area, w in names]
        return [*read("dw", self.form, self.writer.w), *more]

    def stretch(self):
        """The compiled `stretch(...)`, which reverse mode evaluates again."""
        carried, names = ", ".join(self.carried), self._argument_names()
        packed = f"args = ({''.join(name + ', ' for name in names)})"
        lines = [
            *([] if names == ["args"] else [packed]),
            *self.drawing("since, until"),
            "for k in range(starts.size):",
            "    t, h = starts[k], sizes[k]",
            *self._end_of_step(),
            *("    " + line for line in self.reading()),
            *("    " + line for line in self._step()),
            f"return {carried}",
        ]
        head = f"stretch({', '.join([*self.carried, *names])}, {_WHERE}, {self.noise})"
        function = function_of(head, lines, self.namespace())
        return checkpoint(self.compiled(function))

    def _end_of_step(self):
        """The line that gives when the next step begins, which `t + h` may miss by rounding."""
        if not self.problem.events:
            return []
        return [f"    end = (cells[k] + parts[k, 1]) * {self.problem.dt!r}"]

    def _step(self):
        """Lines of a step, with the events within it and the jumps at its end."""
        problem, form, writer = self.problem, self.form, self.writer
        jumps, y = problem.jumps, writer.y
        if not problem.events:
            lines = write_step(problem.scheme, writer)
            return lines if jumps is None else [*lines, *jump_lines(jumps, form, y, problem.dt)]
        lines = _unless_over(event_lines(problem, form, y, writer.w, writer.areas))
        if jumps is None:
            return lines
        at_end = jump_lines(jumps, form, y, problem.dt, landing_lines(form, y))
        return [*lines, *_unless_over(at_end)]

    def path(self):
        """Lines that solve from output to output."""
        form, carried = self.form, ", ".join(self.carried)
        where = (
            "outputs[i - 1], outputs[i], ends[i - 1], first, min(first + length, count), channels"
        )
        given = f"{carried}{form.arguments()}, {where}"
        return [
            *self.beginning(),
            "check(y0, outputs[0], args)",
            *checks.initial(form),
            *started(self.problem, form, "outputs"),
            *(f"{name} = {value}" for name, value in self.of_events.items()),
            f"ys = np.empty((outputs.size, {self.width}))",
            *self._put("0"),
            "for i in range(1, outputs.size):",
            "    count = ends[i] - ends[i - 1]",
            "    for first in range(0, count, length):",
            f"        {carried} = stretch({given}, {self.noise})",
            *("    " + line for line in self._put("i")),
        ]

    def _argument_names(self):
        """Names of the further arguments, one by one: what is differentiated is told of each."""
        whole = self.form.arguments() == ", args"
        return ["args"] if whole else [f"arg_{k}" for k in range(len(spread(self.form.args)))]

    @property
    def width(self):
        """Source of the number of components."""
        return "y_0.size" if self.form.is_array else self.form.count

    def _put(self, index):
        if self.form.is_array:
            return ["for c in range(y_0.size):", f"    ys[{index}, c] = y_0[c]"]
        return [f"ys[{index}, {c}] = {name}" for c, name in enumerate(self.writer.y)]


@built_once(lambda problem, *_: problem.drift)
def core(problem, y0, ts, args, key):
    """The function `solve(y0, ts, args, key)` for types, as ordinary compiled code."""
    return _compiled(Stretches(problem, y0, args, key), *FINITE, "return ys")


@built_once(lambda problem, *_: problem.drift)
def core_of_any(problem, y0, ts, args, key):
    """The same, which returns paths that end in NaN or infinity as they are."""
    return _compiled(Stretches(problem, y0, args, key), "return ys")


@built_once(lambda problem, *_: problem.drift)
def core_with_end(problem, y0, ts, args, key):
    """The same, which returns what the last step leaves as well: a tuple of it and no number at all."""
    source = Stretches(problem, y0, args, key)
    return _compiled(source, *FINITE, f"return ys, ({', '.join(source.carried)},)")


def _compiled(source, *last):
    namespace = {**source.namespace(), "stretch": source.stretch()}
    function = function_of("solve(y0, ts, args, key)", [*source.path(), *last], namespace)
    return source.compiled(function)
