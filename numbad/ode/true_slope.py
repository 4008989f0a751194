"""The slope of a solution, and what a change of state must leave true, in code that is differentiated.

Without a mass matrix the slope is the right-hand side. Of M y' = f(t, y), whose rows of zeros are algebraic
equations of index 1, it solves

    K z = b,   K = M, b = f in the other rows,   K = df/dy, b = -df/dt in these:

the equations, and the derivative of the algebraic ones along the solution. A state that was changed is made
consistent along the same matrix: M y, the quantity that has a derivative, stays as it is, and y moves until
the algebraic equations hold. With the inverse of K on plain floats held constant, each step of Newton's
method makes derivatives exact to one order more (the implicit function theorem; A. Griewank, A. Walther,
"Evaluating Derivatives", 2nd ed., SIAM 2008, section 15.1). E. Hairer, G. Wanner, "Solving Ordinary
Differential Equations II", VI.1.
"""

import math

import numpy as np
from numba import njit
from numba.extending import overload

from numbad.compilation.caching import jit
from numbad.errors import ArgumentError
from numbad.forward.dual import duals_in
from numbad.forward.dualize import replacement
from numbad.implicit.lapack_status import solve_floats
from numbad.ode import failure
from numbad.ode.compiling import inlined
from numbad.ode.forms import as_arguments, as_form, as_row
from numbad.ode.orders import order_of
from numbad.ode.sparse_mass import dense
from numbad.ode.state import read_row, restored
from numbad.operators.first_order import jacobian
from numbad.operators.stop import as_constant
from numbad.operators.tangent import jvp
from numbad.reverse.checkpoint import checkpoint
from numbad.rules.registry import CONSTANT_CALLS

# Those of the classical Runge-Kutta method.
NODES = 0.0, 0.5, 0.5, 1.0
WEIGHTS = 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0

# Newton's method for a consistent state: steps, the shortest part of one that is tried, and when it is done,
# but for one more step.
MOST_STEPS, SHORTEST_PART, NEAR = 50, 2.0**-20, 1e-10


def make_right_side(problem):
    """The compiled `right_side(t, y, like, rest)`: fun, for a state as an array."""
    fun = problem.fun
    if problem.inplace:

        @jit(error_model="numpy")
        def right_side(t, y, like, rest):
            dy = np.zeros_like(y)
            fun(t, y, dy, *rest)
            return dy

    else:

        @jit(error_model="numpy")
        def right_side(t, y, like, rest):
            return as_row(fun(t, as_form(like, y), *rest), y)

    return right_side


def make_slope(problem, mass=None):
    """The compiled `slope(t, y, like, rest)` of a solution."""
    right_side = make_right_side(problem)
    if mass is None:
        return right_side
    M, algebraic = dense(mass), algebraic_rows(mass)
    matrix, along = _make_matrix(right_side, M, algebraic), jvp(right_side, (0, 1))

    @jit(error_model="numpy")
    def held(t, y, like, rest):
        _check_size(y, M)
        return inverted(t, matrix(t, y, like, rest))

    CONSTANT_CALLS.add(held)

    @jit(error_model="numpy")
    def slope(t, y, like, rest):
        W = held(as_constant(t), as_constant(y), as_constant(like), as_constant(rest))
        z = np.zeros_like(y)
        for _ in range(order_of((t, y, rest))):
            f, change = along((t, y, like, rest), (1.0, z))
            z = z - product(W, rest_of(M, algebraic, z, f, change))
        return z

    return slope


def make_slope_at(problem, mass, evaluate):
    """The compiled `slope_at(buffer, t, y, structure, args)`: the slope of the solution, as a state.

    `evaluate` is that of the right-hand side, which it is without a mass matrix.
    """
    if mass is None:
        fun = problem.fun

        @inlined
        def slope_at(buffer, t, y, structure, args):
            return evaluate(fun, buffer, t, y, structure, args)

        return slope_at
    slope = _of_any_scalar(make_slope(problem, mass))

    @inlined
    def slope_at(buffer, t, y, structure, args):
        like = restored(structure, y)
        found = slope(t, as_row(like, ()), like, as_arguments(args))
        return read_row(buffer, found.reshape((1, len(found))), 0, y)

    return slope_at


def _of_any_scalar(slope):
    """A compiled slope for code that is not adapted to dual numbers, but may be compiled for them."""
    of_duals = replacement(slope)

    def slope_of(t, y, like, rest):
        raise NotImplementedError

    @overload(slope_of)
    def choose(t, y, like, rest):
        code = of_duals if any(any(duals_in(ty)) for ty in (t, y, like, rest)) else slope
        return lambda t, y, like, rest: code(t, y, like, rest)

    return slope_of


