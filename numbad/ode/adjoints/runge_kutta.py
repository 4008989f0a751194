"""The adjoint of an explicit Runge-Kutta step.

With stages Y_i = y + h sum_j a_ij k_j, k_i = f(t + c_i h, Y_i), the new state y + h sum_i b_i k_i and
outputs y + h sum_i b_i(theta) k_i, the cotangents are, from the last stage to the first,

    kbar_i = h (b_i lam + sum b_i(theta) v + sum_j a_ji Ybar_j),   Ybar_i = (df/dy)^T kbar_i,

and that of y is lam + sum v + sum_i Ybar_i. W. W. Hager, "Runge-Kutta methods in optimal control and
the transformed adjoint system", Numerische Mathematik 87 (2000), doi:10.1007/s002110000178.
"""

from functools import cache

from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.ode.adjoints.slopes import StagePull
from numbad.ode.adjoints.step_adjoint import StepAdjoint, step_adjoint
from numbad.ode.compiling import inlined
from numbad.ode.emit import Emitter
from numbad.ode.rhs import RightHandSide
from numbad.ode.state import combined_state
from numbad.ode.step import _horner
from numbad.ode.tableau import Tableau


@step_adjoint.register
@cache
def _(tableau: Tableau, inplace):
    begin, output = _make_begin(tableau), _make_output(tableau)
    last = tableau.stages - tableau.first_same_as_last
    replay = _make_replay(tableau, RightHandSide(inplace), last)
    pull_last = _make_pull(tableau, range(last, tableau.stages))
    pull_others = _make_pull(tableau, range(last))

    @inlined
    def step(fun, pull, work, t, t_new, h, y, y_new, bars, seen, structure, args, shadows, totals):
        states = replay(fun, work, t, t_new, h, y, structure, args)
        if seen:  # a last stage that is the next step's first has no weight but in outputs
            bars, totals = pull_last(
                pull, work, t, t_new, h, (y_new,), bars, structure, args, shadows, totals
            )
        bars, totals = pull_others(
            pull, work, t, t_new, h, states, bars, structure, args, shadows, totals
        )
        return bars[0], totals

    return StepAdjoint(_Rows(tableau).count, begin, output, step)


class _Rows:
    """Which rows of the workspace are for what."""

    def __init__(self, tableau):
        self.stages = tableau.stages
        self.count = 3 * self.stages + 3

    def state(self, i):
        return i

    def slope(self, i):
        return self.stages + i

    def bar(self, i):
        """That of y where i is 0, then those of the stages."""
        return 2 * self.stages + i

    def for_pull(self):
        return self.count - 2, self.count - 1


def _weighted(emitter, y, row, base, factor, vector):
    """`base + factor * vector`, or the latter alone."""
    if base is None:
        return emitter.make_state(y, row, lambda i: factor * vector[i], vector)
    return emitter.make_state(y, row, lambda i: base[i] + factor * vector[i], vector)


def _make_begin(tableau):
    rows = _Rows(tableau)

    @intrinsic
    def begin(typingctx, work, h, lam):
        result = types.UniTuple(lam, tableau.stages + 1)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            step, old = (
                emitter.scalar(types.float64, arguments[1]),
                emitter.vector(lam, arguments[2]),
            )
            row = [builder.extract_value(arguments[0], rows.bar(i)) for i in range(len(result))]
            bars = [emitter.copied(lam, row[0], arguments[2])]
            for i, b in enumerate(tableau.b):
                factor = emitter.constant(b) * step
                bars.append(_weighted(emitter, lam, row[i + 1], None, factor, old))
            value = context.make_tuple(builder, result, bars)
            return impl_ret_borrowed(context, builder, result, value)

        return result(work, h, lam), codegen

    return begin


def _make_output(tableau):
    rows = _Rows(tableau)

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
                for row in tableau.interpolant
            ]
            found = []
            for i, (factor, bar) in enumerate(
                zip(factors, emitter.members(bars, bars_value), strict=True)
            ):
                row = builder.extract_value(work_value, rows.bar(i))
                moved = factor is not None
                found.append(_weighted(emitter, v, row, bar, factor, given) if moved else bar.value)
            value = context.make_tuple(builder, bars, found)
            return impl_ret_borrowed(context, builder, bars, value)

        return bars(work, bars, theta, h, v), codegen

    return output


def _time(emitter, tableau, i, t, t_new, step):
    if tableau.c[i] == 1.0:
        return t_new
    return (emitter.scalar(types.float64, t) + emitter.constant(tableau.c[i]) * step).value


def _make_replay(tableau, rhs, count):
    """The compiled `replay`: the states of the first `count` stages."""
    rows = _Rows(tableau)

    @intrinsic
    def replay(typingctx, fun, work, t, t_new, h, y, structure, args):
        types_of_call = work.dtype, t, y, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)
        result = types.UniTuple(y, count)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            _, work_value, t, t_new, h, y_value, _, args = arguments
            old, step = emitter.vector(y, y_value), emitter.scalar(types.float64, h)
            states, slopes = [y_value], []
            for i in range(1, count):
                row = builder.extract_value(work_value, rows.slope(i - 1))
                time = _time(emitter, tableau, i - 1, t, t_new, step)
                slopes.append(emitter.vector(y, call.emit(emitter, row, time, states[-1], args)))
                used = zip(tableau.a[i], slopes, strict=True)
                terms = [(emitter.constant(a), k) for a, k in used if a != 0.0]
                row = builder.extract_value(work_value, rows.state(i))
                states.append(combined_state(emitter, y, row, old, step, terms))
            value = context.make_tuple(builder, result, states)
            return impl_ret_borrowed(context, builder, result, value)

        return result(fun, work, t, t_new, h, y, structure, args), codegen

    return replay


def _make_pull(tableau, stages):
    """The compiled way back through some stages, given their states."""
    rows = _Rows(tableau)

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
            buffers = [builder.extract_value(work_value, row) for row in rows.for_pull()]
            found = [builder.extract_value(bar_values, i) for i in range(len(bars))]
            sums = [
                emitter.scalar(ty, builder.extract_value(total, k)) for k, ty in enumerate(totals)
            ]
            for place, i in reversed(list(enumerate(stages))):
                state = builder.extract_value(state_values, place)
                time = _time(emitter, tableau, i, t, t_new, step)
                moved, added = called.emit(
                    emitter, time, state, found[i + 1], buffers, args, shadows
                )
                sums = [
                    old + emitter.scalar(ty, new)
                    for old, new, (_, ty) in zip(sums, added, called.totals(), strict=True)
                ]
                factors = [1.0, *tableau.a[i]]
                for j, factor in enumerate(factors):
                    if factor == 0.0:
                        continue
                    size = emitter.constant(1.0) if j == 0 else emitter.constant(factor) * step
                    row = builder.extract_value(work_value, rows.bar(j))
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
