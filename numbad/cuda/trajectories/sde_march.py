"""One path of an SDE in one thread: the steps that `nd.sde.solver` writes, the noise drawn as they go."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.memo import built_once
from numbad.cuda.kernels import SINGLE, Kernel
from numbad.cuda.trajectories.given import LeafArray, named_classes
from numbad.cuda.trajectories.kernel_source import argument_types, kernel_function
from numbad.cuda.trajectories.single_normals import two_cells_single
from numbad.errors import ArgumentError, UnsupportedError
from numbad.forward.access import primal, promote_like
from numbad.forward.dualize import replacement
from numbad.random.generator_compiling import HOW_TO_MAKE_A_KEY
from numbad.sde import checks
from numbad.sde.brownian import AREAS, INCREMENTS, two_cells, within_cell
from numbad.sde.grid import as_times, grid
from numbad.sde.one_step import model_namespace
from numbad.sde.path_source import PathError, Problem, steps_of
from numbad.sde.state_source import form_of
from numbad.sde.steps import StepWriter, write_step

NOT_FINITE = 1
_GRID = {
    "ends": types.int64[::1],
    "cells": types.int64[::1],
    "parts": types.Array(types.float64, 2, "C"),
    "starts": types.float64[::1],
    "sizes": types.float64[::1],
    "first_path": types.int64[::1],
}
_CPU = "On the CPU nd.sde.ensemble takes it"


@dataclass(frozen=True)
class SdePlan:
    """What `nd.sde.solver` was asked for."""

    problem: Problem

    @classmethod
    def of(cls, _, given):
        """From a solver's origin; ArgumentError for what has no code for a GPU."""
        problem = given[0]
        unwanted = {
            "adaptive steps (rtol, atol)": problem.is_adaptive,
            "jumps": problem.jumps is not None,
            "events": bool(problem.events),
            "dense_output=True": problem.dense,
            f"Levy areas, which method {problem.scheme.name!r} takes": problem.scheme.needs_levy,
        }
        for what, is_there in unwanted.items():
            if is_there:
                raise ArgumentError(
                    f"nd.cuda.ensemble has no code for {what}. Ways out: a solver without, by steps of dt; a "
                    "loop over solve(y0, ts, args, (key, path)) on the CPU"
                )
        return cls(problem)

    def times(self, ts, precision):
        """The output times; DataError where they do not increase."""
        return as_times(np.asarray(ts, float))

    def check(self, y0, ts, args, first):
        """Raise where a problem is not as it says, at the start of the first path."""
        form = _form(self.problem, y0.type, args.type)
        steps_of(replace(self.problem, dt=None), form)["check"](first(y0), ts[0], first(args))

    def states(self, times, width):
        """How many states are alive at once, about."""
        return 4 + 2 * len(getattr(self.problem.scheme, "alpha", ()))

    def kernel(self, y0, args, keys, times, precision, seeds):
        """The kernel for structures of what a path is given."""
        if self.problem.scheme.is_implicit:
            name = self.problem.scheme.name
            raise UnsupportedError(
                f"method {name!r} solves equations, for which nd.cuda.ensemble has no code. {_CPU}"
            )
        _check_keys(keys)
        *_, parts, _, _ = grid(times, self.problem.dt)
        whole = bool((parts == (0.0, 1.0)).all())
        return sde_kernel(self.problem, y0, args, keys, whole, precision, seeds)

    def arguments(self, times, first):
        """What the kernel takes besides leaves and results: the steps, the number of the first path."""
        return [*grid(times, self.problem.dt), np.array([first])]

    def told(self, code, stopped_at, times):
        """Why a path failed."""
        row = int(stopped_at)
        return str(PathError(float(times[row - 1]), float(times[row])))


def _check_keys(keys):
    if not (isinstance(keys, LeafArray) and keys.kind == "u" and keys.width is None):
        raise ArgumentError(
            "nd.cuda.ensemble of an SDE takes keys: one, of which trajectory i is path number i, or an array "
            f"with one for each; {HOW_TO_MAKE_A_KEY}"
        )


@built_once(lambda problem, *_: problem.drift)
def _form(problem, y0, args):
    return form_of(cpu_target.typing_context, problem, _as_floats(y0), args)


def _as_floats(y0):
    """The type of a state, in floats."""
    if isinstance(y0, types.BaseNamedTuple):
        return types.NamedUniTuple(types.float64, len(y0), y0.instance_class)
    return (
        types.UniTuple(types.float64, len(y0)) if isinstance(y0, types.BaseTuple) else types.float64
    )


