"""Which steady state a state is next to, and the matrices that its derivatives take.

Conserved quantities, such as the total in a closed set of reactions, make the Jacobian of f singular: with P
the orthogonal projection on the vectors for which l . f = 0 everywhere, the steady state that is reached from
`start` is the regular root of

    g(y) = f(y) + c P (y - start).
"""

import math
from collections import namedtuple

import numpy as np
from numba import njit

from numbad.compilation.caching import jit
from numbad.errors import ArgumentError, ConvergenceError, SingularError
from numbad.implicit.lapack_status import solve_floats
from numbad.implicit.newton import newton_step
from numbad.implicit.regular import is_regular_along, weakest
from numbad.ode.integrate import as_passed
from numbad.ode.sparse_linear import weight
from numbad.ode.true_slope import make_right_side
from numbad.operators.first_order import jacobian

# A steady state is near where Newton's step is so many times as long as the tolerances allow errors to be.
NEAR = 10.0
# Newton steps for the last digits, and doublings of the time before a search gives up.
LAST_STEPS, DOUBLINGS = 20, 200
# Columns are dependent where less than this part of one is left beside the others.
DEPENDENT = 1e-12
# Rates that are less than this part of the largest entry of the Jacobian are none.
ROUNDING = 1e-13

# The compiled pieces: `slope(t, y, like, rest)` and `by_state`, its Jacobian by y; `tolerance(y)`, how large
# errors of the components may be; `nearest(t, y, start, columns, part, at_rest, like, rest) -> (found, root,
# J, pull)`, pull being c P; and `inverse(t, root, J, pull, like, rest)`, of the Jacobian of g.
Equilibrium = namedtuple("Equilibrium", "slope by_state tolerance nearest inverse check_time")


class UnsettledError(ConvergenceError):
    """A system that has not come to rest, with the time up to which it was followed."""

    def __init__(self, t):
        told = f"{t:g}" if isinstance(t, float) else t
        super().__init__(
            f"the system has no steady state that it reaches by t = {told}: it oscillates, grows or drifts; "
            "or it needs more than max_steps steps to settle"
        )


def make_equilibrium(problem, settings):
    """The pieces for a right-hand side, told apart within the tolerances of the settings."""
    slope = make_right_side(problem)
    by_state = jacobian(slope, argnums=1, mode="forward")
    passed, name = as_passed(settings), problem.fun.py_func.__name__
    rtol, atol = passed.rtol, passed.atol
    least_rtol, least_atol = float(np.min(rtol)), float(np.min(atol))
    moves = f"nd.ode.steady_state: {name} depends on the time t, so that nothing is steady"
    singular = (
        f"the steady state of {name} is not isolated, though nothing is conserved along the direction that "
        "is left open: it is at a bifurcation, or the last change decays more slowly than exponentially"
    )

    @jit(error_model="numpy")
    def tolerance(y):
        return atol + rtol * np.abs(y)

    @jit(error_model="numpy")
    def nearest(t, y, start, columns, part, at_rest, like, rest):
        """`columns` are Jacobians that conserved quantities are sought in, beside those at y and near it.

        `part` is how near, `at_rest` whether a state that repels will do.
        """
        J = by_state(t, y, like, rest)
        if spans(J):
            pull = np.zeros_like(J)
        else:
            near = y * 1.0
            for i in range(len(y)):
                near[i] *= 1.0 + part * weight(i)
            seen = np.concatenate((columns, J, by_state(t, near, like, rest)), axis=1)
            pull = conserved(seen) * largest_entry(J)
        close = tolerance(y)
        step, found = newton_step(J + pull, residual(slope(t, y, like, rest), y, start, pull))
        root = y + step
        if not (found and is_short(step, NEAR, close)):
            return False, root, J, pull
        for _ in range(LAST_STEPS):
            f = slope(t, root, like, rest)
            J = by_state(t, root, like, rest)
            step, found = newton_step(J + pull, residual(f, root, start, pull))
            if not found or is_short(step, 1e-15, root):
                break
            root += step
        # A state that repels is one that the system is about to leave, as a small population does.
        stays = at_rest or not grows(J)
        return stays and is_short(root - y, 2.0 * NEAR, close), root, J, pull

    @jit(error_model="numpy")
    def check_time(t, y, like, rest):
        change = slope(2.0 * t + 1.0, y, like, rest) - slope(t, y, like, rest)
        if np.all(np.isfinite(change)) and not is_short(change, 0.0, y):
            raise ArgumentError(moves)

    @jit(error_model="numpy")
    def inverse(t, root, J, pull, like, rest):
        check_time(t, root, like, rest)
        A = J + pull
        weak, found = weakest(root, A, least_atol, least_rtol)
        if found:
            other = by_state(t, root + weak, like, rest) + pull
            found = is_regular_along(A, weak, product(other, weak))
        W, regular = solve_floats(A, np.eye(len(root)))
        if not (found and regular):
            raise SingularError(singular)
        return W

    return Equilibrium(slope, by_state, tolerance, nearest, inverse, check_time)


