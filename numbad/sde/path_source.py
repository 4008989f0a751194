"""The code of one path: the function `solve` for a structure of arguments, as ordinary source.

What is differentiated is this code, by both modes, as anybody's: the increments are arrays of constants.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numba import njit
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from numbad.compilation.around import jit_around
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError, DataError, IntegrationError
from numbad.operators import jvp
from numbad.random.generator_compiling import HOW_TO_MAKE_A_KEY
from numbad.rules.registry import CONSTANT_CALLS
from numbad.sde import checks
from numbad.sde.brownian import increments
from numbad.sde.events_of_paths import event_lines, names_of_events
from numbad.sde.grid import as_times, grid, undivided
from numbad.sde.levy_area import levy_increments, pair_count
from numbad.sde.model_names import function_of
from numbad.sde.one_step import model_namespace, step_of
from numbad.sde.scheme import Scheme
from numbad.sde.state_source import form_of
from numbad.sde.steps import StepWriter, write_start, write_step
from numbad.source import define

_MOST_PATHS = 2**32


@dataclass(frozen=True)
class Problem:
    """What a solver solves, and by which method; `dt` is the width of the grid's cells."""

    drift: Dispatcher
    diffusion: Dispatcher
    scheme: Scheme
    noise: str
    calculus: str
    dt: float
    adjoint: str = "auto"
    checkpoints: int | None = None
    jumps: object = None
    events: tuple = ()
    dense: bool = False

    is_adaptive = False

    @property
    def goes_alone(self):
        """Whether paths of an ensemble are solved one by itself: steps, jumps or events of its own."""
        return self.is_adaptive or self.jumps is not None or bool(self.events)

    @property
    def plain(self):
        """What the code depends on that is the same for all sizes of steps."""
        return replace(self, dt=None)

    @cached_property
    def diffusion_jvp(self):
        return jvp(self.diffusion, argnums=(1,))

    @property
    def users(self):
        """The users' functions in it."""
        return users_in(self.content)

    @property
    def content(self):
        """What the compiled code depends on, for the cache on disk."""
        functions, options = (self.drift, self.diffusion), (self.adjoint, self.checkpoints)
        jumps = () if self.jumps is None else self.jumps.content
        events = tuple(part for event in self.events for part in event)
        method = self.scheme.name, self.noise, self.calculus, self.dt
        return *functions, *method, *options, *jumps, *events, self.dense


def users_in(content):
    """The dispatchers among what compiled code depends on."""
    return tuple(part for part in content if isinstance(part, Dispatcher))


class PathError(IntegrationError):
    """A path that ends in NaN or infinity; `times` are the outputs between which it does."""

    def __init__(self, before, after):
        self.times = before, after
        if before == after:
            super().__init__("the initial state is NaN or infinite")
            return
        super().__init__(
            f"the path ends in NaN or infinity between t = {before!r} and t = {after!r}. Ways out: a smaller "
            "dt; a diffusion that stays finite, such as sqrt(max(y, 0)) for a variance"
        )

    def __reduce__(self):
        return type(self), self.times


@built_once(lambda problem, *_: problem.drift)
def core(problem, y0, ts, args, key):
    """The function `solve(y0, ts, args, key)` for types, as ordinary compiled code."""
    form = form_of(cpu_target.typing_context, problem, y0, args)
    parts = steps_of(replace(problem, dt=None), form)
    namespace = {
        "as_times": as_times,
        "grid": undivided if problem.dense else grid,
        "increments": increments,
        "levy_increments": levy_increments,
        "pair_count": pair_count,
        "PathError": PathError,
        "as_rows_1": as_rows_1,
        "as_rows_2": as_rows_2,
        "check_path": check_path,
        "diffusion": problem.diffusion,
        **parts,
    }
    lines = [
        "times = as_times(ts)",
        f"ends, cells, parts, starts, sizes = grid(times, {problem.dt!r})",
        "check(y0, times[0], args)",
        *_increments(problem, form, key),
        "ys = integrate(y0, ends, starts, sizes, args, dw, dh)",
        "for i in range(times.size):",
        f"    for j in range({'ys.shape[1]' if form.is_array else form.count}):",
        "        if not abs(ys[i, j]) < np.inf:",
        "            raise PathError(times[max(i - 1, 0)], times[i])",
        "return ys",
    ]
    compiled = jit_around(problem.users, error_model="numpy")
    return compiled(function_of("solve(y0, ts, args, key)", lines, namespace))


@built_once(lambda problem, _: problem.drift)
def steps_of(problem, form):
    """The compiled `check(y0, t, args)` and `integrate(y0, ends, starts, sizes, args, dw, dh)`.

    They are the same for all `dt`. Where there are events, `starts` has when the last step ends, too.
    """
    namespace = model_namespace(problem, form)
    if problem.events:
        step = step_of(replace(problem, events=()), form, False)
        namespace.update(names_of_events(problem, form), step=step)
    check = define(checks.check_source(form, problem.scheme, problem.calculus), namespace)
    integrate = function_of(
        "integrate(y0, ends, starts, sizes, args, dw, dh)", _loop(problem, form), namespace
    )
    compile_ = jit_around(problem.users, error_model="numpy", nogil=True)
    check = compile_(check)
    CONSTANT_CALLS.add(check)
    return {"check": check, "integrate": compile_(integrate)}