@built_once(lambda problem, *_: problem.drift)
def sde_kernel(problem, y0, args, keys, whole, precision, seeds):
    """The `Kernel` for a problem and structures; `whole`: whether all steps are whole cells of the grid."""
    form = _form(problem, y0.type, args.type)
    body = _Path(problem, form, whole).lines(y0, args, keys, seeds)
    draw = two_cells_single if precision == SINGLE else two_cells
    namespace = {
        **model_namespace(problem, form),
        **(_among_duals(problem) if seeds.numbers else {}),
        **named_classes(y0, args),
        "primal": primal,
        "promote_like": promote_like,
        "two_cells": draw,
        "within_cell": within_cell,
        "INCREMENTS": INCREMENTS,
        "AREAS": AREAS,
    }
    if not whole and precision == SINGLE:
        raise UnsupportedError(
            "in float32 every output time lies at the end of a step: ts must be multiples of dt. Way out: "
            "precision='float64', or another dt"
        )
    leaves = (*y0.leaves(), *args.leaves(), *keys.leaves())
    function = kernel_function(leaves, list(_GRID), body, namespace, seeds)
    return Kernel(function, argument_types(leaves, _GRID.values(), seeds), precision)


def _among_duals(problem):
    """What stands for the functions of a problem among dual numbers."""
    names = ("drift", "diffusion", "diffusion_jvp")
    return {name: replacement(getattr(problem, name)) for name in names}


class _Path:
    """The lines of one path, from what it is given to its status."""

    def __init__(self, problem, form, whole):
        self.problem, self.form, self.whole = problem, form, whole
        self.writer = StepWriter(form, problem.scheme, problem.calculus)
        self.noises = [("w", "INCREMENTS", math.sqrt(problem.dt), self.writer.w)]
        if problem.scheme.needs_areas:
            spread = math.sqrt(problem.dt / 12.0)
            self.noises.append(("a", "AREAS", spread, self.writer.areas))

    def lines(self, y0, args, keys, seeds):
        """All of them."""
        return [
            f"y0, args = {y0.source(seeds.read)}, {args.source(seeds.read)}",
            f"key = {keys.source(seeds.read)}",
            f"path = {'np.int64(0)' if keys.many else 'first_path[0] + i'}",
            *checks.initial(self.form),
            *self._promoted(seeds),
            self._put("0"),
            "code, row, drawn = 0, 1, np.int64(-(2**62))",
            *self._undrawn(),
            *self._before_steps(),
            "for output in range(1, ends.size):",
            *("    " + line for line in self._steps()),
            f"    if not ({self._finite()}):",
            f"        code = {NOT_FINITE}",
            "        break",
            f"    {self._put('output')}",
            "    row = output + 1",
            "stopped_at = float(row)",
        ]

    def _promoted(self, seeds):
        """A state that the steps make dual is so from the start."""
        if not seeds.numbers:
            return []
        zero = f"unit(0.0, -1, {len(seeds.numbers)}, 0)"
        return [f"{name} = promote_like({name}, {zero})" for name in self.writer.y]

    def _put(self, row):
        return f"put(tables, {row}, i, ({', '.join(self.writer.y)},))"

    def _finite(self):
        return " and ".join(f"abs(primal({name})) < np.inf" for name in self.writer.y)

    def _undrawn(self):
        """Both numbers of a block are kept until the second one's turn."""
        return [
            f"{kind}even{j}, {kind}odd{j} = 0.0, 0.0"
            for kind, _, _, names in self.noises
            for j in range(len(names))
        ]

    def _before_steps(self):
        return ["cell = cells[0] if cells.size else np.int64(0)"] if self.whole else []

    def _steps(self):
        """The lines of the steps up to an output: of whole cells, one after the other, nothing is read."""
        step = write_step(self.problem.scheme, self.writer)
        if not self.whole:
            head = ["t, h = starts[k], sizes[k]", "cell = cells[k]", *self._whole_or_part()]
            loop = ["for k in range(ends[output - 1], ends[output]):"]
            return loop + ["    " + line for line in [*head, *step]]
        dt = self.problem.dt
        lines = [f"t, h = cell * {dt!r}, {dt!r}", *self._whole(), *step, "cell += 1"]
        loop = ["stop = cells[0] + ends[output]", "while cell != stop:"]
        return loop + ["    " + line for line in lines]

    def _whole(self):
        """The noise of a whole cell, two cells to a block of the generator."""
        lines = ["if cell >> 1 != drawn:", "    drawn = cell >> 1"]
        lines += [
            f"    {kind}even{j}, {kind}odd{j} = two_cells(key, path, {j}, drawn, {domain})"
            for kind, domain, _, names in self.noises
            for j in range(len(names))
        ]
        lines += [
            f"{name} = {scale!r} * ({kind}odd{j} if cell & 1 else {kind}even{j})"
            for kind, _, scale, names in self.noises
            for j, name in enumerate(names)
        ]
        return lines

    def _whole_or_part(self):
        names, areas = self.noises[0][3], self.writer.areas
        return [
            "if parts[k, 0] == 0.0 and parts[k, 1] == 1.0:",
            *("    " + line for line in self._whole()),
            "else:",
            *(
                f"    {name}, {areas[j]} = within_cell(key, path, {j}, cell, parts[k, 0], parts[k, 1], "
                f"{self.problem.dt!r})"
                for j, name in enumerate(names)
            ),
        ]
