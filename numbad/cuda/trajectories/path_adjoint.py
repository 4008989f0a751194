"""The discrete adjoint of one path of an SDE in one thread: a path that records its states, and the way back.

What each step starts from goes into the workspace. What its noise was does not: the way back draws it from
the counter again, the same bits, and two steps of whole cells share a block of the generator in either
direction. The vector-Jacobian product of a step is that of the function that the solver's steps are.
"""

from dataclasses import dataclass
from typing import Any

from numbad.compilation.memo import built_once
from numbad.cuda.kernels import Kernel
from numbad.cuda.trajectories.adjoint_kernels import (
    BACK,
    BACK_RAISED,
    RECORDED,
    slot_function,
    state_numbers,
)
from numbad.cuda.trajectories.given import float_sources
from numbad.cuda.trajectories.kernel_source import RAISED
from numbad.cuda.trajectories.outputs import make_put, take
from numbad.cuda.trajectories.sde_march import (
    GRID,
    PathLines,
    among_duals,
    form_on_gpu,
    path_namespace,
)
from numbad.cuda.trajectories.seeds import VALUES, Seeds
from numbad.cuda.trajectories.stage_pull import device_pull
from numbad.forward.access import partial, unit
from numbad.sde.one_step import STEP_ARGS, STEP_STATE, step_of
from numbad.sde.path_source import Problem
from numbad.sde.steps import write_step


@dataclass(frozen=True)
class PathAdjointProblem:
    """What the kernels are made for; `whole`: whether all steps are whole cells of the grid."""

    problem: Problem
    y0: Any
    args: Any
    keys: Any
    whole: bool
    precision: str

    @property
    def drift(self):
        return self.problem.drift

    @property
    def form(self):
        return form_on_gpu(self.problem, self.y0.type, self.args.type)

    def kernel(self, name, more, body, names, signed_zeros=True):
        """The kernel `name(*leaves, *grid, *more)` of these lines, for threads of slots."""
        leaves = (*self.y0.leaves(), *self.args.leaves(), *self.keys.leaves())
        given = self.problem, self.form, self.y0, self.args, self.precision
        names = path_namespace(*given) | names
        parameters = GRID | more
        made = slot_function(name, leaves, parameters, body, names, parameters.values())
        return Kernel(*made, self.precision, signed_zeros)


@built_once(lambda made: made.drift)
def recording_path_kernel(made):
    """`(*leaves, *grid, numbers, counts, status, stopped, ys, states, steps, missed)`: the way there.

    All paths take as many steps, for which there is room: nothing is written into `steps` and `missed`.
    """
    path = _RecordedPath(made.problem, made.form, made.whole)
    body = [
        f"status[i] = {RAISED}",
        "tables = (ys,)",
        *path.lines(made.y0, made.args, made.keys),
        "if code != 0:",
        "    stopped[i] = stopped_at",
        "status[i] = code",
    ]
    return made.kernel("recorded", RECORDED, body, {"put": make_put(0, True)})


class _RecordedPath(PathLines):
    """The path of a slot, which keeps what each step starts from."""

    column = "slot"

    def at_step(self):
        return [f"put((states,), {self.number}, slot, {self.state()})"]


@built_once(lambda made, by: made.drift)
def back_path_kernel(made, by):
    """`(*leaves, *grid, numbers, counts, status, seeds, states, steps, slopes)`: gradients by `by`."""
    by_args = {number: at for number, at in float_sources(made.args) if number in by}
    step = step_of(made.problem, made.form, False)
    takes_slopes = "diffusion_jvp" in step.py_func.__code__.co_names
    path = (_BackByForwardMode if takes_slopes else _BackByReverseMode)(made, by_args)
    totals = {number: f"total_{k}" for k, number in enumerate(by_args)}
    found = dict(zip(state_numbers(made.y0), path.cotangents, strict=True)) | totals
    body = [
        "if status[i] == 0:",
        f"    status[i] = {BACK_RAISED}",
        *("    " + line for line in path.back()),
        *(f"    slopes[0, 0, {q}, i] = {found[number]}" for q, number in enumerate(by)),
        "    status[i] = 0",
    ]
    return made.kernel("adjoint", BACK, body, path.names(step) | {"take": take}, False)


