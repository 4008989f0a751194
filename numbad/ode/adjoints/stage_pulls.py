"""What the adjoint of a Rosenbrock step does at each of its stages, on rows of tables.

`bars` has the cotangent of y in row 0 and that of stage i in row 1 + i; `states` has y of a step in row
`place` and its stages in those that follow. A table of scratch has the rows named below; `moving` is such a
table of dual numbers of one partial.
"""

from numba import njit
from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.forward.dual import Dual, build, get_partial, set_partial, split, zero_partials
from numbad.ode.adjoints.slopes import StagePull
from numbad.ode.emit import Emitter
from numbad.ode.linear import parts
from numbad.ode.sparse_mass import add_turned_mass

STATE, SEED, BY_STATE, SLOPE = range(4)
SCRATCH = 4

kernel = njit(error_model="numpy", fastmath={"contract"})


@kernel
def weigh(bars, h, b):
    """Cotangents of the stages from that of the new state, y + h sum b_i u_i."""
    for i in range(len(b)):
        for k in range(bars.shape[1]):
            bars[1 + i, k] = (h * b[i]) * bars[0, k]


@kernel
def add_output(bars, theta, h, v, interpolant):
    """Those from the cotangent of an output at t + theta h."""
    count = interpolant.shape[1]
    for k in range(len(v)):
        bars[0, k] += v[k]
    for i in range(len(interpolant)):
        weight = 0.0
        for p in range(count - 1, -1, -1):
            weight = (weight + interpolant[i, p]) * theta
        for k in range(len(v)):
            bars[1 + i, k] += (h * weight) * v[k]


@kernel
def put_state(scratch, states, place, h, a, i, bars):
    """The state of stage i, and the seed of its pullback."""
    state, seed, theta, y = scratch[STATE], scratch[SEED], bars[1 + i], states[place]
    for k in range(len(state)):
        state[k] = y[k]
        seed[k] = theta[k]
    for j in range(i):
        weight, stage = h * a[i, j], states[place + 1 + j]
        if weight != 0.0:
            for k in range(len(state)):
                state[k] += weight * stage[k]


@kernel
def put_moving(moving, states, place, h, i, bars):
    """y as it moves along stage i, and the seed."""
    state, seed = parts(moving[STATE]), parts(moving[SEED])
    theta, y, stage = bars[1 + i], states[place], states[place + 1 + i]
    for k in range(len(y)):
        state[k, 0], state[k, 1] = y[k], h * stage[k]
        seed[k, 0], seed[k, 1] = theta[k], 0.0


@kernel
def add_stage(bars, h, a, couplings, i, by_state, mass):
    """What stage i hands to the stages before and to y."""
    theta = bars[1 + i]
    for k in range(len(by_state)):
        bars[0, k] += by_state[k]
    for j in range(i):
        weight, coupling, bar = h * a[i, j], couplings[i, j], bars[1 + j]
        for k in range(len(bar)):
            bar[k] += weight * by_state[k]
        add_turned_mass(bar, coupling, mass, theta)


@kernel
def add_moved(bars, moving):
    """How the cotangent of y moves along a stage."""
    moved = parts(moving[BY_STATE])
    for k in range(len(moved)):
        bars[0, k] += moved[k, 1]


@intrinsic
def pull_at(typingctx, pull, t, dt, scratch, like, structure, args, shadows):
    """The vector-Jacobian product at (t, state): by the state into scratch, by numbers among args returned.

    Among dual numbers t moves by dt, unless it is one itself.
    """
    row = types.Array(scratch.dtype, 1, "C")
    in_array = isinstance(like, types.Array)
    y = row if in_array else types.UniTuple(scratch.dtype, len(like))
    moving = scratch.dtype != like.dtype and not isinstance(t, Dual)
    time = Dual(types.float64, 1, scratch.dtype.tag) if moving else types.unliteral(t)
    given = pull, y, structure, args, shadows, time
    called = StagePull(typingctx, *given)
    result = types.BaseTuple.from_types([ty for _, ty in called.totals()])

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        called = StagePull(context.typing_context, *given)
        _, t, dt, table, _, _, args, shadows = arguments
        rows = [emitter.row(scratch, table, i) for i in range(SCRATCH)]
        if moving:
            partials = set_partial(builder, time, zero_partials(context, time), dt, 0)
            t = build(context, builder, time, t, partials)

        def state(i):
            source = emitter.vector(row, rows[i])
            return rows[i] if in_array else emitter.make_state(y, None, lambda k: source[k])

        buffers = rows[BY_STATE], rows[SLOPE]
        moved, numbers = called.emit(emitter, t, state(STATE), state(SEED), buffers, args, shadows)
        if not in_array:
            target = emitter.vector(row, rows[BY_STATE])
            for k in range(len(like)):
                target[k] = moved[k]
        return context.make_tuple(builder, result, numbers)

    return result(pull, t, dt, scratch, like, structure, args, shadows), codegen


@intrinsic
def add_totals(typingctx, totals, found):
    """Sums of cotangents of numbers; of what moves, how it does."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        sums = []
        for k, (ty, new) in enumerate(zip(totals, found, strict=True)):
            old, value = (builder.extract_value(x, k) for x in arguments)
            if new != ty:
                _, partials = split(context, builder, new, value)
                value = get_partial(builder, new, partials, 0)
            total = emitter.scalar(ty, old) + emitter.scalar(ty, value)
            sums.append(emitter.cast(total, ty).value)
        value = context.make_tuple(builder, totals, sums)
        return impl_ret_borrowed(context, builder, totals, value)

    return totals(totals, found), codegen
