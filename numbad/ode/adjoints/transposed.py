"""Linear systems with the transpose of W = M / gamma - h J, by the factors that a step has of W.

J and the right-hand side may hold dual numbers, of any depth: a partial of the solution solves
W^T dx = dr + h dJ^T x with the same factors.
"""

from numba import njit
from numba.core import types
from numba.extending import overload

from numbad.forward.dual import Dual
from numbad.ode import low_fill, sparse_linear
from numbad.ode.linear import linear_algebra, parts
from numbad.ode.sparsity_pattern import has_low_fill, is_banded

_factor_dense, _factor_sparse = linear_algebra(None).factor, sparse_linear.factor


def factor_either(W, exchanges, jacobian, mass, sparsity, h, gamma):
    """LU factors of W, dense or sparse."""
    raise NotImplementedError


@overload(factor_either, inline="always")
def _factor_either(W, exchanges, jacobian, mass, sparsity, h, gamma):
    if isinstance(sparsity, types.NoneType):
        return lambda W, exchanges, jacobian, mass, sparsity, h, gamma: _factor_dense(
            W, exchanges, jacobian, mass, h, gamma
        )
    return lambda W, exchanges, jacobian, mass, sparsity, h, gamma: _factor_sparse(
        W, exchanges, jacobian, mass, sparsity, h, gamma
    )


@njit(error_model="numpy")
def factor(W, exchanges, jacobian, mass, sparsity, h, gamma):
    """As `factor_either`."""
    factor_either(W, exchanges, jacobian, mass, sparsity, h, gamma)


def solve_transposed(W, exchanges, jacobian, sparsity, h, x):
    """x := W^-T x, for the factors of the values of W."""
    raise NotImplementedError


@overload(solve_transposed)
def _solve_transposed(W, exchanges, jacobian, sparsity, h, x):
    is_sparse = not isinstance(sparsity, types.NoneType)
    substitute = _substitute_band if is_banded(sparsity) else _substitute
    if has_low_fill(sparsity):
        few = low_fill.substitute_transposed
        substitute = njit(sparse_linear.substitute_either(few, substitute))
    add_turned = _add_turned_sparse if is_sparse else _add_turned

    def of_duals(W, exchanges, jacobian, sparsity, h, x):
        J, X = parts(jacobian), parts(x)
        values = J[:, :, 0]
        solve_transposed(W, exchanges, values, sparsity, h, X[:, 0])
        for q in range(1, X.shape[1]):
            add_turned(J[:, :, q], sparsity, h, X[:, 0], X[:, q])
            solve_transposed(W, exchanges, values, sparsity, h, X[:, q])

    if isinstance(x.dtype, Dual):
        return of_duals
    return lambda W, exchanges, jacobian, sparsity, h, x: substitute(W, exchanges, sparsity, x)


@njit(error_model="numpy", fastmath={"reassoc", "contract"})
def _substitute(W, exchanges, sparsity, x):
    """x := W^-T x, for factors as `numbad.ode.linear` has them."""
    n = len(W)
    for i in range(n):
        row = W[i]
        v = x[i] * row[i]
        x[i] = v
        for j in range(i + 1, n):
            x[j] -= row[j] * v
    for i in range(n - 1, 0, -1):
        row, v = W[i], x[i]
        for j in range(i):
            x[j] -= row[j] * v
    for k in range(n - 1, -1, -1):
        other = exchanges[k]
        x[k], x[other] = x[other], x[k]


@njit(error_model="numpy", fastmath={"contract"})
def _substitute_band(W, exchanges, sparsity, x):
    """x := W^-T x, for factors within a band, see `numbad.ode.sparse_linear`."""
    n, lower, upper, order = len(W), sparsity.widths[0], sparsity.widths[1], sparsity.order
    for k in range(n):
        v = x[order[k]] * W[k, lower]
        x[order[k]] = v
        for j in range(k + 1, min(n, k + lower + upper + 1)):
            x[order[j]] -= W[k, j - k + lower] * v
    for k in range(n - 1, -1, -1):
        here, other = order[k], order[exchanges[k]]
        for i in range(k + 1, min(n, k + lower + 1)):
            x[here] -= W[i, k - i + lower] * x[order[i]]
        x[here], x[other] = x[other], x[here]


@njit(error_model="numpy")
def _add_turned(J, sparsity, h, x, target):
    """target += h J^T x."""
    for i in range(len(x)):
        for j in range(len(x)):
            target[j] += h * J[i, j] * x[i]


@njit(error_model="numpy")
def _add_turned_sparse(J, sparsity, h, x, target):
    """As `_add_turned`, where J has a column for each colour."""
    for i in range(len(x)):
        for k in range(sparsity.starts[i], sparsity.starts[i + 1]):
            j = sparsity.columns[k]
            target[j] += h * J[i, sparsity.colours[j]] * x[i]
