"""Symplectic methods: the two halves of a state, positions and momenta, moved in turn.

For y = (q, p) with dq/dt = g(t, p), dp/dt = f(t, q), a step is a composition of exact flows of the two
parts: a drift q := q + d h g(t, p), a kick p := p + k h f(t, q), and so on. Energy then oscillates for ever
instead of drifting. E. Hairer, C. Lubich, G. Wanner, "Geometric Numerical Integration", 2nd ed., Springer
2006, I.1.4 and II.5.
"""

from dataclasses import dataclass
from functools import cache

from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.forward.access import primal
from numbad.ode import failure
from numbad.ode.compiling import inlined
from numbad.ode.emit import Emitter
from numbad.ode.rhs import make_evaluate
from numbad.ode.state import make_workspace, size_of
from numbad.ode.step import NO_MEMORY, Steps, buffers_needed, nothing_counted, nothing_prepared
from numbad.ode.tableau import Tableau, cubic_hermite

DRIFT, KICK = False, True


@dataclass(frozen=True, kw_only=True)
class Symplectic(Tableau):
    """A composition of drifts and kicks: `parts` are (share of the step, DRIFT or KICK).

    What interpolation weighs are the slopes at both ends and the mean slope of the step.
    """

    parts: tuple

    def evaluations(self, tried, accepted, extended):
        return tried * (len(self.parts) - 1) + accepted


def composition(name, source, order, parts):
    """The method of a composition, with the cubic through the ends of a step."""
    return Symplectic(
        name=name,
        source=source,
        order=order,
        embedded_order=0,
        dense_order=3,
        a=((), (0.0,)),
        b=(0.0, 1.0),
        error=(),
        c=(0.0, 0.0),
        interpolant=cubic_hermite((0.0, 1.0), closing=True),
        parts=parts,
    )


def symplectic_steps(method, rhs):
    """The compiled pieces of a step of a symplectic method."""
    rows, scratch = make_workspace(buffers_needed(method)), method.slopes
    evaluate = make_evaluate(rhs)
    with_positions, with_momenta = make_shifted(DRIFT), make_shifted(KICK)
    same_drift, same_kick = make_is_same(DRIFT), make_is_same(KICK)

    @inlined
    def workspace(y, args, settings):
        return rows(y)

    @inlined
    def examine(fun, work, t, y, k0, structure, args, settings):
        """At a state beside y: the slope of a half must be the same where that half alone is as in y."""
        if size_of(y) % 2:
            return failure.ODD_STATE
        there = with_momenta(work[scratch + 1], y)
        of_positions = evaluate(fun, work[1], t, there, structure, args)
        there = with_positions(work[scratch + 1], y)
        of_momenta = evaluate(fun, work[2], t, there, structure, args)
        both = with_momenta(work[scratch + 1], there)
        slope = evaluate(fun, work[scratch], t, both, structure, args)
        separable = same_drift(slope, of_positions) and same_kick(slope, of_momenta)
        return failure.RUNNING if separable else failure.NOT_SEPARABLE

    return Steps(
        workspace,
        nothing_prepared,
        make_symplectic_step(method, rhs),
        examine,
        nothing_counted,
        NO_MEMORY,
    )


@cache
def make_symplectic_step(method, rhs):
    """The compiled `step`, as of an explicit method; its stages are the first slope and the mean one."""

    @intrinsic
    def step(typingctx, fun, work, t, t_new, h, y, k0, structure, args):
        types_of_call = work[0], t, y, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)
        result = types.Tuple((y, types.UniTuple(y, 2)))

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            _, work, t, _, h, old, slope, _, args = arguments
            size, start = (emitter.scalar(types.float64, x) for x in (h, t))
            scratch, row = (builder.extract_value(work, method.slopes + k) for k in (0, 1))
            state = emitter.copied(y, row, old)
            passed = {DRIFT: 0.0, KICK: 0.0}  # the times of positions and of momenta
            first = slope
            for number, (share, part) in enumerate(method.parts):
                if number:
                    at = (start + emitter.constant(passed[not part]) * size).value
                    slope = call.emit(emitter, scratch, at, state, args)
                factor = emitter.constant(share) * size
                state = _moved(emitter, y, row, state, factor, slope, part)
                passed[part] += share
            ends = [emitter.vector(y, x) for x in (old, state)]
            mean = emitter.make_state(
                y,
                builder.extract_value(work, 1),
                lambda i: (ends[1][i] - ends[0][i]) / size,
                ends[0],
            )
            both = [state, context.make_tuple(builder, result[1], [first, mean])]
            value = context.make_tuple(builder, result, both)
            return impl_ret_borrowed(context, builder, result, value)

        return result(fun, work, t, t_new, h, y, k0, structure, args), codegen

    return step


def _moved(emitter, y, row, state, factor, slope, of_second):
    """The state, of which one half is moved along a slope."""
    base, along = emitter.vector(y, state), emitter.vector(y, slope)
    is_in = _half(emitter, base, of_second)
    zero = emitter.constant(0.0).value

    def component(i):
        chosen = is_in(i)
        if isinstance(chosen, bool):
            return base[i] + factor * along[i] if chosen else base[i]
        share = emitter.builder.select(chosen, factor.value, zero)
        return base[i] + emitter.scalar(types.float64, share) * along[i]

    return emitter.make_state(y, row, component, base)


def _half(emitter, vector, of_second):
    """The function that tells whether a component is in the half: a bool, or an LLVM value."""
    builder, size = emitter.builder, vector.size()
    half = builder.sdiv(size, size.type(2))

    def is_in(i):
        if isinstance(i, int):
            return (i >= vector.count // 2) == of_second
        return builder.icmp_signed(">=" if of_second else "<", i, half)

    return is_in


@cache
def make_shifted(of_second):
    """The compiled `shifted(buffer, y)`: a state of which one half is moved by about a thousandth."""

    @intrinsic
    def shifted(typingctx, buffer, y):
        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            near, base = emitter.constant(1e-3), emitter.vector(y, arguments[1])
            is_in = _half(emitter, base, of_second)

            def component(i):
                chosen = is_in(i)
                if isinstance(chosen, bool):
                    return base[i] + near * base[i] + near if chosen else base[i]
                zero = emitter.constant(0.0).value
                share = emitter.scalar(types.float64, builder.select(chosen, near.value, zero))
                return base[i] + share * base[i] + share

            moved = emitter.make_state(y, arguments[0], component, base)
            return impl_ret_borrowed(context, builder, y, moved)

        return y(buffer, y), codegen

    return shifted


@cache
def make_is_same(of_second):
    """The compiled `is_same(first, second)`: whether one half of two slopes has the same values."""

    @intrinsic
    def is_same(typingctx, first, second):
        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            pair = [emitter.vector(first, x) for x in arguments]
            is_in, zero = _half(emitter, pair[0], of_second), emitter.constant(0.0)

            def difference(i):
                values = [emitter.call(primal, vector[i]) for vector in pair]
                size, chosen = emitter.call(abs, values[0] - values[1]), is_in(i)
                if isinstance(chosen, bool):
                    return size if chosen else zero
                return emitter.scalar(types.float64, builder.select(chosen, size.value, zero.value))

            total = emitter.sum_over(pair[0], difference)
            return builder.fcmp_ordered("==", total.value, zero.value)

        return types.boolean(first, second), codegen

    return is_same
