"""The equations of implicit stages on rows of plain numbers, whatever the right-hand side.

In the notation of `numbad.ode.implicit_tableau`, with increments s_i in blocks that are solved for at once.
With eigenvalues e, left eigenvectors l and right ones r of the inverse of a block's matrix, an iteration of
Newton's method is, for each e,

    (e M - h J) u = e sum_j l_j (h f_j - M s_j),   s_i := s_i + sum_e r_i u

Hairer & Wanner, II, IV.8, where half of a pair of conjugate eigenvalues is solved for. A row holds the values
of a state or, of a state of dual numbers, all parts of each component in turn (`flat`); the matrices are
those of the values for all of them.
"""

import math
from collections import namedtuple
from functools import cache

import numpy as np
from numba.core import types
from numba.extending import overload

from numbad.ode import sparse_linear
from numbad.ode.compiling import inlined
from numbad.ode.linear import linear_algebra

# The functions of `make_equations`.
Equations = namedtuple("Equations", "begin predict stage_state improve estimate end")

# Rows of a table: the state and its slope at the beginning, the state of a stage, the errors allowed, the
# right-hand side and its part behind the mass matrix. From `SLOPES` on follow the slopes of the stages,
# the increments of these, and the slopes at those of the last step.
Y, SLOPE, U, SCALE, RIGHT, LEAN, SLOPES = range(7)


def rows_needed(tableau):
    """Rows of the table for a method."""
    return SLOPES + 3 * tableau.stages


def first_remembered(tableau):
    """The first of the rows that the next step depends on, which are the last ones."""
    return SLOPES + tableau.rows_of_a_step


# The LU factors of the real system and of the complex one, each with its row exchanges, then the Jacobian
# and what else a system is made of, or None.
Systems = namedtuple("Systems", "W exchanges pair_W pair_exchanges jacobian mass sparsity")


def factor_system(like, W, exchanges, systems, h, gamma):
    """LU factors of M / gamma - h J for states like `like`, into W."""
    raise NotImplementedError


@overload(factor_system, inline="always")
def _factor_system(like, W, exchanges, systems, h, gamma):
    if not isinstance(_field(systems, "sparsity"), types.NoneType):
        factor = sparse_linear.factor
        return lambda like, W, exchanges, systems, h, gamma: factor(
            W, exchanges, systems.jacobian, systems.mass, systems.sparsity, h, gamma
        )
    factor = _dense(like).factor
    return lambda like, W, exchanges, systems, h, gamma: factor(
        W, exchanges, systems.jacobian, systems.mass, h, gamma
    )


def _dense(like):
    return linear_algebra(len(like) if isinstance(like, types.BaseTuple) else None)


def _field(ty, name):
    return ty.types[Systems._fields.index(name)]


def solve_system(like, W, exchanges, systems, x):
    """x := W^-1 x for factors W; x is a vector, or has a column for each part of dual numbers."""
    raise NotImplementedError


@overload(solve_system, inline="always")
def _solve_system(like, W, exchanges, systems, x):
    if not isinstance(_field(systems, "sparsity"), types.NoneType):
        substitute = sparse_linear.substitute
        return lambda like, W, exchanges, systems, x: substitute(W, exchanges, systems.sparsity, x)
    algebra = _dense(like)
    within = algebra.substitute if x.ndim == 1 else algebra.substitute_columns
    return lambda like, W, exchanges, systems, x: within(W, exchanges, x)


def take_mass_times(right, lean, mass):
    """right -= M lean, for vectors or several of them."""
    raise NotImplementedError


@overload(take_mass_times, inline="always")
def _take_mass_times(right, lean, mass):
    if isinstance(mass, types.NoneType):
        return lambda right, lean, mass: None
    if isinstance(mass, types.BaseTuple):
        return _take_entries_of_one if right.ndim == 1 else _take_entries_of_several
    if right.ndim == 1:

        def of_one(right, lean, mass):
            for i in range(len(mass)):
                for j in range(len(mass)):
                    right[i] -= mass[i, j] * lean[j]

        return of_one

    def of_several(right, lean, mass):
        for i in range(len(mass)):
            for j in range(len(mass)):
                if mass[i, j] != 0.0:
                    for q in range(right.shape[1]):
                        right[i, q] -= mass[i, j] * lean[j, q]

    return of_several


