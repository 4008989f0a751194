"""Rosenbrock methods: linearly implicit Runge-Kutta methods for stiff systems, as data and as steps.

E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", IV.7. With u_i = k_i / h in their
notation of (7.25), a stage solves

    (M / gamma - h J) u_i = f(t + c_i h, y + h sum_j a_ij u_j) + M sum_j C_ij u_j + h d_i f_t

with the mass matrix M, or the identity, so that y + h sum_i b_i u_i, the error estimate and the
interpolant read as those of an explicit method.
"""

import operator
from dataclasses import dataclass
from functools import cache, cached_property, reduce

import numpy as np
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload

from numbad.ode import failure, sparse_linear
from numbad.ode.compiling import inlined
from numbad.ode.consistency import is_consistent
from numbad.ode.emit import ArrayComponents, Emitter
from numbad.ode.given_jacobian import linearizer, make_agrees
from numbad.ode.jacobian import MATRICES, JacobianColumns, make_linearize, make_move, new_matrices
from numbad.ode.linear import linear_algebra
from numbad.ode.sparse_linear import has_pattern
from numbad.ode.sparse_mass import entry
from numbad.ode.state import borrow, combined_state, make_workspace
from numbad.ode.step import NO_MEMORY, Steps, buffers_needed, nothing_counted
from numbad.ode.tableau import Tableau, product


@dataclass(frozen=True, kw_only=True)
class Rosenbrock(Tableau):
    """A Rosenbrock method in the form above.

    `couplings[i]` holds the `i` coefficients C_ij of stage `i`.
    """

    gamma: float
    couplings: tuple

    is_implicit = True

    @cached_property
    def d(self):
        """The weights of the derivative by time, sum_j gamma_ij with Gamma = (I / gamma - C)^-1."""
        matrix = np.eye(self.stages) / self.gamma
        for i, row in enumerate(self.couplings):
            matrix[i, :i] -= row
        sums = np.linalg.solve(matrix, np.ones(self.stages)).tolist()
        return tuple(0.0 if abs(x) < 1e-12 else x for x in sums)

    @property
    def first_same_as_last(self):
        return False

    @property
    def feedback(self):
        """Steps of a stiff solver grow by many decades: they follow the last error alone."""
        return 1.0, 0.0

    def factorizations(self, tried, accepted):
        return accepted, tried


def in_matrix_form(alpha, gammas, weights, error, interpolant):
    """The fields of `Rosenbrock` from alpha_ij, gamma_ij (with its diagonal), and weights of the k_i.

    Hairer & Wanner, II, IV.7: u = Gamma k. The slope at the end of the step has no weight.
    """
    alpha, inverse = np.array(alpha), np.linalg.inv(gammas)
    gamma = gammas[0][0]
    rows = (inverse.T @ np.array(interpolant)).tolist()
    return dict(
        gamma=gamma,
        a=_lower(alpha @ inverse),
        couplings=_lower(np.eye(len(alpha)) / gamma - inverse),
        b=tuple((weights @ inverse).tolist()),
        error=tuple((error @ inverse).tolist()),
        c=tuple(alpha.sum(axis=1).tolist()),
        interpolant=(*map(tuple, rows), (0.0,) * len(rows[0])),
    )


def stiffly_accurate_interpolant(b, h):
    """Coefficients of theta, theta**2, ... of each stage's weight in a dense output

    y + theta (y1 - y) + theta (1 - theta) sum_j (h[0][j] + theta (h[1][j] + ...)) u_j.
    """
    rows = []
    for weight, *coefficients in zip(b, *h, strict=True):
        bent = product((0.0, 1.0, -1.0), tuple(coefficients))[1:]
        rows.append((weight + bent[0], *bent[1:]))
    return tuple(rows)


def _lower(matrix):
    return tuple(tuple(row[:i]) for i, row in enumerate(matrix.tolist()))


def make_work(tableau):
    """The compiled `workspace(y, args, settings)`: memory, and its rows followed by `MATRICES`."""
    rows = make_workspace(buffers_needed(tableau))

    @inlined
    def workspace(y, args, settings):
        memory, buffers = rows(y)
        matrices = new_matrices(y, args, settings.sparsity)
        given = borrow(settings.mass), borrow(settings.sparsity)
        return (memory, matrices), buffers + borrow(matrices) + given

    return workspace


