"""The adjoint of an explicit Runge-Kutta step.

With stages Y_i = y + h sum_j a_ij k_j, k_i = f(t + c_i h, Y_i), the new state y + h sum_i b_i k_i and
outputs y + h sum_i b_i(theta) k_i, the cotangents are, from the last stage to the first,

    kbar_i = h (b_i lam + sum b_i(theta) v + sum_j a_ji Ybar_j),   Ybar_i = (df/dy)^T kbar_i,

and that of y is lam + sum v + sum_i Ybar_i. W. W. Hager, "Runge-Kutta methods in optimal control and
the transformed adjoint system", Numerische Mathematik 87 (2000), doi:10.1007/s002110000178.
"""

from functools import cache

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.ode.adjoints.slopes import StagePull
from numbad.ode.adjoints.step_adjoint import StepAdjoint
from numbad.ode.compiling import inlined
from numbad.ode.emit import Emitter
from numbad.ode.known_switches import ALL_KNOWN
from numbad.ode.rhs import RightHandSide
from numbad.ode.state import combined_state, make_workspace
from numbad.ode.step import _horner


@cache
def runge_kutta_adjoint(tableau, inplace):
    """The `StepAdjoint` of an explicit method."""
    slopes = SlopesOfStep(tableau)
    rhs = RightHandSide(inplace, ALL_KNOWN)
    replay = _make_replay(slopes, rhs)
    replay_late = _make_replay_late(slopes, rhs)
    pull_late = _make_pull(slopes, range(slopes.core, slopes.count))
    pull_core = _make_pull(slopes, range(slopes.core))

    rows = make_workspace(slopes.rows)

    @inlined
    def workspace(initial, args, settings):
        return rows(initial)

    @inlined
    def step(field, work, taken, bars, seen, totals):
        fun, pull, structure, args, shadows, _ = field
        t, t_new, h, y, y_new, _ = taken
        states, values = replay(fun, work, t, t_new, h, y, structure, args)
        if seen:
            late = replay_late(fun, work, t, t_new, h, y, y_new, states, values, structure, args)
            bars, totals = pull_late(
                pull, work, t, t_new, h, late, bars, structure, args, shadows, totals
            )
        bars, totals = pull_core(
            pull, work, t, t_new, h, states, bars, structure, args, shadows, totals
        )
        return bars[0], totals

    begin, output = make_begin(slopes), make_output(slopes)
    return StepAdjoint(workspace, begin, output, step)


class SlopesOfStep:
    """The slopes of a step in the order of their evaluation, and their rows in the workspace.

    Those behind the first `core` have no weight but in outputs within the step: the slope at its end,
    which is the next step's first, and further stages for dense output.
    """

    def __init__(self, tableau):
        self.core = tableau.stages - tableau.first_same_as_last
        self.count = tableau.slopes
        closing = () if tableau.first_same_as_last else (tableau.b,)
        self.a = (*tableau.a, *closing, *tableau.extra_a)
        self.c = (*tableau.c, *(1.0 for _ in closing), *tableau.extra_c)
        self.b = tableau.b
        self.interpolant = tableau.interpolant
        self.rows = 3 * self.count + 3

    def state(self, i):
        return i

    def value(self, i):
        return self.count + i

    def bar(self, i):
        """That of y where i is 0, then those of the slopes."""
        return 2 * self.count + i

    def for_pull(self):
        return self.rows - 2, self.rows - 1

    def time(self, emitter, i, t, t_new, step):
        if self.c[i] == 0.0:
            return t
        if self.c[i] == 1.0:
            return t_new
        return (emitter.scalar(types.float64, t) + emitter.constant(self.c[i]) * step).value


def _weighted(emitter, y, row, base, factor, vector):
    """`base + factor * vector`, or the latter alone."""
    if base is None:
        return emitter.make_state(y, row, lambda i: factor * vector[i], vector)
    return emitter.make_state(y, row, lambda i: base[i] + factor * vector[i], vector)


def make_begin(slopes):
    @intrinsic
    def begin(typingctx, work, h, lam):
        result = types.UniTuple(lam, slopes.count + 1)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            step = emitter.scalar(types.float64, arguments[1])
            old = emitter.vector(lam, arguments[2])
            row = [builder.extract_value(arguments[0], slopes.bar(i)) for i in range(len(result))]
            bars = [emitter.copied(lam, row[0], arguments[2])]
            for i in range(slopes.count):
                b = slopes.b[i] if i < slopes.core else 0.0
                factor = emitter.constant(b) * step
                bars.append(_weighted(emitter, lam, row[i + 1], None, factor, old))
            value = context.make_tuple(builder, result, bars)
            return impl_ret_borrowed(context, builder, result, value)

        return result(work, h, lam), codegen

    return begin


def make_output(slopes):
    @intrinsic
    def output(typingctx, work, bars, theta, h, v):
        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            work_value, bars_value, theta_value, h_value, v_value = arguments
            fraction, step = (emitter.scalar(types.float64, x) for x in (theta_value, h_value))
            given = emitter.vector(v, v_value)
            factors = [emitter.constant(1.0)]
            factors += [
                step * _horner(emitter, row, fraction) if any(row) else None
                for row in slopes.interpolant
            ]
            found = []
            for i, (factor, bar) in enumerate(
                zip(factors, emitter.members(bars, bars_value), strict=True)
            ):
                row = builder.extract_value(work_value, slopes.bar(i))
                moved = factor is not None
                found.append(_weighted(emitter, v, row, bar, factor, given) if moved else bar.value)
            value = context.make_tuple(builder, bars, found)
            return impl_ret_borrowed(context, builder, bars, value)

        return bars(work, bars, theta, h, v), codegen

    return output


