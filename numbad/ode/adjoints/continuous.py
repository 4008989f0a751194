"""Continuous adjoints as pullbacks: the adjoint system, solved backwards from output to output.

At each output its cotangent is added to lambda; what lambda is at the start is the cotangent of y0. The
solution that the system needs comes from its dense output ("interpolating", "gauss", "quadrature"), or is
integrated backwards along, from each output anew ("backsolve"). The integral of lambda^T df/dp is a part of
the system's state ("interpolating", "backsolve"), or is taken by Gauss quadrature of each step of lambda
("gauss"), or when all of lambda is known ("quadrature"). The names are those of C. Rackauckas et al.,
"Universal differential equations for scientific machine learning", 2020, arXiv:2001.04385.
"""

import numpy as np
from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.memo import built_once
from numbad.errors import UnsupportedError
from numbad.forward.access import primal
from numbad.forward.dual import base_scalar
from numbad.forward.refuse import told
from numbad.ode import failure
from numbad.ode.adjoints.adjoint_system import (
    add_to_arrays,
    adjoint_slope,
    count_numbers,
    kernel,
    number_source,
    rows_of_scratch,
    width_of,
)
from numbad.ode.adjoints.back_in_time import make_backwards
from numbad.ode.adjoints.discrete import PullSource
from numbad.ode.adjoints.left_in_args import checked
from numbad.ode.adjoints.output_jumps import make_jump, transposed_mass, with_identity
from numbad.ode.adjoints.sensitivities import (
    gradient_in_duals,
    have_duals,
    solution_without_record,
)
from numbad.ode.adjoints.shadow_arguments import has_arrays, tuple_of
from numbad.ode.compiling import generic, inlined
from numbad.ode.fixed_times import check
from numbad.ode.integrate import (
    Problem,
    as_passed,
    content_of,
    dispatcher_of,
    make_integrate,
)
from numbad.ode.record import make_record
from numbad.ode.sparse_mass import add_turned_mass
from numbad.ode.sparsity_pattern import transposed
from numbad.ode.state import (
    array_state,
    solution_scalar,
    tuple_or_array_state,
    vector_type,
)
from numbad.ode.tables import enlarged
from numbad.ode.times import check_times, time_at, uniform
from numbad.operators.argument_structure import leaves


@built_once(dispatcher_of)
def tracked(problem, settings, solve):
    """The dispatcher `solve(y0, ts, args) -> (ys, (track, ys))`: the solution, and its dense output.

    `track` is that of `state_at`; of "backsolve", which needs none, it is None.
    """
    content = "tracked", *content_of(problem), problem.adjoint, tuple(settings)

    def solve_tracked(y0, ts, args=()):
        raise NotImplementedError(content)

    def choose(y0, ts, args):
        if have_duals(ts):
            return solution_without_record(solve)
        twice, passed, _ = checked(problem, y0, args)
        if problem.adjoint == "backsolve":
            return _solve_alone(make_integrate(twice), as_passed(settings), passed)
        aims = int(problem.until_output)
        return _solve_tracked(make_record(twice), as_passed(settings), aims, passed)

    return generic(solve_tracked, content, choose, (tracked, (problem, settings, solve)))


def _solve_alone(integrate, settings, passed):
    def solve(y0, ts, args=()):
        ys, status, t, _ = integrate(y0, uniform(ts), passed(args), settings)
        check(status, t)
        return ys, (None, ys)

    return solve


def _solve_tracked(record, settings, aims, passed):
    outputs_of = inlined(lambda ts: ts[: len(ts) - 1]) if aims else inlined(lambda ts: ts)

    def solve(y0, given_ts, args=()):
        ts = uniform(given_ts)
        status, t = check_times(ts, aims)
        check(status, t)
        span = time_at(ts, 0), time_at(ts, len(ts) - 1)
        outputs = outputs_of(ts)
        found = record(y0, span, outputs, False, True, passed(args), settings)
        check(found[0], found[1])
        ys = found[4]
        if aims:  # what steps aimed at is no output, but has a row
            ys = enlarged(ys, len(ts))
            ys[len(outputs)] = ys[0]
        return ys, ((found[5], found[6], found[7], np.zeros(1, np.int64)), ys)

    return solve