@njit(error_model="numpy")
def first_stretch(f, y, tolerance):
    """A time over which the state changes by about a hundredth of itself."""
    size = speed = 0.0
    for i in range(len(y)):
        if tolerance[i] == 0.0:
            continue
        size = max(size, abs(y[i]) / tolerance[i])
        speed = max(speed, abs(f[i]) / tolerance[i])
    return 0.01 * size / speed if size > 0.0 and speed > 0.0 else 1e-3


@njit(error_model="numpy")
def is_short(step, part, most):
    """Whether each component of a step is at most as large as a part of that of `most`."""
    short = True
    for i in range(len(step)):
        short = short and abs(step[i]) <= part * abs(most[i])
    return short


@njit(error_model="numpy")
def grows(jacobian):
    """Whether a small displacement grows in some direction."""
    least = ROUNDING * len(jacobian) * largest_entry(jacobian)
    grown = False
    for value in np.linalg.eigvals(jacobian.astype(np.complex128)):
        grown = grown or value.real > least
    return grown


@njit(error_model="numpy")
def residual(f, y, start, pull):
    """f + pull (y - start)."""
    return f + product(pull, y - start)


@njit(error_model="numpy")
def product(matrix, vector):
    """A matrix times a vector."""
    out = np.zeros(len(matrix))
    for i in range(len(matrix)):
        for j in range(len(vector)):
            out[i] += matrix[i, j] * vector[j]
    return out


@njit(error_model="numpy")
def largest_entry(matrix):
    """The largest magnitude in a matrix, 1 where it is zero."""
    found = 0.0
    for value in matrix.flat:
        found = max(found, abs(value))
    return found if found > 0.0 else 1.0


@njit(error_model="numpy")
def spans(square):
    """Whether nothing is orthogonal to the columns, far beyond what `conserved` takes for dependent.

    The smallest singular value of the columns at length 1 is at least the inverse norm of their inverse, and
    some column has that part left, over the root of n, beside any others.
    """
    n, units = len(square), square.copy()
    for j in range(n):
        size = 0.0
        for i in range(n):
            size = math.hypot(size, square[i, j])
        for i in range(n):
            units[i, j] /= size
    inverse, regular = solve_floats(units, np.eye(n))
    total = 0.0
    for value in inverse.flat:
        total += value * value
    return regular and total * n < 1e-4 / DEPENDENT**2


@njit(error_model="numpy")
def conserved(columns):
    """The orthogonal projection on what is orthogonal to all columns, by Gram and Schmidt with pivoting."""
    n, count = columns.shape
    left = np.zeros((count, n))
    for j in range(count):
        size = 0.0
        for i in range(n):
            size = math.hypot(size, columns[i, j])
        if size > 0.0 and math.isfinite(size):
            for i in range(n):
                left[j, i] = columns[i, j] / size
    projection, rank = np.eye(n), 0
    for _ in range(n):
        longest, which = 0.0, 0
        for j in range(count):
            size = 0.0
            for i in range(n):
                size += left[j, i] ** 2
            if size > longest:
                longest, which = size, j
        if longest <= DEPENDENT**2:
            break
        rank += 1
        # Twice is enough: what remains is orthogonal to those before to rounding.
        unit = product(projection, product(projection, left[which]))
        size = 0.0
        for i in range(n):
            size += unit[i] ** 2
        unit /= math.sqrt(size)
        for i in range(n):
            for k in range(n):
                projection[i, k] -= unit[i] * unit[k]
        for j in range(count):
            along = 0.0
            for i in range(n):
                along += left[j, i] * unit[i]
            for i in range(n):
                left[j, i] -= along * unit[i]
    return projection if rank < n else np.zeros((n, n))
