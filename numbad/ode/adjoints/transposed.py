"""Linear systems with the transpose of W = M / gamma - h J, by the factors that a step has of W.

J and the right-hand side may hold dual numbers, of any depth: a partial of the solution solves
W^T dx = dr - dW^T x with the same factors.
"""

from numba import njit
from numba.extending import overload

from numbad.forward.dual import Dual
from numbad.ode.linear import parts


@njit(error_model="numpy", fastmath={"reassoc", "contract"})
def substitute_transposed(W, exchanges, x):
    """x := W^-T x, for the factors of W as `numbad.ode.linear` has them."""
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


def solve_transposed(W, exchanges, jacobian, h, x):
    """x := (M / gamma - h J)^-T x, for the factors of its values."""
    raise NotImplementedError


@overload(solve_transposed)
def _choose(W, exchanges, jacobian, h, x):
    if isinstance(x.dtype, Dual):
        return _of_duals
    return lambda W, exchanges, jacobian, h, x: substitute_transposed(W, exchanges, x)


def _of_duals(W, exchanges, jacobian, h, x):
    J, X = parts(jacobian), parts(x)
    n, count = X.shape
    values = J[:, :, 0]
    solve_transposed(W, exchanges, values, h, X[:, 0])
    for q in range(1, count):
        for j in range(n):
            for i in range(n):
                X[i, q] += h * J[j, i, q] * X[j, 0]
        solve_transposed(W, exchanges, values, h, X[:, q])