def _take_entries_of_one(right, lean, mass):
    for i in range(len(right)):
        for k in range(mass.starts[i], mass.starts[i + 1]):
            right[i] -= mass.values[k] * lean[mass.columns[k]]


def _take_entries_of_several(right, lean, mass):
    for i in range(len(right)):
        for k in range(mass.starts[i], mass.starts[i + 1]):
            for q in range(right.shape[1]):
                right[i, q] -= mass.values[k] * lean[mass.columns[k], q]


def keep_values(right):
    """Take no change of values, but of other parts of dual numbers, of which `right` has columns."""
    raise NotImplementedError


@overload(keep_values, inline="always")
def _keep_values(right):
    if right.ndim == 1:
        return lambda right: None

    def of_several(right):
        for i in range(len(right)):
            right[i, 0] = 0.0

    return of_several


def columns(row, count):
    """A row as a vector, or with a column for each of `count` parts of dual numbers."""
    raise NotImplementedError


@overload(columns, inline="always")
def _columns(row, count):
    if isinstance(count, types.NoneType):
        return lambda row, count: row
    return lambda row, count: row.reshape((len(row) // count, count))


@cache
def make_equations(tableau):
    """The compiled functions for a method, on tables of plain numbers with the rows above.

    `notes` are those of `numbad.ode.implicit_steps`, for methods whose formulas depend on them. `begin(T, h,
    notes)` sets an explicit first stage. `predict(T, h, ratio, i)` guesses the increment of stage i, from the
    slopes at the stages of the last step, `ratio` times shorter, or from the stages before.
    `stage_state(T, i)` puts the state at which f is evaluated for it into row U. `improve(like, T, C, count,
    first, systems, h)` is an iteration for the block of stages from `first` on; the changes are left in place
    of the slopes. `estimate(like, T, count, slope, systems, h, notes)` puts the error into row RIGHT, `slope`
    being the row of the slope at the beginning. `end(T, h, notes)` puts the slopes at the stages where those
    of the last step were. `count` is None for values, and else how many parts each dual number has. `C` has
    the rows RIGHT and LEAN of the complex system.
    """
    stages, per, explicit = tableau.stages, tableau.per_block, tableau.explicit_stages
    a, predictors = np.array(tableau.a), tableau.predictors
    nodes, derivatives = np.array(tableau.c), tableau.slope_coefficients
    powers = derivatives.shape[1]
    (real, left, column), pair = tableau.systems
    errors, start_error = np.array(tableau.error), tableau.start_error
    F, S, OLD = SLOPES, SLOPES + stages, SLOPES + 2 * stages

    @inlined
    def begin(T, h, notes):
        if explicit:
            for k in range(T.shape[1]):
                T[S, k] = h * T[SLOPE, k]

    @inlined
    def predict(T, h, ratio, i):
        m = T.shape[1]
        for k in range(m):
            T[S + i, k] = 0.0
        if per == 1:
            for j in range(i):
                weight = predictors[i, j]
                if weight != 0.0:
                    for k in range(m):
                        T[S + i, k] += weight * T[S + j, k]
        elif ratio != 0.0:
            theta = 1.0 + nodes[i] * ratio
            for j in range(stages):
                weight = derivatives[j, powers - 1]
                for power in range(powers - 2, -1, -1):
                    weight = weight * theta + derivatives[j, power]
                for k in range(m):
                    T[S + i, k] += h * weight * T[OLD + j, k]

    @inlined
    def stage_state(T, i):
        known = i + 1 if per == 1 else stages
        for k in range(T.shape[1]):
            total = T[Y, k]
            for j in range(known):
                total += a[i, j] * T[S + j, k]
            T[U, k] = total

    @inlined
    def assemble(right, lean, T, count, first, weights, eigenvalue, mass, h):
        for k in range(T.shape[1]):
            ahead = behind = weights[0] * 0.0
            for j in range(per):
                ahead += weights[j] * T[F + first + j, k]
                behind += weights[j] * T[S + first + j, k]
            if mass is None:
                right[k] = eigenvalue * (h * ahead - behind)
            else:
                right[k] = eigenvalue * h * ahead
                lean[k] = eigenvalue * behind
        take_mass_times(columns(right, count), columns(lean, count), mass)
        keep_values(columns(right, count))

    @inlined
    def improve_one(like, T, C, count, first, systems, h):
        right = T[RIGHT]
        assemble(right, T[LEAN], T, count, first, left, real, systems.mass, h)
        solve_system(like, systems.W, systems.exchanges, systems, columns(right, count))
        for k in range(T.shape[1]):
            T[F + first, k] = right[k]
            T[S + first, k] += right[k]

    if pair is not None:
        value, row, turned = pair

    @inlined
    def improve_all(like, T, C, count, first, systems, h):
        right, other = T[RIGHT], C[0]
        assemble(right, T[LEAN], T, count, first, left, real, systems.mass, h)
        assemble(other, C[1], T, count, first, row, value, systems.mass, h)
        solve_system(like, systems.W, systems.exchanges, systems, columns(right, count))
        solve_system(like, systems.pair_W, systems.pair_exchanges, systems, columns(other, count))
        for k in range(T.shape[1]):
            for j in range(per):
                change = column[j] * right[k] + 2.0 * (turned[j] * other[k]).real
                T[F + first + j, k] = change
                T[S + first + j, k] += change

    @inlined
    def estimate_smoothed(like, T, count, slope, systems, h, notes):
        right, lean = T[RIGHT], T[LEAN]
        for k in range(T.shape[1]):
            total = 0.0
            for j in range(stages):
                total += errors[j] * T[S + j, k]
            at_start = real * start_error * h * T[slope, k]
            if systems.mass is None:
                right[k] = at_start + real * total
            else:
                right[k], lean[k] = at_start, -real * total
        take_mass_times(columns(right, count), columns(lean, count), systems.mass)
        solve_system(like, systems.W, systems.exchanges, systems, columns(right, count))

    @inlined
    def estimate_plainly(like, T, count, slope, systems, h, notes):
        for k in range(T.shape[1]):
            total = 0.0
            for j in range(stages):
                total += errors[j] * T[S + j, k]
            T[RIGHT, k] = total

    @inlined
    def end(T, h, notes):
        for i in range(stages):
            for k in range(T.shape[1]):
                T[OLD + i, k] = T[S + i, k] / h

    improve = improve_one if pair is None else improve_all
    estimate = estimate_smoothed if start_error else estimate_plainly
    return Equations(begin, predict, stage_state, improve, estimate, end)


def at_component(tolerance, k):
    """A tolerance for component k."""
    raise NotImplementedError


@overload(at_component, inline="always")
def _at_component(tolerance, k):
    if isinstance(tolerance, types.Array):
        return lambda tolerance, k: tolerance[k]
    return lambda tolerance, k: tolerance


@inlined
def put_scale(T, rtol, atol):
    """The error allowed in each component."""
    for k in range(T.shape[1]):
        T[SCALE, k] = at_component(atol, k) + at_component(rtol, k) * abs(T[Y, k])


@inlined
def change_of_stages(T, first, count):
    """The root mean square of changes of increments, in units of the error allowed."""
    total, n = 0.0, T.shape[1]
    for i in range(SLOPES + first, SLOPES + first + count):
        for k in range(n):
            part = T[i, k] / T[SCALE, k]
            total += part * part
    return math.sqrt(total / (count * n))


@inlined
def mean_square_error(error, y, w, rtol, atol):
    """The mean square of an error, in units of that allowed between y and w."""
    total = 0.0
    for k in range(len(y)):
        size = max(abs(y[k]), abs(w[k]))
        part = error[k] / (at_component(atol, k) + at_component(rtol, k) * size)
        total += part * part
    return total / len(y)


def smallest(tolerance):
    """The smallest of the tolerances for all components."""
    raise NotImplementedError


@overload(smallest)
def _smallest(tolerance):
    if isinstance(tolerance, types.Array):
        return lambda tolerance: tolerance.min()
    return lambda tolerance: tolerance
