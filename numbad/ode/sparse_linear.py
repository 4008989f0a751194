"""Linear systems of implicit steps whose Jacobian is sparse: LU factors of low fill, of a band, or of all.

As `numbad/ode/linear.py`, for a Jacobian whose columns of one colour share a column of the matrix: J[i, j] is
`jacobian[i, colours[j]]`. Factors of low fill are those of `numbad/ode/low_fill.py`. Within a band they lie
in a table of a row for each row of the band and a column for each of its diagonals, of which exchanges of
rows fill `lower` more above. E. Anderson et al., "LAPACK Users' Guide", 1999, section "Band Storage".
"""

from functools import cache

from numba import njit
from numba.core import types
from numba.extending import overload

from numbad.forward.dual import Dual
from numbad.ode import low_fill
from numbad.ode.linear import extent, innermost, inverse, linear_algebra, make_eliminate, parts
from numbad.ode.sparsity_pattern import has_low_fill, is_banded

DENSE = linear_algebra(None)
IN_LOW_FILL = -1  # the first exchange of rows, where the factors have low fill
eliminate = make_eliminate(*extent(None))


def factor_sparse(W, exchanges, jacobian, mass, sparsity, h, gamma):
    """LU factors of M / gamma - h J with row exchanges, into W; the pivots are inverted."""
    raise NotImplementedError


@overload(factor_sparse)
def _factor_sparse(W, exchanges, jacobian, mass, sparsity, h, gamma):
    pivoted = _factor_band if is_banded(sparsity) else _factor_whole
    return _with_low_fill(pivoted) if has_low_fill(sparsity) else pivoted


@cache
def _with_low_fill(pivoted):
    """A factorisation that exchanges rows only where pivots on the diagonal are too small."""
    pivoted = njit(error_model="numpy")(pivoted)

    def factored(W, exchanges, jacobian, mass, sparsity, h, gamma):
        if low_fill.eliminate(W, jacobian, mass, sparsity, h, gamma):
            exchanges[0] = IN_LOW_FILL
        else:
            pivoted(W, exchanges, jacobian, mass, sparsity, h, gamma)

    return factored


def _factor_whole(W, exchanges, jacobian, mass, sparsity, h, gamma):
    values = innermost(jacobian)
    W[:] = 0.0
    for i in range(len(W)):
        put_mass_whole(W, i, mass, gamma)
        for k in range(sparsity.starts[i], sparsity.starts[i + 1]):
            j = sparsity.columns[k]
            W[i, j] -= h * values[i, sparsity.colours[j]]
    eliminate(W, exchanges)


def _factor_band(W, exchanges, jacobian, mass, sparsity, h, gamma):
    values = innermost(jacobian)
    n, (lower, upper) = len(W), _widths(sparsity)
    W[:] = 0.0
    for i in range(n):
        row = sparsity.place[i]
        put_mass_in_band(W, i, row, lower, mass, sparsity, gamma)
        for k in range(sparsity.starts[i], sparsity.starts[i + 1]):
            j = sparsity.columns[k]
            W[row, sparsity.place[j] - row + lower] -= h * values[i, sparsity.colours[j]]
    for k in range(n):
        below, end = min(n, k + lower + 1), min(n, k + lower + upper + 1)
        best, largest = k, abs(W[k, lower])
        for i in range(k + 1, below):
            size = abs(W[i, k - i + lower])
            if size > largest:
                best, largest = i, size
        exchanges[k] = best
        if best != k:
            for j in range(k, end):
                a, b = j - k + lower, j - best + lower
                W[k, a], W[best, b] = W[best, b], W[k, a]
        pivot = inverse(W[k, lower])
        W[k, lower] = pivot
        for i in range(k + 1, below):
            w = W[i, k - i + lower] * pivot
            if w != 0.0:
                W[i, k - i + lower] = w
                for j in range(k + 1, end):
                    W[i, j - i + lower] -= w * W[k, j - k + lower]


def put_mass_whole(W, i, mass, gamma):
    """Row i of M / gamma, into W."""
    raise NotImplementedError


@overload(put_mass_whole, inline="always")
def _put_mass_whole(W, i, mass, gamma):
    def identity(W, i, mass, gamma):
        W[i, i] = 1.0 / gamma

    def entries(W, i, mass, gamma):
        for k in range(mass.starts[i], mass.starts[i + 1]):
            W[i, mass.columns[k]] = mass.values[k] / gamma

    return identity if isinstance(mass, types.NoneType) else entries


def put_mass_in_band(W, i, row, lower, mass, sparsity, gamma):
    """Row i of M / gamma, into that row of the band."""
    raise NotImplementedError


@overload(put_mass_in_band, inline="always")
def _put_mass_in_band(W, i, row, lower, mass, sparsity, gamma):
    def identity(W, i, row, lower, mass, sparsity, gamma):
        W[row, lower] = 1.0 / gamma

    def entries(W, i, row, lower, mass, sparsity, gamma):
        for k in range(mass.starts[i], mass.starts[i + 1]):
            W[row, sparsity.place[mass.columns[k]] - row + lower] = mass.values[k] / gamma

    return identity if isinstance(mass, types.NoneType) else entries


@njit(inline="always")
def _widths(sparsity):
    return sparsity.widths[0], sparsity.widths[1]


def substitute(W, exchanges, sparsity, x):
    """x := W^-1 x, for the factors of W; `x` is a vector, or has a column for each of several."""
    raise NotImplementedError


