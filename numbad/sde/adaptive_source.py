"""The code of one path by adaptive steps, as ordinary source.

The steps are chosen by the values alone. What is differentiated is the loop of `path_source` over the steps
that were accepted: their sizes and increments are constants, as those of steps of one size are.
"""

from collections import namedtuple
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numba import njit
from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.around import jit_around
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError, DataError, IntegrationError
from numbad.operators.stop import as_constant
from numbad.random.generator_compiling import HOW_TO_MAKE_A_KEY
from numbad.sde.adaptive_loop import CELLS_A_STEP, TOO_LONG, AdaptiveLoop
from numbad.sde.arrays_of_a_path import own_args
from numbad.sde.brownian_tree import ahead, distance, draw, look, nothing_kept
from numbad.sde.events_of_paths import divided_of, meets_of
from numbad.sde.functions_called_twice import called_again
from numbad.sde.grid import as_times, of_times, place
from numbad.sde.halved_steps import halfway, longer, longer_rows, note, put_together
from numbad.sde.model_names import function_of
from numbad.sde.one_step import model_namespace, step_of
from numbad.sde.path_source import Problem, channel_count, check_path, is_numbered, steps_of
from numbad.sde.state_source import form_of
from numbad.sde.step_control import (
    Stepping,
    all_finite,
    mean_square,
    mean_square_each,
    next_factor,
    scaled_square,
)
from numbad.sde.steps import StepWriter
from numbad.sde.two_ways import two_ways

RUNNING, TOO_SMALL, TOO_MANY, NOT_FINITE = 0, 1, 2, 3
_REASONS = {
    TOO_SMALL: (
        "the step size falls below min_step, or below what the Brownian path is resolved to, dt * 2**-26. "
        "Ways out: larger tolerances; a smaller dt; a method for a stiff drift, such as 'SKenCarp'"
    ),
    TOO_MANY: "more than max_steps steps would be needed",
    NOT_FINITE: (
        "the path ends in NaN or infinity, however small the step. Way out: a diffusion that stays finite, "
        "such as sqrt(max(y, 0)) for a variance"
    ),
    TOO_LONG: (
        f"ts spans more than {CELLS_A_STEP:g} * max_steps cells of the Brownian path, each dt long (1.0 by "
        "default). Way out: a dt about as long as the steps that are expected"
    ),
}
_BY_STEPS = "The derivative of adaptive steps", "steps of one size: a solver without rtol and atol"
_REST = "key, number, sign, channels, dt, settings"
PATH = f"y0, times, args, {_REST}"

Taken = namedtuple("Taken", "ends starts sizes dw dh status time accepted rejected")


class StepError(IntegrationError):
    """A path that does not reach the last time; `status`, `time` and `number` say why, when and which."""

    def __init__(self, status, time, number):
        self.status, self.time, self.number = status, time, number
        super().__init__(f"path {number} of the key stops at t = {time!r}: {_REASONS[status]}")

    def __reduce__(self):
        return type(self), (self.status, self.time, self.number)


@dataclass(frozen=True)
class AdaptiveProblem(Problem):
    """A problem solved by adaptive steps; `dt` is the width of the cells in which the path is drawn."""

    stepping: Stepping = None

    is_adaptive = True

    @property
    def content(self):
        return *super().content, self.stepping.source

    @cached_property
    def plain(self):
        """What the code depends on that is the same for all dt and tolerances."""
        functions = self.drift, self.diffusion
        more = {"events": self.events, "dense": self.dense}
        return Problem(*functions, self.scheme, self.noise, self.calculus, None, **more)


@built_once(lambda problem, *_: problem.drift)
def core(problem, y0, ts, args, key):
    """The function `solve(y0, ts, args, key)` for types, as ordinary compiled code."""
    form = form_of(cpu_target.typing_context, problem, y0, args)
    lines = [
        f"found = call(y0, times, args, {call_of(problem)})",
        "if found[1] != 0:",
        "    raise StepError(found[1], found[2], number)",
        "return found[0]",
    ]
    return solving("solve", problem, form, key, path_of(problem, y0, args), lines)


def solving(name, problem, form, key, call, lines):
    """The compiled `name(y0, ts, args, key)`: checks of the arguments, then `lines`, which use `call`."""
    number = _key_and_number(key)
    lines = [
        "times = as_times(ts)",
        *_checked_size(problem.stepping, form),
        "check(y0, times[0], args)",
        f"key, number = {number}",
        f"channels, sign = {channel_count(form)}, 1.0",
        *lines,
    ]
    namespace = {
        "as_times": as_times,
        "check": steps_of(problem.plain, form)["check"],
        "call": call,
        "diffusion": problem.diffusion,
        "check_path": check_path,
        "StepError": StepError,
        "DataError": DataError,
    }
    compiled = jit_around(problem.users, error_model="numpy")
    return compiled(function_of(f"{name}(y0, ts, args, key_)", lines, namespace))