def _loop(problem, form):
    """The lines of the loop over outputs and steps."""
    writer = StepWriter(form, problem.scheme, problem.calculus)
    row = "[i]" if form.is_array else None
    width = "y_0.size" if form.is_array else form.count

    def put(index):
        if row:
            return ["for c in range(y_0.size):", f"    out[{index}, c] = y_0[c]"]
        return [f"out[{index}, {c}] = {name}" for c, name in enumerate(writer.y)]

    step = ["t, h = starts[k], sizes[k]", *read("dw", form, writer.w)]
    if problem.events:
        step += ["end = starts[k + 1]", *read("dh", form, writer.areas), "if over == 0.0:"]
        divided = event_lines(problem, form, writer.y, writer.w, writer.areas)
        step += ["    " + line for line in divided]
    else:
        step += read("dh", form, writer.areas) if problem.scheme.needs_areas else ()
        step += write_step(problem.scheme, writer)
    begin, end, keep, back = "ends[i - 1]", "ends[i]", [], []
    if problem.dense:  # the last step may be aside, see `undivided`
        begin, end, before = "ends[i - 1] >> 1", "ends[i] >> 1", form.names("b")
        keep = [f"{old} = {name}" for old, name in zip(before, writer.y, strict=True)]
        step = [*keep, *step]
        back = [f"{name} = {old}" for old, name in zip(before, writer.y, strict=True)]
        back = ["if ends[i] & 1:", *("    " + line for line in back)]
    return [
        *checks.initial(form),
        *started(problem, form, "starts"),
        *(["over = 0.0"] if problem.events else ()),
        f"out = np.empty((ends.size, {width}))",
        *put(0),
        *keep,
        "for i in range(1, ends.size):",
        f"    for k in range({begin}, {end}):",
        *("        " + line for line in step),
        *("    " + line for line in (*put("i"), *back)),
        "return out",
    ]


def started(problem, form, starts):
    """The lines before the first step, of a method that has such; `starts` is the source of the times."""
    lines = write_start(problem.scheme, StepWriter(form, problem.scheme, problem.calculus))
    return [f"t = {starts}[0] if {starts}.size else 0.0", *lines] if lines else []


def read(source, form, names):
    """Lines that read the noise of a step."""
    if form.is_array and form.channels is None:
        return [f"{names[0]} = {source}[k]"]
    return [f"{name} = {source}[k, {j}]" for j, name in enumerate(names)]


def channel_count(form, time="times[0]"):
    """Source of the number of channels of the noise; `time` is that of any time."""
    if form.channels is not None:
        return form.channels
    matrix = f"diffusion({time}, y0 + 0.0{form.arguments()})"
    return f"{matrix}.shape[1]" if form.is_matrix else "y0.size"


def _increments(problem, form, key):
    """Lines that make `dw` and `dh` of what is given as a key."""
    scheme = problem.scheme
    channels = channel_count(form)
    if number_and_path(key) is None:
        if problem.dense:
            raise ArgumentError(
                "dense_output=True looks into steps, for which a path is drawn from a key; increments "
                "that are given have no inside. Way out: nd.random.key, or leave dense_output out"
            )
        return given_increments(scheme, channels, key)
    number, path = number_and_path(key)
    return [drawing(problem, number, path, channels)]


def drawing(problem, number, path, channels):
    """The line that draws the increments of the steps in `cells` and `parts`, and what else they ask for."""
    given = f"{number}, {path}, cells, parts, {problem.dt!r}, {channels}"
    if problem.scheme.needs_levy:
        return f"dw, dh = levy_increments({given})"
    return f"dw, dh = increments({given}, {problem.scheme.needs_areas})"


def number_and_path(key):
    """Sources of the key and of the number of the path; None where increments are given."""
    if key == types.uint64:
        return "key", "0"
    return ("key[0]", "check_path(key[1])") if is_numbered(key) else None


def is_numbered(key):
    """Whether a type is that of `(key, path)`."""
    is_pair = isinstance(key, types.BaseTuple) and len(key) == 2
    return is_pair and key[0] == types.uint64 and isinstance(key[1], types.Integer)


def given_increments(scheme, channels, key, count="cells.size"):
    """Lines that take increments as given, `count` (a source) rows of them."""
    both = isinstance(key, types.BaseTuple) and len(key) == 2
    arrays = tuple(key) if both else (key,)
    if not all(isinstance(ty, types.Array) and ty.ndim in (1, 2) for ty in arrays):
        raise ArgumentError(
            f"the fourth argument of a solution is a key, not {key}; {HOW_TO_MAKE_A_KEY}. Or (key, path), "
            "or an array of increments, one row a step"
        )
    if scheme.needs_areas and not both:
        needed = "Levy areas" if scheme.needs_levy else "space-time Levy areas"
        raise ArgumentError(
            f"method {scheme.name!r} needs the {needed} beside the increments: give "
            f"({'W, A' if scheme.needs_levy else 'W, H'}), two arrays"
        )
    names = ("key[0]", "key[1]") if both else ("key", "key")
    widths = channels, f"pair_count({channels})" if scheme.needs_levy else channels
    take = [
        f"as_rows_{ty.ndim}({n}, {count}, {width})"
        for n, ty, width in zip(names, arrays * 2, widths, strict=False)
    ]
    return [f"dw = {take[0]}", f"dh = {take[1]}" if both else "dh = dw"]


_WRONG_ROWS = (
    "increments have a row for each step and a column for each channel of the noise; these do not"
)


@njit
def as_rows_1(given, count, channels):
    """Increments of one channel as a matrix."""
    if given.size != count or channels != 1:
        raise DataError(_WRONG_ROWS)
    out = np.empty((count, 1))
    for k in range(count):
        out[k, 0] = given[k]
    return out


@njit
def as_rows_2(given, count, channels):
    """Increments as they are, where they fit."""
    if given.shape[0] != count or given.shape[1] != channels:
        raise DataError(_WRONG_ROWS)
    return given


@njit
def check_path(path):
    """The number of a path, where there is such a one."""
    if path < 0 or path >= _MOST_PATHS:
        raise DataError(
            "the number of a path lies between 0 and 2**32 - 1; for more: nd.random.fold_in"
        )
    return path
