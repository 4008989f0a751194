"""Linear systems of implicit steps: W k = r with W = M / gamma - h J, factored once for all stages.

J and r may hold dual numbers, of any depth. Only the values of W are factored; a partial of the
solution solves W dk = dr - dW k with the same factors, which is what simultaneous variational
equations do (Maly & Petzold, Applied Numerical Mathematics 20 (1996), sec. 3).
"""

import math
from functools import cache

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from numbad.forward.dual import Dual, base_scalar
from numbad.ode.compiling import inlined


def _view(extra, item):
    """An intrinsic that shows the numbers within an array of duals, without a copy.

    With `extra` they lie along a further axis: the value, then each partial.
    """

    @intrinsic
    def view(typingctx, array):
        dual = array.dtype
        layout = "C" if extra and array.layout == "C" else "A"
        result = types.Array(item(dual), array.ndim + extra, layout)

        def codegen(context, builder, signature, arguments):
            old = make_array(array)(context, builder, arguments[0])
            new = make_array(result)(context, builder)
            size = context.get_constant(
                types.intp, context.get_abi_sizeof(context.get_data_type(result.dtype))
            )
            shape, strides = (
                [builder.extract_value(part, i) for i in range(array.ndim)]
                for part in (old.shape, old.strides)
            )
            if extra:
                shape.append(context.get_constant(types.intp, 1 + dual.n))
                strides.append(size)
            pointer = context.get_data_type(result.dtype).as_pointer()
            populate_array(
                new,
                data=builder.bitcast(old.data, pointer),
                shape=shape,
                strides=strides,
                itemsize=size,
                meminfo=None,
                parent=None,
            )
            return new._getvalue()

        return result(array), codegen

    return view


parts = _view(1, lambda dual: dual.scalar)
innermost = _view(0, base_scalar)


# Up to this size the loops over a system of known size are unrolled.
SMALL = 8


class LinearAlgebra:
    """The compiled `factor` and `solve` of systems of a size, or of any: for `size` None."""

    def __init__(self, size):
        order, reach = extent(size)
        self.factor = _make_factor(order, reach)
        self.substitute = _make_substitute(order)
        self.substitute_columns = _make_substitute_columns(order)
        self.solve = _make_solve(self.substitute, self.substitute_columns)


@cache
def linear_algebra(size):
    """`LinearAlgebra` for a known size, worth its own code where it is small."""
    return LinearAlgebra(size) if size is None or size <= SMALL else linear_algebra(None)


def extent(size):
    """The compiled `order(W)`, and `reach(row, k)`: how far a row of it has other than zeros."""
    if size is not None:
        return inlined(lambda W: size), inlined(lambda row, k: size)

    @inlined
    def reach(row, k):
        last = len(row)
        while last > k + 1 and row[last - 1] == 0.0:
            last -= 1
        return last

    return inlined(lambda W: len(W)), reach


def _make_factor(order, reach):
    eliminate = make_eliminate(order, reach)

    @njit(error_model="numpy")
    def factor(W, exchanges, jacobian, mass, h, gamma):
        """LU factors of M / gamma - h J with row exchanges, into W; the pivots are inverted."""
        values = innermost(jacobian)
        n = order(W)
        for i in range(n):
            for j in range(n):
                W[i, j] = -h * values[i, j]
            if mass is None:
                W[i, i] += 1.0 / gamma
            else:
                for j in range(n):
                    W[i, j] += mass[i, j] / gamma
        eliminate(W, exchanges)

    return factor


def inverse(pivot):
    """1 / pivot: infinite, or NaN, for zero, where complex division raises."""
    raise NotImplementedError


@overload(inverse, inline="always")
def _inverse(pivot):
    if isinstance(pivot, types.Complex):
        return lambda pivot: 1.0 / pivot if pivot != 0.0 else pivot + math.nan
    return lambda pivot: 1.0 / pivot


