"""The discrete adjoint as a pullback: exactly the derivative of the steps that were taken.

Their sizes are constants, as they are for dual numbers, so that reverse and forward mode give the
same. The derivative by an output time is the slope there; that by the first time is what the slope
there takes from the initial state: see `numbad/ode/moving.py`.
"""

from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.memo import built_once
from numbad.forward.dual import Dual, base_scalar, duals_in, primal_type, with_base
from numbad.forward.promote import common_dual
from numbad.ode.adjoints.adjoint_of_method import step_adjoint
from numbad.ode.adjoints.backward import make_backward
from numbad.ode.adjoints.by_times import make_by_times
from numbad.ode.adjoints.recorded import recorded
from numbad.ode.adjoints.sensitivities import gradient_in_duals, have_duals
from numbad.ode.adjoints.shadow_arguments import Arguments, has_arrays, tuple_of
from numbad.ode.adjoints.slopes import Slope
from numbad.ode.adjoints.stage_pulls import SCRATCH
from numbad.ode.adjoints.stretches import ALL_RECORDED, steps_from_marks
from numbad.ode.compiling import generic
from numbad.ode.integrate import as_passed, content_of, dispatcher_of, functions_of
from numbad.ode.jumps import warn_of_jumps
from numbad.ode.linear import parts
from numbad.ode.moving import check_mass_of_times
from numbad.ode.state import plain, solution_scalar, vector_type
from numbad.ode.state_types import components_of
from numbad.ode.times import uniform
from numbad.operators.argument_structure import leaves, parse, render
from numbad.operators.generated_names import indented
from numbad.operators.runtime import add_into
from numbad.source import define


@built_once(dispatcher_of)
def discrete_pullback(problem, settings, wrt, solved, solve):
    """The dispatcher `pull(args, shadows, seed) -> (ys, adjoints)` of the solver `solve`.

    Where it is `solved`, it takes what `recorded` gave beside the solution as fourth argument.
    """
    adjoint = step_adjoint(problem.tableau, problem.inplace)
    content = "discrete", *content_of(problem), problem.checkpoints, tuple(settings), wrt

    if solved:

        def pull(args, shadows, seed, records):
            raise NotImplementedError(content)

    else:

        def pull(args, shadows, seed):
            raise NotImplementedError(content)

    def choose(*argument_types):
        if have_duals(argument_types[0][1]):
            return gradient_in_duals(solve, wrt, *argument_types)
        source = PullSource(problem, settings, wrt, adjoint, argument_types)
        return source.write(recorded(problem, settings, solve))

    origin = discrete_pullback, (problem, settings, wrt, solved, solve)
    return generic(pull, (*content, solved), choose, origin)


@built_once(lambda problem, slope, by_args: slope.fun)
def make_sweep(problem, slope, by_args):
    """The dispatcher of `make_backward`'s function, for a slope whose pullback it calls."""
    own = slope.inplace, slope.structure, slope.y, slope.args
    content = "sweep", *content_of(problem), problem.checkpoints, *own, by_args

    def sweep(y0, others, ts, records, given, seed, args, shadows, moving, settings):
        raise NotImplementedError(content)

    def choose(*argument_types):
        steps = steps_from_marks(problem) if problem.checkpoints else ALL_RECORDED
        adjoint = step_adjoint(problem.tableau, problem.inplace)
        backward = make_backward(adjoint, problem.inplace, problem.until_output, steps)
        return _sweep(backward, problem.fun, slope.pullback(by_args))

    origin = make_sweep, (problem, slope, by_args)
    return generic(sweep, content, choose, origin, around=functions_of(problem))


def _sweep(backward, fun, pull):
    def sweep(y0, others, ts, records, given, seed, args, shadows, moving, settings):
        return backward(
            fun, pull, y0, others, ts, records, given, seed, args, shadows, moving, settings
        )

    return sweep