def rosenbrock_steps(tableau, rhs, jac=None):
    """The compiled pieces of a step of a Rosenbrock method, which rests on the exact Jacobian."""
    linearize, jacobian = linearizer(rhs, jac, by_time=True), buffers_needed(tableau)
    linearize_if_examined = make_linearize(rhs, only_if_examined=True)
    moves_as_told = make_moves_as_told(rhs)

    @inlined
    def examine(fun, work, t, y, k0, structure, args, settings):
        linearize_if_examined(fun, work, t, y, structure, args)
        rtol, atol = settings.rtol, settings.atol
        if not moves_as_told(fun, work, t, y, structure, args, work[jacobian], settings.sparsity):
            return failure.WRONG_PATTERN
        if not is_consistent(settings.mass, settings.sparsity, work[jacobian], k0, y, rtol, atol):
            return failure.INCONSISTENT_START
        return failure.RUNNING

    step = make_rosenbrock_step(tableau, rhs)
    if jac is not None:
        examine = _examine_given(examine, linearize, make_agrees(rhs))
    return Steps(make_work(tableau), linearize, step, examine, nothing_counted, NO_MEMORY)


def _examine_given(examine_rest, linearize, agrees):
    """`examine` with a look at the user's Jacobian."""

    @inlined
    def examine(fun, work, t, y, k0, structure, args, settings):
        linearize(fun, work, t, y, structure, args)
        if not agrees(fun, work, t, y, structure, args):
            return failure.WRONG_JACOBIAN
        return examine_rest(fun, work, t, y, k0, structure, args, settings)

    return examine


@cache
def make_moves_as_told(rhs):
    """The compiled check that the Jacobian has entries where the pattern has them, and no others."""
    move = make_move(rhs)

    def moves_as_told(fun, work, t, y, structure, args, jacobian, sparsity):
        raise NotImplementedError

    @overload(moves_as_told, inline="always")
    def choose(fun, work, t, y, structure, args, jacobian, sparsity):
        if isinstance(sparsity, types.NoneType):
            return lambda fun, work, t, y, structure, args, jacobian, sparsity: True
        right = len(work) - MATRICES + 3

        def moves(fun, work, t, y, structure, args, jacobian, sparsity):
            move(fun, work, t, y, structure, args)
            return has_pattern(jacobian, work[right], sparsity)

        return moves

    return moves_as_told


@cache
def make_rosenbrock_step(tableau, rhs):
    """The compiled `step`, as of an explicit method, at a Jacobian that lies in `work`."""

    @intrinsic
    def step(typingctx, fun, work, t, t_new, h, y, k0, structure, args):
        types_of_call = work[0], t, y, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)
        result = types.Tuple((y, types.UniTuple(y, tableau.stages)))

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            new, stages = RosenbrockStages(emitter, tableau, call, y, work, arguments[1:]).emit()
            both = [new, context.make_tuple(builder, result[1], stages)]
            value = context.make_tuple(builder, result, both)
            return impl_ret_borrowed(context, builder, result, value)

        return result(fun, work, t, t_new, h, y, k0, structure, args), codegen

    return step