def call_of(problem):
    """Source of the arguments that come after y0, times and args."""
    return f"key, number, sign, channels, {problem.dt!r}, {problem.stepping.source}"


def _key_and_number(key):
    if key == types.uint64:
        return "key_, 0"
    if is_numbered(key):
        return "key_[0], check_path(key_[1])"
    raise ArgumentError(
        f"adaptive steps draw the path of a key or (key, path) as they go, not {key}; {HOW_TO_MAKE_A_KEY}. "
        "For increments of your own: steps of one size, without rtol and atol"
    )


@built_once(lambda problem, *_: problem.drift)
def path_of(problem, y0, args, leaves_nothing=False):
    """`path(y0, times, args, key, number, sign, channels, dt, settings) -> (ys, status, time)`.

    NaN stands at the outputs that are not reached. `leaves_nothing`: the caller reads nothing of what the
    functions write to arrays in `args`.
    """
    form = form_of(cpu_target.typing_context, problem, y0, args)
    _check_tolerances(problem.stepping, form)
    return _path(problem.plain, form, problem.stepping.by_component, leaves_nothing)


def _check_tolerances(stepping, form):
    if stepping.by_component and form.count not in (None, len(stepping.rtol)):
        raise ArgumentError(
            f"rtol and atol have {len(stepping.rtol)} components, the state has {form.count}"
        )


def _checked_size(stepping, form):
    """Lines that compare the components of tolerances with those of an array."""
    if not (stepping.by_component and form.is_array):
        return []
    count = len(stepping.rtol)
    told = f"rtol and atol have {count} components, the state has another number of them"
    return [f"if y0.size != {count}:", f"    raise DataError({told!r})"]


@built_once(lambda problem, *_: problem.drift)
def _path(problem, form, by_component, leaves_nothing):
    compiled = jit_around(problem.users, error_model="numpy", nogil=True)
    values = compiled(
        function_of(
            f"path({PATH})",
            AdaptiveLoop(problem, form, by_component).lines(),
            _names(problem, form),
        )
    )
    namespace = {
        "chosen": _chosen_and_checked(problem, form, by_component),
        "integrate": steps_of(problem, form)["integrate"],
        "stop": as_constant,
        "reached": _reached,
    }
    args = own_args(problem, form.y0, form.args, namespace) if leaves_nothing else "args"
    lines = [
        f"taken = chosen(times, stop(y0), stop(args), {_REST})",
        f"ys = integrate(y0, taken.ends, taken.starts, taken.sizes, {args}, taken.dw, taken.dh)",
        "ys = reached(ys, times, taken.time, taken.status)",
        "return ys, taken.status, taken.time",
    ]
    differentiated = compiled(function_of(f"path({PATH})", lines, namespace))
    origin = _path, (problem, form, by_component, leaves_nothing)
    return two_ways(values, differentiated, PATH, origin)


@njit
def _reached(ys, times, time, status):
    """A solution with NaN where a path did not get to."""
    if status != 0:
        for i in range(times.size):
            if times[i] > time:
                ys[i] = np.nan
    return ys


def _chosen_and_checked(problem, form, by_component):
    """The same as `chosen_of`; the steps are to be taken again.

    Functions that write to arrays are asked whether they give the same again, and the arrays put back.
    """
    found = called_again(problem, form.y0, form.args, *_BY_STEPS)
    if found is None:
        return chosen_of(problem, form, by_component)
    twice, keep, put_back, kept = found
    extended = form_of(cpu_target.typing_context, twice, form.y0, kept)
    lines = [
        "kept = keep(args)",
        f"taken = chosen(times, y0, kept, {_REST})",
        "put_back(args, kept)",
        "return taken",
    ]
    namespace = {"chosen": chosen_of(twice, extended, by_component)}
    namespace |= {"keep": keep, "put_back": put_back}
    return of_times(function_of(f"checked(times, y0, args, {_REST})", lines, namespace))


@built_once(lambda problem, *_: problem.drift)
def chosen_of(problem, form, by_component):
    """`chosen(times, y0, args, ...)`: the steps that are accepted, as `Taken`; constants of derivatives."""
    lines = AdaptiveLoop(problem, form, by_component, keeps=True).lines()
    return of_times(function_of(f"chosen(times, y0, args, {_REST})", lines, _names(problem, form)))


def _names(problem, form):
    """The names of the loop's source."""
    tools = (
        place,
        distance,
        ahead,
        draw,
        look,
        nothing_kept,
        halfway,
        put_together,
        longer,
        longer_rows,
        note,
    )
    tools += next_factor, scaled_square, mean_square, mean_square_each, all_finite
    names = {
        **model_namespace(problem, form),
        **{tool.__name__: tool for tool in tools},
        "Taken": Taken,
        "step": step_of(replace(problem, events=()), form),
    }
    if problem.events:
        writer = StepWriter(form, problem.scheme, problem.calculus)
        noise = tuple(writer.w), tuple(writer.areas)
        names["meets"] = meets_of(problem, form)
        names["divided"] = divided_of(problem, names["step"], form, *noise)
    return names