class _Replay:
    """The evaluation of slopes again, from (t, y) by h."""

    def __init__(self, emitter, slopes, call, y_type, given):
        self.emitter, self.slopes, self.call, self.y_type = emitter, slopes, call, y_type
        self.work, self.t, self.t_new, self.h, y, self.args = given
        self.y, self.step = emitter.vector(y_type, y), emitter.scalar(types.float64, self.h)

    def _row(self, i):
        return self.emitter.builder.extract_value(self.work, i)

    def value(self, i, state):
        """Slope i, at its state."""
        time = self.slopes.time(self.emitter, i, self.t, self.t_new, self.step)
        row = self._row(self.slopes.value(i))
        return self.call.emit(self.emitter, row, time, state, self.args)

    def state(self, i, values):
        """The state of slope i, from the slopes before."""
        terms = [
            (self.emitter.constant(a), self.emitter.vector(self.y_type, k))
            for a, k in zip(self.slopes.a[i], values, strict=True)
            if a != 0.0
        ]
        row = self._row(self.slopes.state(i))
        return combined_state(self.emitter, self.y_type, row, self.y, self.step, terms)


def _make_replay(slopes, rhs):
    """The compiled `replay`: the states of the core stages, and all their slopes but the last."""

    @intrinsic
    def replay(typingctx, fun, work, t, t_new, h, y, structure, args):
        types_of_call = work.dtype, t, y, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)
        parts = types.UniTuple(y, slopes.core), types.UniTuple(y, slopes.core - 1)
        result = types.Tuple(parts)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            at = _Replay(emitter, slopes, call, y, [*arguments[1:6], arguments[7]])
            states, values = [arguments[5]], []
            for i in range(1, slopes.core):
                values.append(at.value(i - 1, states[-1]))
                states.append(at.state(i, values))
            found = zip(parts, (states, values), strict=True)
            both = [context.make_tuple(builder, *part) for part in found]
            value = context.make_tuple(builder, result, both)
            return impl_ret_borrowed(context, builder, result, value)

        return result(fun, work, t, t_new, h, y, structure, args), codegen

    return replay


def _make_replay_late(slopes, rhs):
    """The compiled `replay_late`: the states of the slopes that only outputs within the step see."""

    @intrinsic
    def replay_late(typingctx, fun, work, t, t_new, h, y, y_new, states, values, structure, args):
        types_of_call = work.dtype, t, y, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)
        result = types.UniTuple(y, slopes.count - slopes.core)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            at = _Replay(emitter, slopes, call, y, [*arguments[1:6], arguments[10]])
            late, last = [arguments[6]], builder.extract_value(arguments[7], slopes.core - 1)
            known = cgutils.unpack_tuple(builder, arguments[8], slopes.core - 1)
            if slopes.count > slopes.core + 1:
                known.append(at.value(slopes.core - 1, last))
            for i in range(slopes.core + 1, slopes.count):
                known.append(at.value(i - 1, late[-1]))
                late.append(at.state(i, known))
            value = context.make_tuple(builder, result, late)
            return impl_ret_borrowed(context, builder, result, value)

        signature = result(fun, work, t, t_new, h, y, y_new, states, values, structure, args)
        return signature, codegen

    return replay_late


def _make_pull(slopes, stages):
    """The compiled way back through some stages, given their states."""

    @intrinsic
    def pull_stages(
        typingctx, pull, work, t, t_new, h, states, bars, structure, args, shadows, totals
    ):
        y = bars.dtype
        given = pull, y, structure, args, shadows
        StagePull(typingctx, *given)
        result = types.Tuple((bars, totals))

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            called = StagePull(context.typing_context, *given)
            _, work_value, t, t_new, h, state_values, bar_values, _, args, shadows, total = (
                arguments
            )
            step = emitter.scalar(types.float64, h)
            buffers = [builder.extract_value(work_value, row) for row in slopes.for_pull()]
            found = [builder.extract_value(bar_values, i) for i in range(len(bars))]
            sums = [
                emitter.scalar(ty, builder.extract_value(total, k)) for k, ty in enumerate(totals)
            ]
            for place, i in reversed(list(enumerate(stages))):
                state = builder.extract_value(state_values, place)
                time = slopes.time(emitter, i, t, t_new, step)
                moved, added = called.emit(
                    emitter, time, state, found[i + 1], buffers, args, shadows
                )
                sums = [
                    old + emitter.scalar(ty, new)
                    for old, new, (_, ty) in zip(sums, added, called.totals(), strict=True)
                ]
                factors = [1.0, *slopes.a[i]]
                for j, factor in enumerate(factors):
                    if factor == 0.0:
                        continue
                    size = emitter.constant(1.0) if j == 0 else emitter.constant(factor) * step
                    row = builder.extract_value(work_value, slopes.bar(j))
                    base = emitter.vector(y, found[j])
                    found[j] = _weighted(emitter, y, row, base, size, moved)
            sums = [emitter.cast(x, ty).value for x, ty in zip(sums, totals, strict=True)]
            both = [
                context.make_tuple(builder, bars, found),
                context.make_tuple(builder, totals, sums),
            ]
            value = context.make_tuple(builder, result, both)
            return impl_ret_borrowed(context, builder, result, value)

        signature = result(pull, work, t, t_new, h, states, bars, structure, args, shadows, totals)
        return signature, codegen

    return pull_stages
