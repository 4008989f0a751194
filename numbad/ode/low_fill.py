"""LU factors in an order that fills little in, with the pivots on the diagonal; see `numbad/ode/fill.py`.

The entries of the factors lie row after row in the memory of W, whatever its shape, with the pivots inverted;
the last `len(W)` numbers of it are a row that is being eliminated.
"""

from numba import njit
from numba.core import types
from numba.extending import overload

from numbad.ode.fill import unpacked
from numbad.ode.linear import innermost

# A pivot is too small where what was taken from its place was so many times what stood there.
GROWTH = 1e4


@njit(error_model="numpy", fastmath={"contract"})
def eliminate(W, jacobian, mass, sparsity, h, gamma):
    """The factors of M / gamma - h J, into W; False where a pivot is too small."""
    values, LU, n = innermost(jacobian), W.reshape(W.size), len(W)
    row = LU[len(LU) - n :]
    eliminated, place, diagonal, alike, starts, columns = unpacked(sparsity.fill, n)
    for p in range(n):
        i, first, middle, end = eliminated[p], starts[p], diagonal[p], starts[p + 1]
        for e in range(first, end):
            row[columns[e]] = 0.0
        put_mass(row, i, mass, place, gamma)
        for k in range(sparsity.starts[i], sparsity.starts[i + 1]):
            j = sparsity.columns[k]
            row[place[j]] -= h * values[i, sparsity.colours[j]]
        given, taken, e = abs(row[p]), 0.0, first
        while e < middle:
            q, before = columns[e], row[p]
            if alike[q] >= 4 and q + 3 < p:
                take_four(LU, row, q, e, diagonal, starts, columns)
                e += 4
            else:
                factor = row[q] * LU[diagonal[q]]
                LU[e] = factor
                if factor != 0.0:
                    for s in range(diagonal[q] + 1, starts[q + 1]):
                        row[columns[s]] -= factor * LU[s]
                e += 1
            taken += abs(row[p] - before)
        if not (taken <= GROWTH * given and abs(row[p]) > 0.0):
            return False
        LU[middle] = 1.0 / row[p]
        for e in range(middle + 1, end):
            LU[e] = row[columns[e]]
    return True


@njit(error_model="numpy", fastmath={"contract"})
def take_four(LU, row, q, e, diagonal, starts, columns):
    """Take multiples of four rows with the same columns beyond them, from row q on; put these at `e`."""
    first, second, third, fourth = diagonal[q], diagonal[q + 1], diagonal[q + 2], diagonal[q + 3]
    a = row[q] * LU[first]
    b = (row[q + 1] - a * LU[first + 1]) * LU[second]
    c = (row[q + 2] - a * LU[first + 2] - b * LU[second + 1]) * LU[third]
    d = row[q + 3] - a * LU[first + 3] - b * LU[second + 2] - c * LU[third + 1]
    d *= LU[fourth]
    LU[e], LU[e + 1], LU[e + 2], LU[e + 3] = a, b, c, d
    for s in range(1, starts[q + 4] - fourth):
        taken = a * LU[first + 3 + s] + b * LU[second + 2 + s]
        row[columns[fourth + s]] -= taken + (c * LU[third + 1 + s] + d * LU[fourth + s])


def put_mass(row, i, mass, place, gamma):
    """Add row i of M / gamma."""
    raise NotImplementedError


@overload(put_mass, inline="always")
def _put_mass(row, i, mass, place, gamma):
    def identity(row, i, mass, place, gamma):
        row[place[i]] += 1.0 / gamma

    def entries(row, i, mass, place, gamma):
        for k in range(mass.starts[i], mass.starts[i + 1]):
            row[place[mass.columns[k]]] += mass.values[k] / gamma

    return identity if isinstance(mass, types.NoneType) else entries


@njit(error_model="numpy", fastmath={"contract"})
def substitute_one(W, sparsity, x):
    """x := W^-1 x for a vector."""
    LU, n = W.reshape(W.size), len(W)
    components, _, diagonal, _, starts, columns = unpacked(sparsity.fill, n)
    for p in range(n):
        total = x[components[p]]
        for e in range(starts[p], diagonal[p]):
            total -= LU[e] * x[components[columns[e]]]
        x[components[p]] = total
    for p in range(n - 1, -1, -1):
        total = x[components[p]]
        for e in range(diagonal[p] + 1, starts[p + 1]):
            total -= LU[e] * x[components[columns[e]]]
        x[components[p]] = total * LU[diagonal[p]]


@njit(error_model="numpy", fastmath={"contract"})
def substitute_columns(W, sparsity, x):
    """The same for several vectors, the columns of x."""
    LU, n, count = W.reshape(W.size), len(W), x.shape[1]
    components, _, diagonal, _, starts, columns = unpacked(sparsity.fill, n)
    for p in range(n):
        here = components[p]
        for e in range(starts[p], diagonal[p]):
            w, other = LU[e], components[columns[e]]
            for q in range(count):
                x[here, q] -= w * x[other, q]
    for p in range(n - 1, -1, -1):
        here = components[p]
        for e in range(diagonal[p] + 1, starts[p + 1]):
            w, other = LU[e], components[columns[e]]
            for q in range(count):
                x[here, q] -= w * x[other, q]
        for q in range(count):
            x[here, q] *= LU[diagonal[p]]


@njit(error_model="numpy", fastmath={"contract"})
def substitute_transposed(W, sparsity, x):
    """x := W^-T x for a vector."""
    LU, n = W.reshape(W.size), len(W)
    components, _, diagonal, _, starts, columns = unpacked(sparsity.fill, n)
    for p in range(n):
        v = x[components[p]] * LU[diagonal[p]]
        x[components[p]] = v
        for e in range(diagonal[p] + 1, starts[p + 1]):
            x[components[columns[e]]] -= LU[e] * v
    for p in range(n - 1, -1, -1):
        v = x[components[p]]
        for e in range(starts[p], diagonal[p]):
            x[components[columns[e]]] -= LU[e] * v
