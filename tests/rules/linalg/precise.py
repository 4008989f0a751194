"""NumPy's linear algebra in 80 digits by mpmath, and derivatives by differences of it.

Vectors that are known up to a sign or a phase are those that LAPACK has: their sign is the one that NumPy
finds, and the phase is fixed by an element that is real.
"""

import numpy as np
from mpmath import mp, mpf

DIGITS = 80
STEP = "1e-25"


def matrix(a):
    """An array as an mpmath matrix; a vector is a column."""
    a = np.asarray(a)
    columns = a.reshape(a.shape[0], -1)
    return mp.matrix(
        [
            [mp.mpmathify(complex(x) if a.dtype.kind == "c" else float(x)) for x in row]
            for row in columns
        ]
    )


def rounded(a):
    """An mpmath matrix as an array of double precision."""
    found = np.array([[complex(x) for x in a[i, :]] for i in range(a.rows)])
    return found if np.any(found.imag) else found.real


def moved(a, direction, step):
    return a + step * matrix(direction)


def derivative(f, a, *directions):
    """The derivative of a function of an mpmath matrix in directions one after another."""
    if not directions:
        return f(a)
    first, *rest = directions
    step = mpf(STEP)
    ahead, behind = (derivative(f, moved(a, first, s), *rest) for s in (step, -step))
    return (ahead - behind) / (2 * step)


def at(f, a, *directions):
    """The same of an array, as a float."""
    with mp.workdps(DIGITS):
        return float(mp.re(derivative(f, matrix(a), *directions)))


def adjoint(a):
    return a.T.apply(mp.conj)


def hermitian(a):
    """Of the lower triangle, as LAPACK reads it."""
    out = a.copy()
    for i in range(a.rows):
        out[i, i] = mp.re(a[i, i])
        for j in range(i):
            out[j, i] = mp.conj(a[i, j])
    return out


def _turned(v, like, row):
    """A vector with a real element, of the sign of NumPy's."""
    phase = v[row] / abs(v[row])
    v = [x / phase for x in v]
    sign = 1 if np.real(like[row]) * mp.re(v[row]) > 0 else -1
    return [sign * x for x in v]


def _columns(vectors):
    return mp.matrix(vectors).T


def cholesky(a):
    return mp.cholesky(hermitian(a))


def qr(a):
    m, n = a.rows, a.cols
    q, r = mp.qr(a[:, : min(m, n)], mode="skinny")
    _, like = np.linalg.qr(rounded(a))
    for k in range(q.cols):
        phase = r[k, k] / abs(r[k, k]) * (1 if like[k, k].real > 0 else -1)
        for i in range(q.rows):
            q[i, k] *= phase
    return q, adjoint(q) * a


def eigh(a):
    a = hermitian(a)
    values, vectors = mp.eighe(a)
    _, like = np.linalg.eigh(rounded(a))
    return values, _columns([_turned(list(vectors[:, k]), like[:, k], 0) for k in range(a.rows)])


def eig(a):
    values, vectors = mp.eig(a)
    like, like_vectors = np.linalg.eig(rounded(a))
    order = [min(range(a.rows), key=lambda k, w=w: abs(values[k] - w)) for w in like]
    found = []
    for j, k in enumerate(order):
        v = list(vectors[:, k])
        size = mp.sqrt(sum(abs(x) ** 2 for x in v))
        row = int(np.argmax(np.abs(like_vectors[:, j])))
        found.append(_turned([x / size for x in v], like_vectors[:, j], row))
    return [values[k] for k in order], _columns(found)


def svd(a):
    """The first element of each right vector is real, as LAPACK has it of no more columns than rows."""
    u, s, vh = mp.svd(a)
    _, _, like = np.linalg.svd(rounded(a), full_matrices=False)
    left, right = [], []
    for k in range(len(s)):
        v = [mp.conj(x) for x in vh[k, :]]
        turned = _turned(v, np.conj(like[k]), 0)
        factor = turned[0] / v[0]
        right.append([mp.conj(x) for x in turned])
        left.append([x * factor for x in u[:, k]])
    return _columns(left), s, mp.matrix(right)


def pinv(a):
    if a.rows >= a.cols:
        return mp.inverse(adjoint(a) * a) * adjoint(a)
    return adjoint(a) * mp.inverse(a * adjoint(a))


def singular_values(a):
    return svd(a)[1]


def slogdet(a):
    det = mp.det(a)
    return [det / abs(det), mp.log(abs(det))]