def make_flow(problem, mass=None):
    """The compiled `flow(t, y, shift, like, rest, lacks)`: along the solution, by a shift that is zero.

    `lacks` is what the slope lacks there (see `interpolated_slopes`).
    That is a step of the classical Runge-Kutta method, which gives derivatives up to the fourth order. With
    algebraic equations the state of each stage satisfies them as far as y does.
    """
    right_side = make_right_side(problem)
    if mass is None:

        @checkpoint
        @jit(error_model="numpy")
        def flow(t, y, shift, like, rest, lacks):
            k = np.zeros_like(y)
            moved = 1.0 * y
            for stage in range(4):
                k = right_side(t + NODES[stage] * shift, y + (NODES[stage] * shift) * k, like, rest)
                k = k + lacks
                moved = moved + (WEIGHTS[stage] * shift) * k
            return moved

        return flow
    M, algebraic = dense(mass), algebraic_rows(mass)
    matrix = _make_matrix(right_side, M, algebraic)

    @jit(error_model="numpy")
    def held(t, y, like, rest):
        """The inverse of K, and the right-hand side."""
        _check_size(y, M)
        return inverted(t, matrix(t, y, like, rest)), right_side(t, y, like, rest)

    CONSTANT_CALLS.add(held)

    @jit(error_model="numpy")
    def moved(t, y, by, kept, W, like, rest):
        """The state with M y greater by `by`, and what is `kept` left of the algebraic equations."""
        out = 1.0 * y
        for _ in range(order_of((t, y, by, rest))):
            f = right_side(t, out, like, rest)
            out = out - product(W, rest_of(M, algebraic, out - y, by, f - kept))
        return out

    @checkpoint
    @jit(error_model="numpy")
    def flow(t, y, shift, like, rest, lacks):
        W, kept = held(as_constant(t), as_constant(y), as_constant(like), as_constant(rest))
        k = np.zeros_like(y)
        total = np.zeros_like(y)
        lacking = product(M, lacks)
        for stage in range(4):
            there = t + NODES[stage] * shift
            state = moved(there, y, (NODES[stage] * shift) * k, kept, W, like, rest)
            k = right_side(there, state, like, rest) + lacking
            total = total + (WEIGHTS[stage] * shift) * k
        return moved(
            t + shift, y, total, kept, W, like, rest
        ).copy()  # that it is no argument is seen here

    return flow


def make_consistent(problem, mass):
    """The compiled `consistent(t, y, like, rest)`: a state that satisfies the algebraic equations.

    None where there are none.
    """
    if mass is None or not algebraic_rows(mass).any():
        return None
    right_side = make_right_side(problem)
    M, algebraic = dense(mass), algebraic_rows(mass)
    matrix = _make_matrix(right_side, M, algebraic)

    @jit(error_model="numpy")
    def found_at(t, start, like, rest):
        """The inverse of K, and the state."""
        y, last = start.copy(), False
        for _ in range(MOST_STEPS):
            W = inverted(t, matrix(t, y, like, rest))
            f = right_side(t, y, like, rest)
            step = product(W, rest_of(M, algebraic, y - start, np.zeros_like(y), f))
            size = largest(step)
            if last or size == 0.0:
                return W, y - step
            if not size < math.inf:
                break
            part = 1.0
            while part > SHORTEST_PART:
                there = y - part * step
                f = right_side(t, there, like, rest)
                moved = rest_of(M, algebraic, there - start, np.zeros_like(y), f)
                if largest(product(W, moved)) < size:
                    break
                part *= 0.5
            last = size <= NEAR * largest(y)
            y = y - part * step
        raise failure.SolveError(failure.NOT_MADE_CONSISTENT, t)

    CONSTANT_CALLS.add(found_at)

    @jit(error_model="numpy")
    def consistent(t, y, like, rest):
        _check_size(y, M)
        W, found = found_at(as_constant(t), as_constant(y), as_constant(like), as_constant(rest))
        out = as_row(found, y)
        for _ in range(order_of((t, y, rest))):
            f = right_side(t, out, like, rest)
            out = out - product(W, rest_of(M, algebraic, out - y, np.zeros_like(y), f))
        return out

    return consistent


def check_mass_of_events(mass, what="events", error=ArgumentError):
    """Raise an error where the slope of a solution does not follow from K."""
    if mass is not None:
        rows = dense(mass)[~algebraic_rows(mass)]
        if np.linalg.matrix_rank(rows) < len(rows):
            raise error(
                f"{what} beside a singular mass_matrix need rows of zeros for the algebraic equations. "
                "Way out: combine its rows, and those of fun, until the others are independent"
            )


def algebraic_rows(mass):
    """Which rows of a mass matrix are zero."""
    return ~dense(mass).any(axis=1)


def _make_matrix(right_side, M, algebraic):
    """The compiled K for plain floats."""
    by_state = jacobian(right_side, argnums=1, mode="forward")

    @jit(error_model="numpy")
    def matrix(t, y, like, rest):
        K = by_state(t, y, like, rest)
        for i in range(len(y)):
            if not algebraic[i]:
                K[i] = M[i]
        return K

    return matrix


@njit(error_model="numpy")
def inverted(t, K):
    W, regular = solve_floats(K, np.eye(len(K)))
    if not regular:
        raise failure.SolveError(failure.NOT_OF_INDEX_ONE, t)
    return W


@jit(error_model="numpy")
def product(matrix, vector):
    """A matrix of floats times a vector."""
    out = np.zeros_like(vector)
    for i in range(len(vector)):
        for j in range(len(vector)):
            out[i] += matrix[i, j] * vector[j]
    return out


@jit(error_model="numpy")
def rest_of(M, algebraic, z, f, g):
    """M z - f, and g in the algebraic rows."""
    out = g.copy()
    for i in range(len(z)):
        if not algebraic[i]:
            out[i] = -f[i]
            for j in range(len(z)):
                out[i] += M[i, j] * z[j]
    return out


@njit(error_model="numpy")
def largest(vector):
    """The largest magnitude; infinite where there is a NaN."""
    found = 0.0
    for value in vector:
        found = max(found, abs(value)) if abs(value) < math.inf else math.inf
    return found


@jit(error_model="numpy")
def _check_size(y, M):
    if len(y) != len(M):
        raise failure.SizeError(failure.WRONG_MASS)