class PullSource(Arguments):
    """The code of the pullback for given types, under construction."""

    def __init__(self, problem, settings, wrt, adjoint, argument_types):
        args = argument_types[0]
        super().__init__(types.unliteral(args[2]) if len(args) > 2 else types.Tuple(()))
        self.problem, self.settings, self.wrt, self.adjoint = problem, settings, wrt, adjoint
        _, self.shadows, self.seed, *self.records = self.types = argument_types
        self.y0, self.ts = args[0], args[1]  # a slice of a tuple of equal types is no tuple
        self.common = common_dual(cpu_target.typing_context, argument_types)
        self.by_args = 2 in wrt
        self.lines = []

    def write(self, recorded):
        name = "args, shadows, seed" + ", records" * len(self.records)
        self.namespace.update(
            plain=plain,
            uniform=uniform,
            add_into=add_into,
            settings=as_passed(self.settings),
        )
        if not self.records:
            self.namespace["recorded"] = recorded
            given = ", ".join(f"args[{k}]" for k in range(2 + bool(self.p)))
            self.lines.append(f"records = recorded({given})[1]")
        self.lines += ["records, ys = records", "ts = uniform(args[1])"]
        slope = self._slope()
        first = 3 if self.problem.inplace else 2
        trees = enumerate(self.trees() if self.by_args else ())
        moved = [k for k, tree in trees if _is_differentiated(tree)]
        warn_of_jumps(self.problem.fun, moved, first, self.problem.known)
        self._arguments(slope)
        self._go_back(slope)
        parts = [self._start(), self._times(), self._totals()][: 2 + bool(self.p)]
        returned = f"return ys, ({', '.join(parts)})"
        text = "\n".join(map(indented, [*self.lines, returned]))
        return define(f"def pull({name}):\n{text}\n", self.namespace)

    def _go_back(self, slope):
        """Lines that give `by_start`, a table of one row, and `totals`, by the numbers in the arguments."""
        self.namespace["sweep"] = make_sweep(self.problem, slope, self.by_args or self.own)
        solved_with = "plain(args[2])" if self.p else "()"
        self.lines.append(f"moving = {self._moving()}")
        self.lines.append(
            "by_start, totals = sweep(args[0], (seed, given), ts, records, "
            f"{solved_with}, seed, given, given_shadows, moving, settings)"
        )
        self._moved()

    def _slope(self):
        y0, given = primal_type(self.y0), tuple(map(primal_type, self.given))
        scalar = primal_type(solution_scalar(cpu_target.typing_context, self.y0, ()))
        in_array = self.problem.inplace or isinstance(y0, types.Array)
        y = vector_type(scalar) if in_array else types.UniTuple(scalar, len(components_of(y0)))
        return Slope(self.problem.fun, self.problem.inplace, y0, y, given)

    # -- the further arguments ---------------------------------------------------------------------

    def _arguments(self, slope):
        """Lines that make the arguments of one scalar type, and their shadows."""
        self.own = own = not self.by_args and slope.writes_to_args()
        shadows = []
        for j, tree in enumerate(self.trees()):
            if own:
                shadows.append(self.own_shadows(tree, self.common))
            elif self.by_args and has_arrays(tree):
                shadows.append("shadows[2]" if self.single else f"shadows[2][{j}]")
            else:
                shadows.append("None")
        self.lines.append(f"given = {self.raised_to(self.common, self.by_args or self.own)}")
        self.lines.append(f"given_shadows = {tuple_of(shadows)}")

    def _moving(self):
        """Source of what is asked for as `moving`: arguments, shadows, and room for states."""
        if not self.adjoint.moves:
            return "None"
        tag = 1 + max((dual.tag for ty in self.types for dual in duals_in(ty)), default=-1)
        self.level = Dual(self.common or types.float64, 1, tag)
        others = types.BaseTuple.from_types([self.seed, self.p])
        scalar = solution_scalar(cpu_target.typing_context, self.y0, others)
        count = "len(args[0])" if isinstance(self.y0, types.Array) else len(components_of(self.y0))
        room = f"np.empty(({SCRATCH}, {count}), {self.dtype(Dual(scalar, 1, tag))})"
        shadows = ["None"] * len(self.given)
        if self.by_args or self.own:
            shadows = [self.own_shadows(tree, self.level) for tree in self.trees()]
        return (
            f"({self.raised_to(self.level, self.by_args or self.own)}, {tuple_of(shadows)}, {room})"
        )

    def _moved(self):
        """Lines that add how the cotangents of arrays move to their shadows."""
        if not self.adjoint.moves or not self.by_args:
            return
        self.namespace["parts"] = parts
        for j, ty in enumerate(self.given):
            shadow = "shadows[2]" if self.single else f"shadows[2][{j}]"
            moved = leaves(parse(ty, f"moving[1][{j}]"))
            for leaf, other in zip(leaves(parse(ty, shadow)), moved, strict=True):
                if leaf.kind == "array":
                    self.lines.append(f"add_into({leaf.source}, parts({other.source})[..., 1])")

    # -- what comes of it --------------------------------------------------------------------------

    def _start(self):
        """Source of the cotangent of y0; that of an array is added to its shadow."""
        if 0 not in self.wrt:
            return "None"
        tree = parse(self.y0, "shadows[0]")
        numbers = {}
        for i, leaf in enumerate(leaves(tree)):
            if leaf.kind == "array":
                self.lines.append(f"add_into({leaf.source}, by_start[0])")
            elif leaf.kind == "scalar":
                numbers[id(leaf)] = self.cast(f"by_start[0, {i}]", self._scalar(leaf.type))
        return render(tree, lambda leaf: numbers.get(id(leaf), "None"), self.namespace)

    def _scalar(self, ty):
        return ty if self.common is None else with_base(self.common, base_scalar(ty))

    def _times(self):
        """Source of the cotangents of the times."""
        if 1 not in self.wrt:
            return "None"
        check_mass_of_times(self.settings.mass)
        self.namespace["by_times"] = make_by_times(self.problem, self.settings)
        self.lines.append(
            "by_time = by_times(args[0], (seed, given), ts, ys, seed, by_start, given)[:, 0].real"
        )
        tree = parse(self.ts, "shadows[1]")
        numbers = {}
        for k, leaf in enumerate(leaves(tree)):
            if leaf.kind == "array":
                self.lines.append(f"add_into({leaf.source}, by_time)")
            elif leaf.kind == "scalar":
                numbers[id(leaf)] = self.cast(f"by_time[{k}]", self._scalar(leaf.type))
        return render(tree, lambda leaf: numbers.get(id(leaf), "None"), self.namespace)

    def _totals(self):
        """Source of the cotangents of the numbers in the further arguments."""
        if not self.by_args:
            return "None"
        trees = list(self.trees())
        found = [leaf for tree in trees for leaf in leaves(tree) if leaf.kind == "scalar"]
        sources = self._sources_of_totals([leaf.type for leaf in found])
        numbers = {
            id(leaf): self.cast(source, self._scalar(leaf.type))
            for leaf, source in zip(found, sources, strict=True)
        }
        parts = [
            render(tree, lambda leaf: numbers.get(id(leaf), "None"), self.namespace)
            for tree in trees
        ]
        return parts[0] if self.single else f"({''.join(part + ', ' for part in parts)})"

    def _sources_of_totals(self, scalars):
        """Source of the cotangent of each number in the further arguments."""
        return [f"totals[{k}]" for k in range(len(scalars))]


def _is_differentiated(tree):
    return any(leaf.kind != "constant" for leaf in leaves(tree))