@built_once(dispatcher_of)
def continuous_pullback(problem, settings, wrt, solved, solve):
    """The dispatcher `pull(args, shadows, seed) -> (ys, adjoints)` of a solver.

    Where it is `solved`, it takes what `tracked` gave beside the solution as fourth argument.
    """
    content = "continuous", *content_of(problem), problem.adjoint, tuple(settings), wrt

    if solved:

        def pull(args, shadows, seed, records):
            raise NotImplementedError(content)

    else:

        def pull(args, shadows, seed):
            raise NotImplementedError(content)

    def choose(*argument_types):
        if have_duals(argument_types[0][1]):
            return gradient_in_duals(solve, wrt, *argument_types)
        source = _PullSource(problem, settings, wrt, None, argument_types)
        return source.write(tracked(problem, settings, solve))

    origin = continuous_pullback, (problem, settings, wrt, solved, solve)
    return generic(pull, (*content, solved), choose, origin)


class _PullSource(PullSource):
    """The code of the pullback for given types, under construction."""

    def _go_back(self, slope):
        kind = self.problem.adjoint
        scalar = solution_scalar(
            cpu_target.typing_context, self.y0, types.BaseTuple.from_types([self.seed, self.p])
        )
        if isinstance(base_scalar(scalar), types.Complex):
            raise told(
                UnsupportedError(
                    f'the adjoint {kind!r} of complex states. Way out: adjoint="discrete"'
                )
            )
        writes = slope.writes_to_args()  # what is written has a cotangent on the way back
        along = kind == "backsolve"
        apart = kind in ("gauss", "quadrature") and not writes
        inside = self.by_args and not apart
        in_duals = self.problem.tableau.is_implicit  # time is moved as well
        raises = inside or slope.writes_to_args(in_duals)
        system_pull = slope.pullback(raises)
        system_slope = adjoint_slope(self.problem, system_pull, inside, raises, along)
        system = Problem(system_slope, self.problem.tableau, True, False, "auto", True)
        pull = slope.pullback(True) if self.by_args and apart else None
        refined = kind == "quadrature" and pull is not None
        backwards = make_backwards(system, self.problem, pull, refined)
        numbers = [leaf for tree in self.trees() for leaf in leaves(tree) if leaf.kind == "scalar"]
        count = sum(width_of(leaf.type) for leaf in numbers)
        self.namespace.update(
            backwards=backwards,
            as_state=array_state if self.problem.inplace else tuple_or_array_state,
            time_at=time_at,
            add_row=add_row,
            add_from=add_from,
            add_turned_mass=add_turned_mass,
            put_row=put_row,
            scale_of=scale_of,
            count_numbers=count_numbers,
            add_to_arrays=add_to_arrays,
            check_back=check_back,
        )
        shadows = ["None"] * len(self.given)
        if raises or refined:
            shadows = [self.own_shadows(tree, self.common) for tree in self.trees()]
        dtype = self.dtype(scalar)
        first, rest = self._settings(inside)
        inner = f"{count} + count_numbers(own)" if inside else "0"
        track = "None" if along else "(records[0], records[1], records[2], np.zeros(1, np.int64))"
        self.lines += [
            f"own = {tuple_of(shadows)}",
            "like = as_state(args[0], (seed, given))",
            "n = ys.shape[1]",
            f"offset = {2 if along else 1} * n",
            f"z = np.empty(offset + {inner}, {dtype})",
            "z[:] = 0.0",
            f"sums = np.empty({count}{' + count_numbers(own)' * refined}, {dtype})",
            "sums[:] = 0.0",
            f"track = {track}",
            f"rows = np.empty(({rows_of_scratch(vector_type(scalar))}, n), {dtype})",
            "extras = args[0], like, given, own, rows, track, np.zeros(1)",
            f"into = {'given_shadows' if pull is not None and not refined else 'own'}, sums",
            "hint, scale = 0.0, scale_of(seed, ys)",
            *(["scale = 0.0, scale[1]"] if self.settings.mass is not None else []),
            f"for row in range(len(ts) - {1 + int(self.problem.until_output)}, 0, -1):",
            "    t, before = time_at(ts, row), time_at(ts, row - 1)",
            *self._jump(slope, writes),
            *(["    put_row(z, n, ys, row)"] if along else []),
            f"    now = {first} if hint == 0.0 else {rest}",
            "    status, t, hint = backwards(z, t, before, hint, extras, into, now)",
            "    check_back(status, t)",
            f"by_start = np.empty((1, n), {dtype})",
            "by_start[:] = 0.0",
            "add_turned_mass(by_start[0], 1.0, mass, z[:n])",
            "add_row(by_start[0], seed, 0)",
            *(["add_from(sums, z, offset)"] if inside else []),
            "totals = sums",
        ]
        if any(map(has_arrays, self.trees())):
            if inside:
                self.lines.append(f"add_to_arrays(z, offset + {count}, given_shadows)")
            if refined:
                self.lines.append(f"add_to_arrays(sums, {count}, given_shadows)")

    def _sources_of_totals(self, scalars):
        place = 0
        for scalar in scalars:
            yield number_source(scalar, "totals", place)
            place += width_of(scalar)

    def _jump(self, slope, writes):
        """Lines for what an output does to lambda."""
        mass = self.settings.mass
        if mass is None:
            return ["    add_row(z, seed, row)"]
        by_args = slope.pullback(True) if self.by_args else None
        jump = make_jump(mass, slope.pullback(writes), by_args)
        self.namespace.update(jump=jump, larger_scale=larger_scale)
        shadows = ["None"] * len(self.given)
        if writes:
            shadows = [self.own_shadows(tree, self.common) for tree in self.trees()]
        extras = f"(args[0], like, given, {tuple_of(shadows)}, rows)"
        return [
            f"    jump(z, seed, row, t, ys, {extras}, (given_shadows, sums))",
            "    scale = larger_scale(scale, z, n)",
        ]

    def _settings(self, inside):
        """Source of the settings of the adjoint's first solution, and of those that take a hint."""
        own = self.settings
        sparsity = None if own.sparsity is None else transposed(own.sparsity)
        mass = transposed_mass(own.mass)
        base = own._replace(
            rtol=smallest(own.rtol), atol=smallest(own.atol), mass=mass, sparsity=sparsity
        )
        self.namespace.update(
            Settings=type(own),
            base=as_passed(base),
            mass=as_passed(own).mass,
            tolerance=tolerance,
            with_identity=with_identity,
        )
        hinted = "base.first_step" if not self.problem.tableau.adaptive else None
        found = []
        for first_step in ("0.0", "1.0"):
            changed = {"first_step": hinted or first_step, "atol": "tolerance(base, scale)"}
            if inside and mass is not None:
                changed["mass"] = "with_identity(base.mass, len(z))"
            fields = ", ".join(changed.get(name, f"base.{name}") for name in own._fields)
            found.append(f"Settings({fields})")
        return found


