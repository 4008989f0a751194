"""The adjoint of a Rosenbrock step in registers: the formulas of `numbad.ode.adjoints.rosenbrock_adjoint`.

The stages are computed again, with the Jacobian and the factors of W; the transposed systems are solved with
the same factors. That J and f_t depend on the state takes, for each stage, the vector-Jacobian product of the
right-hand side at (t, y) among dual numbers of one partial, which move in the direction (h d_i, h u_i).
"""

from functools import cache

from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.cuda.trajectories.register_algebra import partials_of, put_together
from numbad.cuda.trajectories.stiff_steps import CallsOfStep, StagesInRegisters
from numbad.forward.dual import Dual
from numbad.ode.adjoints.adjoint_of_method import step_adjoint
from numbad.ode.adjoints.explicit_adjoint import SlopesOfStep, make_begin, make_output
from numbad.ode.adjoints.slopes import StagePull
from numbad.ode.adjoints.step_adjoint import StepAdjoint
from numbad.ode.compiling import inlined
from numbad.ode.emit import Emitter
from numbad.ode.jacobian import MATRICES
from numbad.ode.known_switches import ALL_KNOWN
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.rosenbrock import Rosenbrock
from numbad.ode.state import make_workspace

# A number that moves in one direction.
MOVING = Dual(types.float64, 1, 0)


def adjoint_on_gpu(tableau):
    """The `StepAdjoint` of a method on a GPU."""
    if isinstance(tableau, Rosenbrock):
        return register_adjoint(tableau)
    return step_adjoint(tableau, False)


@cache
def register_adjoint(tableau):
    """The `StepAdjoint` of a Rosenbrock method for states of a few numbers."""
    slopes, rhs = SlopesOfStep(tableau), RightHandSide(False, ALL_KNOWN)
    rows = make_workspace(slopes.rows + MATRICES)  # none of it is memory, for tuples
    evaluate, undo = make_evaluate(rhs), _make_undo_stages(tableau, rhs)

    @inlined
    def workspace(initial, args, settings):
        return rows(initial)

    @inlined
    def step(field, work, taken, bars, seen, totals):
        fun, pull, structure, args, shadows, _ = field
        t, t_new, h, y, _, _ = taken
        k0 = evaluate(fun, work[0], t, y, structure, args)
        return undo(fun, pull, work, t, t_new, h, y, k0, structure, args, bars, shadows, totals)

    return StepAdjoint(workspace, make_begin(slopes), make_output(slopes), step)


def _make_undo_stages(tableau, rhs):
    """The compiled way back through the stages: the cotangent of y, and the totals."""

    @intrinsic
    def undo(
        typingctx, fun, pull, work, t, t_new, h, y, k0, structure, args, bars, shadows, totals
    ):
        calls = CallsOfStep(rhs, fun, work, t, y, structure, args)
        calls.resolved(typingctx)
        pulls = _Pulls(pull, y, structure, args, shadows)
        pulls.resolved(typingctx)
        result = types.Tuple((y, totals))

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            of_step = arguments[2:10]
            stages = StagesInRegisters(emitter, tableau, calls, of_step)
            cotangents = [emitter.vector(y, v.value) for v in emitter.members(bars, arguments[10])]
            back = _BackThroughStages(emitter, stages, pulls, arguments[9], arguments[11])
            sums = [
                emitter.scalar(ty, builder.extract_value(arguments[12], k))
                for k, ty in enumerate(totals)
            ]
            lam, sums = back.emit(cotangents, sums)
            sums = [emitter.cast(x, ty).value for x, ty in zip(sums, totals, strict=True)]
            both = [lam, context.make_tuple(builder, totals, sums)]
            value = context.make_tuple(builder, result, both)
            return impl_ret_borrowed(context, builder, result, value)

        signature = result(
            fun, pull, work, t, t_new, h, y, k0, structure, args, bars, shadows, totals
        )
        return signature, codegen

    return undo


