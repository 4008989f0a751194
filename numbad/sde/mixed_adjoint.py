"""Mixed mode: forward along the path, reverse within a step; nothing of the path is kept.

With a step y+ = F(y, p), the slopes S = dy/dp go along with the state: S+ = (dF/dy) S + dF/dp. Reverse mode
gives both Jacobians of a step, a row for each component of the state however many parameters there are, and
the slopes of an output are there when the output is.
"""

from dataclasses import dataclass
from functools import cached_property

from numba import njit
from numba.core import types

from numbad.compilation.caching import jit
from numbad.errors import ArgumentError, UnsupportedError
from numbad.ode.compiling import generic
from numbad.operators import value_and_jacobian
from numbad.operators.argument_structure import leaves, parse, render
from numbad.operators.generated_names import Writer
from numbad.operators.runtime import add_into
from numbad.reverse import pullback
from numbad.sde import checks
from numbad.sde.adjoint_source import BY_INCREMENTS, has_duals, plain
from numbad.sde.functions_called_twice import trial
from numbad.sde.grid import BY_TIMES
from numbad.sde.model_names import function_of
from numbad.sde.one_step import STEP_ARGS, STEP_STATE, step_of
from numbad.sde.stretch_source import FINITE, Stretches, core
from numbad.source import define

_START, _TIMES, _ARGS, _KEY = range(4)
_COMPONENTS, _NUMBERS = 8, 16  # at most so many rows of a step; at least as many columns and one


def check_mixed(scheme):
    """Raise ArgumentError where a step is not a function of the state before it alone."""
    if scheme.carries:
        raise ArgumentError(
            f"adjoint='mixed' carries slopes of the state, and method {scheme.name!r} goes on from more than "
            "that. Ways out: adjoint='reversible', or method='Heun'"
        )


def prefers_mixed(problem, argtypes, wrt, mode):
    """Whether a Jacobian of the path costs less by mixed mode, where the choice is left to the solver.

    A network of p weights as the drift of two components, Heun's method, the Jacobian of both by all weights
    over the path alone (AVX-512; one core beside other load, best of 10):

        p          9     18     42    114    354   1218
        forward   1.7   3.5    5.1    35    129    574
        mixed     2.7   2.8    2.9   3.0    5.1    5.9
    """
    other = problem.checkpoints is not None or problem.jumps or problem.events or problem.dense
    if problem.adjoint != "auto" or problem.is_adaptive or problem.scheme.carries or other:
        return False
    y0 = types.unliteral(argtypes[_START])
    many = isinstance(y0, types.Array) or (
        isinstance(y0, types.BaseTuple) and len(y0) > _COMPONENTS
    )
    if many or _TIMES in wrt or _KEY in wrt:
        return False
    kinds = [leaf.kind for leaf in leaves(parse(argtypes[_ARGS], ""))] if _ARGS in wrt else []
    return mode == "reverse" or "array" in kinds or kinds.count("scalar") > _NUMBERS


def mixed_pullback(problem, wrt, origin):
    """`pull(args, shadows, seed) -> (ys, adjoints)`."""
    _refuse(wrt)
    content = "mixed", wrt, *problem.content

    def choose(*given):
        args = plain(given[0])
        if has_duals(*given):
            lines = ["return slow(args, shadows, seed)"]
            namespace = {"slow": pullback(core(problem, *args), wrt)}
        else:
            lines, namespace = trial(problem, *args)
            call = "return along(y0, ts, args, key, shadows, seed)"
            lines = ["y0, ts, args, key = args", *lines, call]
            namespace["along"] = Along(problem, args, wrt).pull()
        return function_of("pull(args, shadows, seed)", lines, namespace)

    text = "def pull(args, shadows, seed):\n    raise NotImplementedError(content)\n"
    return generic(define(text, {"content": content}), content, choose, origin)


def mixed_jacobian(problem, argtypes, wrt, single, with_value):
    """The Python function of `nd.jacobian(solve, wrt)` for argument types, in one pass; None for duals."""
    _refuse(wrt)
    if has_duals(*argtypes):
        return None
    along = Along(problem, plain(argtypes), wrt).jacobian(wrt, single)
    found = "ys, found" if with_value else "found"
    lines, names = trial(problem, *plain(argtypes))
    lines = [*lines, "ys, found = along(y0, ts, args, key)", f"return {found}"]
    return function_of("rows(y0, ts, args, key)", lines, {"along": along, **names})


def _refuse(wrt):
    if _TIMES in wrt:
        raise UnsupportedError(BY_TIMES)
    if _KEY in wrt:
        raise UnsupportedError(BY_INCREMENTS.format("mixed"))


@dataclass(frozen=True)
class ArgumentPart:
    """Parameters whose slopes are one array (components, parameters), called `name`.

    `size` is the source of how many parameters they are; `row(c)` gives lines that make `row`, the slopes of
    component c within a step, none where a step does not depend on them.
    """

    name: str
    size: str
    row: object
    leaf: object = None