def make_eliminate(order, reach):
    """The compiled `eliminate(W, exchanges)`: the LU factors of W in its place."""

    @inlined
    def eliminate(W, exchanges):
        n = order(W)
        for k in range(n):
            best, largest = k, abs(W[k, k])
            for i in range(k + 1, n):
                size = abs(W[i, k])
                if size > largest:
                    best, largest = i, size
            exchanges[k] = best
            if best != k:
                for j in range(n):
                    W[k, j], W[best, j] = W[best, j], W[k, j]
            top = W[k]
            pivot = inverse(top[k])
            # Unsigned, as negative indices would be counted from the end: that hinders vector code.
            first, end = np.uint64(k + 1), np.uint64(reach(top, k))
            for i in range(k + 1, n):
                row = W[i]
                if row[k] != 0.0:  # zeros of a sparse Jacobian cost no more than a look
                    w = row[k] * pivot
                    row[k] = w
                    for j in range(first, end):
                        row[j] -= w * top[j]
            top[k] = pivot

    return eliminate


def _make_substitute(order):
    @njit(error_model="numpy", fastmath={"reassoc", "contract"})
    def substitute(W, exchanges, x):
        """x := W^-1 x, for the factors of W."""
        n = order(W)
        for k in range(n):
            other = exchanges[k]
            total = x[other]
            x[other] = x[k]
            for j in range(k):
                total -= W[k, j] * x[j]
            x[k] = total
        for k in range(n - 1, -1, -1):
            total = x[k]
            for j in range(k + 1, n):
                total -= W[k, j] * x[j]
            x[k] = total * W[k, k]

    return substitute


def _make_substitute_columns(order):
    @njit(error_model="numpy", fastmath={"contract"})
    def substitute_columns(W, exchanges, x):
        """As `substitute`, for a column for each of several vectors."""
        n, count = order(W), x.shape[1]
        for k in range(n):
            other = exchanges[k]
            if other != k:
                for q in range(count):
                    x[k, q], x[other, q] = x[other, q], x[k, q]
            for j in range(k):
                subtract(x, k, W[k, j], j)
        for k in range(n - 1, -1, -1):
            for j in range(k + 1, n):
                subtract(x, k, W[k, j], j)
            for q in range(count):
                x[k, q] *= W[k, k]

    return substitute_columns


@njit(error_model="numpy", fastmath={"contract"}, inline="always")
def subtract(x, k, w, j):
    """Row k less w times row j."""
    if w != 0.0:
        for q in range(x.shape[1]):
            x[k, q] -= w * x[j, q]


def _make_solve(substitute, substitute_columns):
    def solve_factored(W, exchanges, jacobian, h, x):
        """x := (M / gamma - h J)^-1 x, for the factors of its values."""
        raise NotImplementedError

    @overload(solve_factored)
    def choose(W, exchanges, jacobian, h, x):
        if not isinstance(x.dtype, Dual):
            return lambda W, exchanges, jacobian, h, x: substitute(W, exchanges, x)
        return of_nested_duals if isinstance(x.dtype.scalar, Dual) else of_duals

    def of_duals(W, exchanges, jacobian, h, x):
        J, X = parts(jacobian), parts(x)
        n, count = X.shape
        substitute(W, exchanges, X[:, 0])
        for i in range(n):
            for j in range(n):
                k = h * X[j, 0]
                for q in range(1, count):
                    X[i, q] += k * J[i, j, q]
        substitute_columns(W, exchanges, X[:, 1:])

    def of_nested_duals(W, exchanges, jacobian, h, x):
        J, X = parts(jacobian), parts(x)
        n, count = X.shape
        values = J[:, :, 0]
        solve_factored(W, exchanges, values, h, X[:, 0])
        for q in range(1, count):
            for i in range(n):
                for j in range(n):
                    X[i, q] += h * J[i, j, q] * X[j, 0]
            solve_factored(W, exchanges, values, h, X[:, q])

    @njit(error_model="numpy")
    def solve(W, exchanges, jacobian, h, x):
        solve_factored(W, exchanges, jacobian, h, x)

    return solve
