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
from numbad.cuda.trajectories.seeds import VALUES
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
# What a kernel is given of the steps: what `grid` returns, and the number of the first path.
GRID = {
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
        form = form_on_gpu(self.problem, y0.type, args.type)
        steps_of(replace(self.problem, dt=None), form)["check"](first(y0), ts[0], first(args))

    def states(self, times, width):
        """How many states are alive at once, about."""
        return 4 + 2 * len(getattr(self.problem.scheme, "alpha", ()))

    def kernel(self, y0, args, keys, times, precision, seeds):
        """The kernel for structures of what a path is given."""
        self.check_method(keys)
        whole = self.is_whole(times, precision)
        return sde_kernel(self.problem, y0, args, keys, whole, precision, seeds)

    def check_method(self, keys):
        """Raise where there is no code for the method's steps, or no key to draw a path from."""
        scheme = self.problem.scheme
        unwanted = {
            "solves equations": scheme.is_implicit,
            "goes on from more than the state": scheme.carries,
        }
        for what, is_so in unwanted.items():
            if is_so:
                raise UnsupportedError(
                    f"method {scheme.name!r} {what}, for which nd.cuda.ensemble has no code. {_CPU}"
                )
        _check_keys(keys)

    def is_whole(self, times, precision):
        """Whether all steps are whole cells of the grid; UnsupportedError where they have to be."""
        *_, parts, _, _ = grid(times, self.problem.dt)
        whole = bool((parts == (0.0, 1.0)).all())
        if not whole and precision == SINGLE:
            raise UnsupportedError(
                "in float32 every output time lies at the end of a step: ts must be multiples of dt. Way "
                "out: precision='float64', or another dt"
            )
        return whole

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
def form_on_gpu(problem, y0, args):
    """The `Form` of a problem for the types of what a path is given."""
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
    form = form_on_gpu(problem, y0.type, args.type)
    body = PathLines(problem, form, whole).lines(y0, args, keys, seeds)
    namespace = {
        **path_namespace(problem, form, y0, args, precision),
        **(among_duals(problem) if seeds.numbers else {}),
    }
    leaves = (*y0.leaves(), *args.leaves(), *keys.leaves())
    function = kernel_function(leaves, list(GRID), body, namespace, seeds)
    return Kernel(function, argument_types(leaves, GRID.values(), seeds), precision)


def path_namespace(problem, form, y0, args, precision):
    """The names that the lines of a path use, `put` and its like apart."""
    return {
        **model_namespace(problem, form),
        **named_classes(y0, args),
        "primal": primal,
        "promote_like": promote_like,
        "two_cells": two_cells_single if precision == SINGLE else two_cells,
        "within_cell": within_cell,
        "INCREMENTS": INCREMENTS,
        "AREAS": AREAS,
    }


def among_duals(problem):
    """What stands for the functions of a problem among dual numbers."""
    names = ("drift", "diffusion", "diffusion_jvp")
    return {name: replacement(getattr(problem, name)) for name in names}


class PathLines:
    """The lines of one path, from what it is given to its status.

    Steps of whole cells read nothing: `cell` counts them, `begin` is the first.
    """

    column = "i"  # of the tables that the path writes to

    def __init__(self, problem, form, whole):
        self.problem, self.form, self.whole = problem, form, whole
        self.writer = StepWriter(form, problem.scheme, problem.calculus)
        self.noises = [("w", "INCREMENTS", math.sqrt(problem.dt), self.writer.w)]
        if problem.scheme.needs_areas:
            spread = math.sqrt(problem.dt / 12.0)
            self.noises.append(("a", "AREAS", spread, self.writer.areas))

    def lines(self, y0, args, keys, seeds=VALUES):
        """All of them."""
        return [
            f"y0 = {y0.source(seeds.read)}",
            *self.given(args, keys, seeds),
            *checks.initial(self.form),
            *self._promoted(seeds),
            self._put("0"),
            "code, row = 0, 1",
            *self.before_steps(),
            "for output in range(1, ends.size):",
            *("    " + line for line in self._steps()),
            f"    if not ({self._finite()}):",
            f"        code = {NOT_FINITE}",
            "        break",
            f"    {self._put('output')}",
            "    row = output + 1",
            "stopped_at = float(row)",
        ]

    def given(self, args, keys, seeds=VALUES):
        """Lines that name the further arguments, the key and the number of the path."""
        return [
            f"args, key = {args.source(seeds.read)}, {keys.source(seeds.read)}",
            f"path = {'np.int64(0)' if keys.many else 'first_path[0] + i'}",
        ]

    def _promoted(self, seeds):
        """A state that the steps make dual is so from the start."""
        if not seeds.numbers:
            return []
        zero = f"unit(0.0, -1, {len(seeds.numbers)}, 0)"
        return [f"{name} = promote_like({name}, {zero})" for name in self.writer.y]

    def state(self, names=None):
        """Source of the state as a tuple of numbers."""
        return f"({', '.join(names or self.writer.y)},)"

    def _put(self, row):
        return f"put(tables, {row}, {self.column}, {self.state()})"

    def _finite(self):
        return " and ".join(f"abs(primal({name})) < np.inf" for name in self.writer.y)

    def before_steps(self):
        """Both numbers of a block are kept until the second one's turn."""
        lines = [
            f"{kind}even{j}, {kind}odd{j} = 0.0, 0.0"
            for kind, _, _, names in self.noises
            for j in range(len(names))
        ]
        lines.append("drawn = np.int64(-(2**62))")
        if self.whole:
            lines += ["begin = cells[0] if cells.size else np.int64(0)", "cell = begin"]
        return lines

    def _steps(self):
        """The lines of the steps up to an output."""
        step = [
            *self.at_step(),
            *self.read_step(),
            *write_step(self.problem.scheme, self.writer),
        ]
        if not self.whole:
            loop = ["for k in range(ends[output - 1], ends[output]):"]
            return loop + ["    " + line for line in step]
        loop = ["stop = begin + ends[output]", "while cell != stop:"]
        return loop + ["    " + line for line in (*step, "cell += 1")]

    def at_step(self):
        """Lines before each step."""
        return []

    @property
    def number(self):
        """Source of the number of a step."""
        return "cell - begin" if self.whole else "k"

    def read_step(self):
        """Lines that name the time, the size and the noise of a step."""
        if self.whole:
            dt = self.problem.dt
            return [f"t, h = cell * {dt!r}, {dt!r}", *self._whole_cell()]
        return ["t, h = starts[k], sizes[k]", "cell = cells[k]", *self._whole_or_part()]

    def _whole_cell(self):
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
            *("    " + line for line in self._whole_cell()),
            "else:",
            *(
                f"    {name}, {areas[j]} = within_cell(key, path, {j}, cell, parts[k, 0], parts[k, 1], "
                f"{self.problem.dt!r})"
                for j, name in enumerate(names)
            ),
        ]