@overload(substitute)
def _substitute(W, exchanges, sparsity, x):
    if x.ndim == 1:
        few, within, whole = low_fill.substitute_one, substitute_one, DENSE.substitute
    else:
        few, within = low_fill.substitute_columns, substitute_columns
        whole = DENSE.substitute_columns
    if is_banded(sparsity):
        pivoted = within
    else:
        pivoted = _without_pattern(whole)
    if not has_low_fill(sparsity):
        return lambda W, exchanges, sparsity, x: pivoted(W, exchanges, sparsity, x)
    return substitute_either(few, pivoted)


@cache
def _without_pattern(substitution):
    return njit(lambda W, exchanges, sparsity, x: substitution(W, exchanges, x))


def substitute_either(few, pivoted):
    """A substitution by factors of a pattern of low fill, however they were made."""

    def substituted(W, exchanges, sparsity, x):
        if exchanges[0] == IN_LOW_FILL:
            few(W, sparsity, x)
        else:
            pivoted(W, exchanges, sparsity, x)

    return substituted


@njit(error_model="numpy", fastmath={"contract"})
def substitute_columns(W, exchanges, sparsity, x):
    """As `substitute` within a band, for several vectors."""
    n, count, (lower, upper) = len(W), x.shape[1], _widths(sparsity)
    order = sparsity.order
    for k in range(n):
        here, other = order[k], order[exchanges[k]]
        for q in range(count):
            x[here, q], x[other, q] = x[other, q], x[here, q]
        for i in range(k + 1, min(n, k + lower + 1)):
            w = W[i, k - i + lower]
            for q in range(count):
                x[order[i], q] -= w * x[here, q]
    for k in range(n - 1, -1, -1):
        here = order[k]
        for j in range(k + 1, min(n, k + lower + upper + 1)):
            w = W[k, j - k + lower]
            for q in range(count):
                x[here, q] -= w * x[order[j], q]
        for q in range(count):
            x[here, q] *= W[k, lower]


@njit(error_model="numpy", fastmath={"contract"})
def substitute_one(W, exchanges, sparsity, x):
    """The same for one vector."""
    n, (lower, upper) = len(W), _widths(sparsity)
    order = sparsity.order
    for k in range(n):
        here, other = order[k], order[exchanges[k]]
        x[here], x[other] = x[other], x[here]
        for i in range(k + 1, min(n, k + lower + 1)):
            x[order[i]] -= W[i, k - i + lower] * x[here]
    for k in range(n - 1, -1, -1):
        total = x[order[k]]
        for j in range(k + 1, min(n, k + lower + upper + 1)):
            total -= W[k, j - k + lower] * x[order[j]]
        x[order[k]] = total * W[k, lower]


def solve_factored(W, exchanges, jacobian, sparsity, h, x):
    """x := (M / gamma - h J)^-1 x, for the factors of its values."""
    raise NotImplementedError


@overload(solve_factored)
def _solve_factored(W, exchanges, jacobian, sparsity, h, x):
    if not isinstance(x.dtype, Dual):
        return lambda W, exchanges, jacobian, sparsity, h, x: substitute(W, exchanges, sparsity, x)
    return _of_nested_duals if isinstance(x.dtype.scalar, Dual) else _of_duals


def _of_duals(W, exchanges, jacobian, sparsity, h, x):
    J, X = parts(jacobian), parts(x)
    substitute(W, exchanges, sparsity, X[:, 0])
    for i in range(len(X)):
        for k in range(sparsity.starts[i], sparsity.starts[i + 1]):
            j = sparsity.columns[k]
            for q in range(1, X.shape[1]):
                X[i, q] += h * X[j, 0] * J[i, sparsity.colours[j], q]
    substitute(W, exchanges, sparsity, X[:, 1:])


def _of_nested_duals(W, exchanges, jacobian, sparsity, h, x):
    J, X = parts(jacobian), parts(x)
    values = J[:, :, 0]
    solve_factored(W, exchanges, values, sparsity, h, X[:, 0])
    for q in range(1, X.shape[1]):
        for i in range(len(X)):
            for k in range(sparsity.starts[i], sparsity.starts[i + 1]):
                j = sparsity.columns[k]
                X[i, q] += h * J[i, sparsity.colours[j], q] * X[j, 0]
        solve_factored(W, exchanges, values, sparsity, h, X[:, q])


@njit(error_model="numpy")
def factor(W, exchanges, jacobian, mass, sparsity, h, gamma):
    """As `factor_sparse`."""
    factor_sparse(W, exchanges, jacobian, mass, sparsity, h, gamma)


@njit(error_model="numpy")
def solve(W, exchanges, jacobian, sparsity, h, x):
    """As `solve_factored`."""
    solve_factored(W, exchanges, jacobian, sparsity, h, x)


@njit(error_model="numpy")
def has_pattern(jacobian, moved, sparsity):
    """Whether the pattern has all entries: `moved` is J times the `weight` of each component."""
    values, along = innermost(jacobian), innermost(moved)
    for i in range(len(along)):
        total = size = 0.0
        for k in range(sparsity.starts[i], sparsity.starts[i + 1]):
            j = sparsity.columns[k]
            term = values[i, sparsity.colours[j]] * weight(j)
            total += term
            size += abs(term)
        if abs(along[i] - total) > 1e-8 * max(size, abs(along[i])):
            return False
    return True


@njit(inline="never")
def weight(j):
    """Weights that tell columns apart."""
    return 1.0 + 0.37 * (j % 11) + 0.11 * (j % 17)
