"""What the cotangent g of an output does to lambda, beside a mass matrix M.

A change v of the state is known by M v and by the algebraic equations, the rows of zeros of M: K v = b, where
K has the rows of M, and those of df/dy in place of the zeros. So g^T v = mu^T b, where K^T mu = g. What mu
has in the rows of M is added to lambda; in the others b is -(df/dp) dp, a part of the derivative by p. Then
lambda in these rows follows from the others: its own algebraic equations say that (df/dy)^T lambda is a
combination of rows of M. Y. Cao, S. Li, L. Petzold, R. Serban, "Adjoint sensitivity analysis for
differential-algebraic equations", SIAM Journal on Scientific Computing 24 (2003),
doi:10.1137/S1064827501380630.
"""

import numpy as np

from numbad.forward.access import primal
from numbad.ode.adjoints.adjoint_system import add_members, put_state
from numbad.ode.adjoints.stage_pulls import BY_STATE, SEED, STATE, kernel, pull_at
from numbad.ode.compiling import inlined
from numbad.ode.orders import order_of
from numbad.ode.sparse_mass import SparseMass, by_entries, dense
from numbad.ode.state import structure_of
from numbad.ode.true_slope import algebraic_rows, inverted


def transposed_mass(mass):
    """A mass matrix as settings have it, turned over; None for the identity."""
    if isinstance(mass, SparseMass):
        from scipy.sparse import csr_array

        n = len(mass.starts) - 1
        return by_entries(csr_array((mass.values, mass.columns, mass.starts), (n, n)).T)
    return None if mass is None else tuple(zip(*mass, strict=True))


def make_jump(mass, pull_by_state, pull_by_args):
    """The compiled `jump(z, seed, row, t, ys, extras, into)`.

    `extras` are y0, what the state is like, the arguments, shadows of no further use, and rows of scratch;
    `into` has the shadows and the array of numbers that the derivative by the arguments is added to, which is
    not asked for where there is no `pull_by_args`.
    """
    M, algebraic = dense(mass), algebraic_rows(mass)
    some_algebraic = bool(algebraic.any())
    add_by_args = _make_add_by_args(pull_by_args)

    @inlined
    def pulled(t, x, chosen, extras):
        """(df/dy)^T x, of the `chosen` rows of x, into the scratch."""
        y0, like, given, shadows, rows = extras
        put_chosen(rows[SEED], 1.0, x, chosen)
        pull_at(pull_by_state, t, 0.0, rows, like, structure_of(y0), given, shadows)

    @inlined
    def matrix_at(t, x, extras):
        """The inverse of K on values."""
        n, rows = len(algebraic), extras[4]
        K = M.copy()
        for i in range(n):
            if algebraic[i]:
                x[:] = 0.0
                x[i] = 1.0
                pulled(t, x, algebraic, extras)
                for k in range(n):
                    K[i, k] = primal(rows[BY_STATE, k])
        return inverted(t, K)

    @inlined
    def complete(z, x, W, t, extras):
        """Put what follows from the others into the algebraic rows of lambda."""
        n, rows = len(algebraic), extras[4]
        everywhere, both = np.ones(n, np.bool_), np.empty_like(x)
        x[:] = 0.0
        for _ in range(order_of((x, extras))):
            for i in range(n):
                both[i] = x[i] if algebraic[i] else z[i]
            pulled(t, both, everywhere, extras)
            improve(x, W, M, algebraic, rows[BY_STATE])
        for i in range(n):
            if algebraic[i]:
                z[i] = x[i]

    @inlined
    def jump(z, seed, row, t, ys, extras, into):
        n, rows = len(algebraic), extras[4]
        x = np.empty_like(z[:n])
        put_state(rows[STATE], ys[row], 0)
        W = matrix_at(t, x, extras)
        x[:] = 0.0
        # Dual numbers take a step of Newton's method a level.
        for _ in range(order_of((x, extras))):
            rows[BY_STATE] = 0.0
            if some_algebraic:
                pulled(t, x, algebraic, extras)
            subtract(rows[BY_STATE], seed[row])
            improve(x, W, M, algebraic, rows[BY_STATE])
        for i in range(n):
            if not algebraic[i]:
                z[i] += x[i]
        if some_algebraic:
            add_by_args(t, x, algebraic, extras, into)
            complete(z, x, W, t, extras)

    return jump


def _make_add_by_args(pull):
    if pull is None:
        return inlined(lambda t, x, algebraic, extras, into: None)

    @inlined
    def add_by_args(t, x, algebraic, extras, into):
        y0, like, given, _, rows = extras
        shadows, sums = into
        put_chosen(rows[SEED], -1.0, x, algebraic)
        found = pull_at(pull, t, 0.0, rows, like, structure_of(y0), given, shadows)
        add_members(sums, found)

    return add_by_args


@kernel
def put_chosen(target, factor, x, chosen):
    for k in range(len(target)):
        target[k] = 0.0
        if chosen[k]:
            target[k] = factor * x[k]


@kernel
def subtract(target, other):
    for k in range(len(target)):
        target[k] -= other[k]


@kernel
def improve(x, W, M, algebraic, rest):
    """A step of Newton's method for x in K^T x = b; `rest` is what its algebraic rows give, less b."""
    n = len(algebraic)
    for k in range(n):
        for i in range(n):
            if not algebraic[i]:
                rest[k] += M[i, k] * x[i]
    for i in range(n):
        for k in range(n):
            x[i] -= W[k, i] * rest[k]


@kernel
def with_identity(mass, count):
    """A dense mass matrix with further rows and columns, up to `count`, of the identity."""
    larger = np.eye(count)
    for i in range(len(mass)):
        for k in range(len(mass)):
            larger[i, k] = mass[i, k]
    return larger