class RosenbrockStages:
    """The stages of one step, emitted; the linear algebra is that of matrices in `work`."""

    def __init__(self, emitter, tableau, call, y_type, work_type, arguments):
        work, self.t, self.t_new, self.h, self.y, self.k0, _, self.args = arguments
        self.emitter, self.tableau, self.call, self.y_type = emitter, tableau, call, y_type
        parts = [emitter.builder.extract_value(work, i) for i in range(len(work_type))]
        self.rows, self.matrices = parts[:-MATRICES], parts[-MATRICES:]
        self.matrix_types = tuple(work_type)[-MATRICES:]
        self.step = emitter.scalar(types.float64, self.h)
        self.sparsity = self.matrix_types[-1], self.matrices[-1]
        self.is_sparse = not isinstance(self.sparsity[0], types.NoneType)
        size = len(y_type) if isinstance(y_type, types.BaseTuple) else None
        self.algebra = sparse_linear if self.is_sparse else linear_algebra(size)

    def emit(self):
        """The new state and the stages."""
        tableau, stages = self.tableau, []
        self._factor()
        for i in range(tableau.stages):
            slope = self._slope(i, stages)
            stages.append(self._solved(i, slope, stages))
        return self._combined(self.rows[tableau.slopes + 1], tableau.b, stages), stages

    def _slope(self, i, stages):
        """f at stage i, as a vector."""
        if self._at_start(i):
            return self.k0
        return self.call.emit(self.emitter, self.rows[i], *self.place(i, stages), self.args)

    def _at_start(self, i):
        return not any(self.tableau.a[i]) and self.tableau.c[i] == 0.0

    def place(self, i, stages):
        """The time and the state of stage i, for the stages before."""
        if self._at_start(i):
            return self.t, self.y
        state = self._combined(self.rows[self.tableau.slopes], self.tableau.a[i], stages)
        c = self.emitter.constant(self.tableau.c[i])
        time = self.emitter.scalar(types.float64, self.t) + c * self.step
        return (self.t_new if self.tableau.c[i] == 1.0 else time.value), state

    def _combined(self, row, coefficients, stages):
        base = self.emitter.vector(self.y_type, self.y)
        return combined_state(
            self.emitter, self.y_type, row, base, self.step, self._terms(coefficients, stages)
        )

    def _terms(self, coefficients, stages):
        used = zip(coefficients, stages, strict=True)
        return [
            (self.emitter.constant(a), self.emitter.vector(self.y_type, k)) for a, k in used if a
        ]

    def _solved(self, i, slope, stages):
        """Stage i."""
        emitter, y_type = self.emitter, self.y_type
        f = emitter.vector(y_type, slope)
        component = self._right_side(i, f, stages)
        in_arrays = isinstance(y_type, types.Array)
        right = self.rows[i] if in_arrays and i else self.matrices[3]
        vector_type = self.matrix_types[3]
        vector = emitter.vector(vector_type, right)

        def put(k):
            vector[k] = component(k)

        f.for_each(put)
        told = [self.sparsity] * self.is_sparse
        rest = (types.float64, self.h), (vector_type, right)
        self._call(self.algebra.solve, (*self._factors(), *told, *rest))
        return right if in_arrays else emitter.make_state(y_type, None, lambda k: vector[k])

    def _right_side(self, i, f, stages):
        """A component of the right-hand side of stage i, by its number."""
        by_time = self._by_time()
        coupled = self._coupled(self._terms(self.tableau.couplings[i], stages))
        d = self.emitter.constant(self.tableau.d[i]) * self.step

        def component(k):
            total = f[k] + d * by_time(k) if self.tableau.d[i] else f[k]
            return total if coupled is None else total + coupled(k)

        return component

    def _coupled(self, terms):
        """A component of M times the sum of the terms, by its number; None where there are none."""

        def total(k):
            return reduce(operator.add, [weight * stage[k] for weight, stage in terms])

        if not terms or isinstance(self.matrix_types[-2], types.NoneType):
            return total if terms else None
        emitter, like = self.emitter, self.emitter.vector(self.y_type, self.y)
        row = self.rows[self.tableau.slopes]
        state = emitter.make_state(self.y_type, row, total, like)
        return self._times_mass(emitter.vector(self.y_type, state))

    def _times_mass(self, vector):
        emitter, builder, ty = self.emitter, self.emitter.builder, self.y_type.dtype
        slot = cgutils.alloca_once(builder, emitter.context.get_value_type(ty))

        def component(k):
            index = vector.size().type(k) if isinstance(k, int) else k
            builder.store(emitter.cast(emitter.constant(0.0), ty).value, slot)

            def add_term(weight, j):
                total = emitter.scalar(ty, builder.load(slot)) + weight * vector[j]
                builder.store(emitter.cast(total, ty).value, slot)

            self._for_each_mass(k, index, vector, add_term)
            return emitter.scalar(ty, builder.load(slot))

        return component

    def _for_each_mass(self, i, index, vector, add_term):
        """Call `add_term(M[i, j], j)` for the entries of a row of the mass matrix."""
        emitter, builder = self.emitter, self.emitter.builder
        ty, mass = self.matrix_types[-2], self.matrices[-2]
        if not self.is_sparse:
            row = ArrayComponents(emitter, ty, mass, leading=(index,))
            vector.for_each(lambda j: add_term(row[j], j))
        elif isinstance(self.y_type, types.BaseTuple):
            whole = types.intp, types.intp
            for j in range(len(self.y_type)):
                given = mass, index, index.type(j)
                weight = emitter.call_dispatcher(entry, (ty, *whole), given)
                add_term(emitter.scalar(types.float64, weight), j)
        else:
            starts, columns, values = (
                emitter.vector(ty[k], builder.extract_value(mass, k)) for k in range(3)
            )
            after = builder.add(index, index.type(1))
            one = index.type(1)
            with cgutils.for_range_slice(
                builder, starts[index].value, starts[after].value, one
            ) as (k, _):
                add_term(values[k], columns[k].value)

    def _by_time(self):
        """The derivative by time, the column of the Jacobian after those of the state."""
        emitter = self.emitter
        n = emitter.vector(self.y_type, self.y).size()
        last = JacobianColumns(emitter, n, *self.sparsity).count

        def component(k):
            index = n.type(k) if isinstance(k, int) else k
            row = ArrayComponents(emitter, self.matrix_types[0], self.matrices[0], leading=(index,))
            return row[last]

        return component

    def _factors(self):
        jacobian, W, exchanges = zip(self.matrix_types[:3], self.matrices[:3], strict=True)
        return W, exchanges, jacobian

    def _factor(self):
        h, gamma = self.step, self.emitter.constant(self.tableau.gamma)
        scalars = [(types.float64, scalar.value) for scalar in (h, gamma)]
        mass = self.matrix_types[-2], self.matrices[-2]
        told = (mass, self.sparsity) if self.is_sparse else (mass,)
        self._call(self.algebra.factor, (*self._factors(), *told, *scalars))

    def _call(self, function, given):
        self.emitter.call_dispatcher(function, *map(tuple, zip(*given, strict=True)))