def smallest(given):
    """The smallest of tolerances."""
    return min(given) if isinstance(given, tuple) else given


@kernel
def scale_of(seed, ys):
    """The largest cotangent, and the largest component of the solution."""
    cotangent = largest = 0.0
    for i in range(ys.shape[0]):
        for k in range(ys.shape[1]):
            cotangent = max(cotangent, abs(primal(seed[i, k])))
            largest = max(largest, abs(primal(ys[i, k])))
    return cotangent, largest


@kernel
def larger_scale(scale, z, n):
    """The same with lambda for the cotangents, which has other units beside a mass matrix."""
    cotangent, largest = scale
    for k in range(n):
        cotangent = max(cotangent, abs(primal(z[k])))
    return cotangent, largest


SMALLEST_SHARE = 1e-15
TINY = 1e-290  # keeps the scaled error of cotangents that are all zero from 0 / 0


@kernel
def tolerance(settings, scale):
    """The absolute tolerance of the adjoint: the share that `atol` is of the solution, of the cotangents."""
    cotangent, largest = scale
    share = settings.atol / largest if largest > 0.0 else 0.0
    if 0.0 < settings.rtol < share:
        share = settings.rtol
    return max(share, SMALLEST_SHARE) * cotangent + TINY


@kernel
def add_row(z, table, row):
    for k in range(table.shape[1]):
        z[k] += table[row, k]


@kernel
def add_from(target, z, first):
    for k in range(len(target)):
        target[k] += z[first + k]


@kernel
def put_row(z, first, table, row):
    for k in range(table.shape[1]):
        z[first + k] = table[row, k]


@kernel
def check_back(status, t):
    """Raise what tells why the adjoint stopped early."""
    if status != failure.RUNNING:
        raise failure.SolveError(status | failure.BACKWARDS, t)