class _PathBack(PathLines):
    """The lines of the way back along a path.

    `l_0`, ... are the cotangents of the state; `total_0`, ... those of the numbers `by_args` of the further
    arguments, each with its source there. `y` is what a step starts from. How cotangents go from the end of a
    step to its start, a subclass says: `pulled()`, with the `names(step)` of its lines.
    """

    def __init__(self, made, by_args):
        super().__init__(made.problem, made.form, made.whole)
        self.made, self.by_args, self.cotangents = made, by_args, self.form.names("l")

    seeds = VALUES  # what is read of the further arguments

    def back(self):
        """All of them."""
        return [
            *self.given(self.made.args, self.made.keys, self.seeds),
            *(f"{name} = 0.0" for name in self.cotangents),
            *(f"total_{k} = 0.0" for k in range(len(self.by_args))),
            *self.before_steps(),
            *(["cell = begin + ends[ends.size - 1]"] if self.whole else []),
            "for output in range(ends.size - 1, 0, -1):",
            *("    " + line for line in self._seeded("output")),
            *("    " + line for line in self._steps_back()),
            *self._seeded("0"),
        ]

    def _seeded(self, row):
        """Lines that add the cotangents of an output."""
        lines = [f"seed = take(seeds, {row}, slot, {self.state(self.cotangents)})"]
        return lines + [f"{name} += seed[{c}]" for c, name in enumerate(self.cotangents)]

    def _steps_back(self):
        """The lines of the steps that lead to an output, the last one first."""
        before = f"y = take(states, {self.number}, slot, {self.state(self.cotangents)})"
        step = [*self.read_step(), before, *self.pulled()]
        if not self.whole:
            loop = ["for k in range(ends[output] - 1, ends[output - 1] - 1, -1):"]
            return loop + ["    " + line for line in step]
        loop = ["stop = begin + ends[output - 1]", "while cell != stop:"]
        return loop + ["    " + line for line in ("cell -= 1", *step)]


class _BackByReverseMode(_PathBack):
    """By the pullback of the function that a step is."""

    def names(self, step):
        state = range(STEP_STATE, STEP_STATE + self.form.components)
        wrt = (STEP_ARGS, *state) if self.by_args else tuple(state)
        return {"pull": device_pull(step, wrt, self.problem.drift.py_func)}

    def pulled(self):
        areas = self.writer.areas
        if not self.problem.scheme.needs_areas:
            areas = ["0.0"] * len(areas)
        state = [f"y[{c}]" for c in range(self.form.components)]
        given = ["t", "h", "args", *state, *self.writer.w, *areas]
        nothing, seed = "None, " * len(given), self.state(self.cotangents)
        return [
            f"_, by = pull(({', '.join(given)}), ({nothing}), {seed})",
            *(f"{name} = by[{STEP_STATE + c}]" for c, name in enumerate(self.cotangents)),
            *(f"total_{k} += by[{STEP_ARGS}]{at}" for k, at in enumerate(self.by_args.values())),
        ]


class _BackByForwardMode(_PathBack):
    """By the partials of a step: of one that takes the slope of the diffusion, by forward mode.

    Reverse mode on a GPU does not differentiate what forward mode has made.
    """

    @property
    def seeds(self):
        return Seeds((*state_numbers(self.made.y0), *self.by_args))

    def names(self, step):
        return among_duals(self.problem) | {"unit": unit, "partial": partial}

    def pulled(self):
        names, count = self.writer.y, len(self.seeds.numbers)
        moving = [f"{name} = unit(y[{c}], {c}, {count}, 0)" for c, name in enumerate(names)]
        sums = [
            " + ".join(
                f"{lam} * partial({name}, {k})"
                for lam, name in zip(self.cotangents, names, strict=True)
            )
            for k in range(count)
        ]
        state, rest = sums[: len(names)], sums[len(names) :]
        return [
            *moving,
            *write_step(self.problem.scheme, self.writer),
            *(f"total_{k} += {more}" for k, more in enumerate(rest)),
            f"{self.state(self.cotangents)} = {self.state(state)}",
        ]
