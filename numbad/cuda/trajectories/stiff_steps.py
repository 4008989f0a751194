"""Steps of Rosenbrock methods in registers: the stages of `numbad.ode.rosenbrock`, the algebra of a thread.

The Jacobian comes from dual numbers, all columns in one evaluation, at each step that is tried: it lies in no
memory between them.
"""

from functools import cache

from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.cuda.trajectories.register_algebra import (
    Factors,
    innermost_value,
    partials_of,
    solved,
    unit_dual,
)
from numbad.forward.dual import Dual
from numbad.ode.compiling import inlined
from numbad.ode.emit import Emitter
from numbad.ode.integrate import kind_on_cpu
from numbad.ode.jacobian import LONGEST_PASS, MATRICES, quiet, seeded
from numbad.ode.rosenbrock import Rosenbrock, RosenbrockStages
from numbad.ode.state import make_workspace
from numbad.ode.step import (
    NO_MEMORY,
    Steps,
    buffers_needed,
    nothing_counted,
    nothing_examined,
    nothing_prepared,
)

# So many components a state can have: the elimination is written out, at the cost of their third power.
LARGEST = LONGEST_PASS - 1


def kind_on_gpu(tableau):
    """What makes the steps of a method on a GPU."""
    return register_steps if isinstance(tableau, Rosenbrock) else kind_on_cpu(tableau)


def register_steps(tableau, rhs, jac=None):
    """The compiled pieces of a step, as `rosenbrock_steps` gives them; a Jacobian by the user is not used."""
    rows = make_workspace(buffers_needed(tableau) + MATRICES)  # none of it is memory, for tuples
    step = make_register_step(tableau, rhs)

    @inlined
    def workspace(y, args, settings):
        return rows(y)

    return Steps(workspace, nothing_prepared, step, nothing_examined, nothing_counted, NO_MEMORY)


@cache
def make_register_step(tableau, rhs):
    """The compiled `step` of a Rosenbrock method for states of a few numbers."""

    @intrinsic
    def step(typingctx, fun, work, t, t_new, h, y, k0, structure, args):
        calls = CallsOfStep(rhs, fun, work, t, y, structure, args)
        calls.resolved(typingctx)
        result = types.Tuple((y, types.UniTuple(y, tableau.stages)))

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            new, slopes = StagesInRegisters(emitter, tableau, calls, arguments[1:]).emit()
            both = [new, context.make_tuple(builder, result[1], slopes)]
            value = context.make_tuple(builder, result, both)
            return impl_ret_borrowed(context, builder, result, value)

        return result(fun, work, t, t_new, h, y, k0, structure, args), codegen

    return step


class CallsOfStep:
    """The calls of a right-hand side at a state and, by dual numbers, for its Jacobian there."""

    def __init__(self, rhs, fun, work, t, y, structure, args):
        self.rhs, self.fun, self.work, self.y = quiet(rhs), fun, work, y
        self.dual = seeded(y, args)
        self.time = Dual(types.float64, self.dual.dtype.n, self.dual.dtype.tag)
        self.given = (
            (work[0], t, y, structure, args),
            (work[0], self.time, self.dual, structure, args),
        )

    def resolved(self, typingctx):
        """Both calls; ModelError where there is none."""
        return [self.rhs.resolve(typingctx, self.fun, *given) for given in self.given]


class StagesInRegisters(RosenbrockStages):
    """The stages of one step."""

    def __init__(self, emitter, tableau, calls, arguments):
        call, call_of_duals = calls.resolved(emitter.typingctx)
        super().__init__(emitter, tableau, call, calls.y, calls.work, arguments)
        self.by_duals = call_of_duals, calls.time, calls.dual

    def _factor(self):
        """The Jacobian at the start of the step, and the factors of 1 / gamma - h J."""
        emitter = self.emitter
        self.jacobian, self.slopes_by_time = self._linearized()
        inverse = emitter.constant(1.0) / emitter.constant(self.tableau.gamma)
        nothing = emitter.constant(0.0)
        W = [
            [nothing - self.step * innermost_value(emitter, entry) for entry in row]
            for row in self.jacobian
        ]
        for i, row in enumerate(W):
            row[i] = row[i] + inverse
        self.factors = Factors(emitter, W)

    def _linearized(self):
        """The rows of the Jacobian by the state, and the derivatives by time."""
        emitter, y = self.emitter, self.emitter.vector(self.y_type, self.y)
        call, time, dual = self.by_duals
        n = len(dual)
        at = emitter.make_state(dual, None, lambda i: unit_dual(emitter, dual.dtype, y[i], i))
        moment = unit_dual(emitter, time, emitter.scalar(types.float64, self.t), n)
        slope = call.emit(emitter, self.rows[0], moment.value, at, self.args)
        found = emitter.vector(dual, slope)
        rows = [partials_of(emitter, found[i]) for i in range(n)]
        return [row[:n] for row in rows], [row[n] for row in rows]

    def _by_time(self):
        return self.slopes_by_time.__getitem__

    def _solved(self, i, slope, stages):
        """Stage i."""
        emitter, scalar = self.emitter, self.y_type.dtype
        f = emitter.vector(self.y_type, slope)
        component = self._right_side(i, f, stages)
        right = [emitter.cast(component(k), scalar) for k in range(len(self.y_type))]
        found = solved(self.factors, self.jacobian, self.step, right)
        return emitter.make_state(self.y_type, None, found.__getitem__)