class Along(Stretches):
    """The source of a path and its slopes by the arguments in `wrt`, without dual numbers."""

    calls_step = True

    def __init__(self, problem, given, wrt):
        y0, _, args, key = given
        super().__init__(problem, y0, args, key)
        self.trees = {_START: parse(y0, "y0"), _ARGS: parse(args, "args")}
        self.wrt, self.by_args = wrt, _ARGS in wrt
        self.numbers = self._of_kind("scalar")
        self.parts = list(self._parts())

    def _of_kind(self, kind):
        return [leaf for leaf in leaves(self.trees[_ARGS]) if leaf.kind == kind]

    def _parts(self):
        if _START in self.wrt:
            yield ArgumentPart("by_start", "n", lambda c: [])
        if self.by_args and self.numbers:
            yield ArgumentPart("by_numbers", str(len(self.numbers)), self._row_of_numbers)
        for k, leaf in enumerate(self._of_kind("array") if self.by_args else ()):
            yield ArgumentPart(f"by_array_{k}", f"{leaf.source}.size", self._row_of(leaf), leaf)

    def namespace(self):
        names = {"row_into": _row_into, "add_rows": _add_rows, "add_into": add_into}
        return {**super().namespace(), **names, "step": self._step}

    # -- a step and its slopes ---------------------------------------------------------------

    @cached_property
    def _step(self):
        """`(state, Jacobians)` of a step: by the further arguments, where they count, and by the state."""
        step, names = step_of(self.shared, self.form, False), self._step_names("args")
        if self.form.is_array:
            lines = [f"return step({names})[0]"]
            step = jit(error_model="numpy", nogil=True)(
                function_of(f"array_step({names})", lines, {"step": step})
            )
        state = range(STEP_STATE, STEP_STATE + self.form.components)
        wrt = (STEP_ARGS, *state) if self.by_args else tuple(state)
        return value_and_jacobian(step, wrt, mode="reverse")

    def _step_names(self, args):
        return ", ".join(["t", "h", args, *self.writer.y, *self.writer.w, *self.writer.areas])

    def _taken_apart(self):
        """Lines that name the slopes of a step: `a`, by the state, and those by the further arguments."""
        first = int(self.by_args)
        if self.form.is_array:
            lines = [
                "for c in range(a.shape[0]):",
                "    for k in range(a.shape[1]):",
                f"        a[c, k] = found[{first}][c, k]",
            ]
            return [*lines, *(["by_args = found[0]"] if first else [])]
        lines = []
        for c in range(self.form.count):
            lines.append(f"of_{c} = found[{c}]")
            lines += [f"a[{c}, {k}] = of_{c}[{first + k}]" for k in range(self.form.count)]
            lines += [f"by_args_{c} = of_{c}[0]"] if first else []
        return lines

    def _of_step(self, leaf, c):
        """Source of the slopes of component c of a step by a leaf of the further arguments."""
        path = leaf.source[len("args") :]
        return f"by_args{path}[{c}]" if self.form.is_array else f"by_args_{c}{path}"

    def _row_of(self, leaf):
        return lambda c: [f"row = {self._of_step(leaf, c)}.reshape({leaf.source}.size)"]

    def _row_of_numbers(self, c):
        rows = [f"row[{k}] = {self._of_step(leaf, c)}" for k, leaf in enumerate(self.numbers)]
        return [f"row = np.empty({len(self.numbers)})", *rows]

    def step(self):
        """Lines that take a step with all slopes."""
        y = self.writer.y
        lines = [f"value, found = step({self._step_names('args')})", *self._taken_apart()]
        for part in self.parts:
            lines += self._moved(part)
        members = ["value"] if self.form.is_array else [f"value[{c}]" for c in range(len(y))]
        return [*lines, *(f"{old} = {new}" for old, new in zip(y, members, strict=True))]

    def _moved(self, part):
        """Lines that take the slopes by a part over a step."""
        new, into = f"new_{part.name}", f"row_into(new_{part.name}, {{0}}, a, {part.name}, {{1}})"
        swap = f"{part.name}, {new} = {new}, {part.name}"
        row = "row" if part.row(0) else "nothing"
        if self.form.is_array:
            return [
                "for c in range(n):",
                *("    " + x for x in (*part.row("c"), into.format("c", row))),
                swap,
            ]
        lines = [x for c in range(self.form.count) for x in (*part.row(c), into.format(c, row))]
        return [*lines, swap]

    # -- the path ----------------------------------------------------------------------------

    def lines(self, before, at_output):
        """Lines that solve; `before` the first step, and `at_output` i, there are lines of the subclass."""
        slopes = [
            f"{part.name} = {'np.eye(n)' if part.name == 'by_start' else f'np.zeros((n, {part.size}))'}"
            for part in self.parts
        ]
        return [
            *self.beginning(),
            "check(y0, outputs[0], args)",
            *checks.initial(self.form),
            f"n, nothing = {self.width}, np.empty(0)",
            "a = np.empty((n, n))",
            *slopes,
            *(f"new_{part.name} = np.empty_like({part.name})" for part in self.parts),
            "ys = np.empty((outputs.size, n))",
            *before,
            "i = 0",
            *self._put("i"),
            *at_output,
            "for i in range(1, outputs.size):",
            "    count, before = ends[i] - ends[i - 1], ends[i - 1]",
            "    for first in range(0, count, length):",
            "        last = min(first + length, count)",
            *("        " + line for line in self.drawing()),
            "        for k in range(starts.size):",
            "            t, h = starts[k], sizes[k]",
            *("            " + line for line in self.reading()),
            *("            " + line for line in self.step()),
            *("    " + line for line in (*self._put("i"), *at_output)),
            *FINITE,
        ]

    def _rendered(self, argument, source):
        """Source of an argument's structure, `source(leaf)` giving that of every leaf."""
        return render(self.trees[argument], source, self.more_names)

    def _compiled(self, head, lines):
        function = function_of(head, lines, {**self.namespace(), **self.more_names})
        return jit(error_model="numpy", nogil=True)(function)

    def pull(self):
        """The compiled `along(y0, ts, args, key, shadows, seed) -> (ys, adjoints)`."""
        before = [f"total_{part.name} = np.zeros({part.size})" for part in self.parts]
        each = [f"add_rows(total_{part.name}, seed[i], {part.name})" for part in self.parts]
        lines = [*self.lines(before, each), *self._into_shadows()]
        adjoints = f"({self._adjoint_of_start()}, None, {self._adjoint_of_args()}, None)"
        return self._compiled(
            "along(y0, ts, args, key, shadows, seed)", [*lines, f"return ys, {adjoints}"]
        )

    def _into_shadows(self):
        lines = []
        for part in self.parts:
            if part.leaf is not None:
                shadow = f"shadows[{_ARGS}]{part.leaf.source[len('args') :]}"
                lines.append(
                    f"add_into({shadow}, total_{part.name}.reshape({part.leaf.source}.shape))"
                )
        if _START in self.wrt and self.form.is_array:
            lines.append(f"add_into(shadows[{_START}], total_by_start)")
        return lines

    def _adjoint_of_start(self):
        if _START not in self.wrt or self.form.is_array:
            return "None"
        places = {id(leaf): c for c, leaf in enumerate(leaves(self.trees[_START]))}

        def source(leaf):
            return f"total_by_start[{places[id(leaf)]}]" if leaf.kind == "scalar" else "None"

        return self._rendered(_START, source)

    def _adjoint_of_args(self):
        if not self.by_args:
            return "None"
        places = {id(leaf): k for k, leaf in enumerate(self.numbers)}
        return self._rendered(
            _ARGS,
            lambda leaf: (
                f"total_by_numbers[{places[id(leaf)]}]" if leaf.kind == "scalar" else "None"
            ),
        )

    # -- all slopes --------------------------------------------------------------------------

    def jacobian(self, wrt, single):
        """The compiled `along(y0, ts, args, key) -> (ys, slopes)`: of every output, by what is in `wrt`."""
        before = [f"all_{p.name} = np.empty((outputs.size, n, {p.size}))" for p in self.parts]
        each = []
        for part in self.parts:
            each += [
                f"for c in range({part.name}.shape[0]):",
                f"    for k in range({part.name}.shape[1]):",
                f"        all_{part.name}[i, c, k] = {part.name}[c, k]",
            ]
        slopes = [self._slopes(k) for k in wrt]
        found = slopes[0] if single else f"({''.join(x + ', ' for x in slopes)})"
        lines = [*self.lines(before, each), f"return ys, {found}"]
        return self._compiled("along(y0, ts, args, key)", lines)

    def _slopes(self, argument):
        """Source of the slopes of all outputs by an argument, in its structure."""
        tree = self.trees[argument]
        part = "all_by_start" if argument == _START else "all_by_numbers"
        if argument == _START and self.form.is_array:
            return part
        of_kind = leaves(tree) if argument == _START else self.numbers
        places = {id(leaf): k for k, leaf in enumerate(of_kind)}
        arrays = {id(p.leaf): f"all_{p.name}" for p in self.parts if p.leaf is not None}

        def source(leaf):
            if leaf.kind == "scalar":
                return f"{part}[:, :, {places[id(leaf)]}].copy()"
            if leaf.kind == "array":
                return f"{arrays[id(leaf)]}.reshape((outputs.size, n) + {leaf.source}.shape)"
            return Writer(self.more_names).constant_zero(leaf)

        return self._rendered(argument, source)


@njit(error_model="numpy")
def _row_into(new, c, a, s, row):
    """Row c of the slopes after a step: `row`, those within it, and row c of `a` times `s`."""
    for p in range(s.shape[1]):
        new[c, p] = row[p] if row.size else 0.0
    for k in range(a.shape[1]):
        weight = a[c, k]
        for p in range(s.shape[1]):
            new[c, p] += weight * s[k, p]


@njit(error_model="numpy")
def _add_rows(total, weights, s):
    """Add the rows of `s` times a weight each."""
    for c in range(weights.size):
        if weights[c] != 0.0:
            for p in range(total.size):
                total[p] += weights[c] * s[c, p]