class _Pulls:
    """The vector-Jacobian products at a stage, and at a state that moves."""

    def __init__(self, pull, y, structure, args, shadows):
        moving = types.UniTuple(MOVING, len(y))
        self.given = (
            ((pull, y, structure, args, shadows), {}),
            ((pull, moving, structure, args, shadows), {"time": MOVING, "seed": y.dtype}),
        )

    def resolved(self, typingctx):
        return [StagePull(typingctx, *given, **more) for given, more in self.given]


class _BackThroughStages:
    """The way back through the stages of one step, from the last to the first."""

    def __init__(self, emitter, stages, pulls, args, shadows):
        self.emitter, self.stages, self.tableau = emitter, stages, stages.tableau
        self.y_type, self.step = stages.y_type, stages.step
        self.y = emitter.vector(self.y_type, stages.y)
        self.pull, self.moved = pulls.resolved(emitter.typingctx)
        self.given = (None, None), args, shadows  # no buffers, for tuples

    def emit(self, bars, sums):
        """The cotangent of y, and the sums of those of numbers among the arguments.

        `bars` are the cotangents of y and of the stages: vectors.
        """
        n = range(len(self.y_type))
        lam, *bars = [[bar[k] for k in n] for bar in bars]
        _, stages = self.stages.emit()
        for i in reversed(range(self.tableau.stages)):
            theta = self.stages.factors.solve_transposed(bars[i])
            seed = self._state(theta)
            by_state, added = self._pulled(i, stages, seed)
            by_move, added_by_move = self._pulled_moving(i, stages[i], seed)
            lam = [lam[k] + by_state[k] + by_move[k] for k in n]
            sums = [x + a + b for x, a, b in zip(sums, added, added_by_move, strict=True)]
            for j in range(i):
                bars[j] = self._with_stage(bars[j], i, j, by_state, theta)
        return self._state(lam), sums

    def _with_stage(self, bar, i, j, by_state, theta):
        """The cotangent of stage j with what stage i hands to it."""
        a, coupling = self.tableau.a[i][j], self.tableau.couplings[i][j]
        if a:
            weight = self.emitter.constant(a) * self.step
            bar = [x + weight * by_state[k] for k, x in enumerate(bar)]
        if coupling:
            weight = self.emitter.constant(coupling)
            bar = [x + weight * theta[k] for k, x in enumerate(bar)]
        return bar

    def _pulled(self, i, stages, seed):
        """What comes from f at stage i: by its state, and by numbers among the arguments."""
        emitter = self.emitter
        time, state = self.stages.place(i, stages[:i])
        found, added = self.pull.emit(emitter, time, state, seed, *self.given)
        sums = [emitter.scalar(ty, x) for x, (_, ty) in zip(added, self.pull.totals(), strict=True)]
        return found, sums

    def _pulled_moving(self, i, stage, seed):
        """What comes from J and f_t, with which stage i is solved for."""
        emitter, u = self.emitter, self.emitter.vector(self.y_type, stage)
        t, d = emitter.scalar(types.float64, self.stages.t), self.tableau.d[i]
        dt = emitter.constant(d) * self.step if d else emitter.constant(0.0)
        state = emitter.make_state(
            self.moved.y, None, lambda k: self._moving(self.y[k], self.step * u[k])
        )
        time = self._moving(t, dt).value
        found, added = self.moved.emit(emitter, time, state, seed, *self.given)
        sums = [
            self._move_of(emitter.scalar(ty, x))
            for x, (_, ty) in zip(added, self.moved.totals(), strict=True)
        ]
        return [self._move_of(found[k]) for k in range(len(self.y_type))], sums

    def _moving(self, value, move):
        return put_together(self.emitter, MOVING, [value, move])

    def _move_of(self, scalar):
        """How a cotangent moves."""
        moves = partials_of(self.emitter, scalar) if isinstance(scalar.ty, Dual) else ()
        return moves[0] if moves else self.emitter.constant(0.0)

    def _state(self, components):
        return self.emitter.make_state(self.y_type, None, components.__getitem__)
