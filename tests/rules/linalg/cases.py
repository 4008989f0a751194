"""Functions of matrices, each with what it is in 80 digits, for the tests of derivatives."""

from dataclasses import dataclass

import numpy as np
from mpmath import mp
from numba import njit

from . import precise

A = np.array([[2.1, 0.3, -0.7], [0.4, 1.5, 0.2], [0.9, -0.1, 3.1]])
TALL = np.array([[0.53, 1.47, -2.61], [1.27, -0.71, 0.41], [0.9, 0.4, 1.3], [-0.2, 1.7, 0.6]])
TURN = np.array([[0.2, -0.5, 0.3], [0.7, 0.1, -0.4], [-0.6, 0.8, 0.9]])
C = A + 1j * TURN
CTALL = TALL + 1j * np.vstack((TURN, [[0.1, 0.3, -0.2]]))
POSITIVE = A @ A.T + TURN  # not symmetric: the upper triangle is not read
HERMITIAN = C @ C.conj().T + TURN
B = np.array([0.7, -1.1, 0.4])


@njit
def weighed(x):
    """A function of all elements of an array of floats."""
    flat, out = x.flatten(), 0.0
    for k in range(flat.size):
        out += (0.7 + 0.31 * k) * flat[k] + 0.2 * flat[k] * flat[k]
    return out


@njit
def weighed_complex(x):
    """A function of real and imaginary parts."""
    flat, out = x.flatten(), 0.0
    for k in range(flat.size):
        out += ((0.7 + 0.31 * k - 0.4j) * flat[k] + 0.2 * flat[k] * flat[k]).real
        out += 0.1 * (flat[k] * np.conj(flat[k])).real
    return out


def weigh(x, conjugate=False):
    """The same of mpmath numbers."""
    items = [x[i, j] for i in range(x.rows) for j in range(x.cols)] if hasattr(x, "rows") else x
    if not conjugate:
        return sum(
            (mp.mpf("0.7") + mp.mpf("0.31") * k) * v + mp.mpf("0.2") * v * v
            for k, v in enumerate(items)
        )
    return sum(
        mp.re((mp.mpc("0.7", "-0.4") + mp.mpf("0.31") * k) * v + mp.mpf("0.2") * v * v)
        + mp.mpf("0.1") * abs(v) ** 2
        for k, v in enumerate(items)
    )


def both(x):
    return weigh(x, conjugate=True)


@dataclass
class Case:
    """A function of a matrix, the same by mpmath, and where they are compared."""

    f: object
    exact: object
    points: tuple
    rtol: float = 1e-11


CASES = {}


def case(exact, *points, **options):
    def register(f):
        CASES[f.__name__] = Case(f, exact, points, **options)
        return f

    return register


# -- systems -------------------------------------------------------------------------------------


def _solve(a):
    return weigh(mp.lu_solve(a, precise.matrix(B))) + weigh(mp.inverse(a) * a[:, :2] * a[:2, :])


@case(_solve, A, A[::-1].T, np.asfortranarray(A))
def solve(a):
    return weighed(np.linalg.solve(a, B)) + weighed(np.linalg.solve(a, a[:, :2]) @ a[:2])


@case(lambda a: both(mp.lu_solve(a, precise.matrix(B + 1j))), C)
def solve_complex(a):
    return weighed_complex(np.linalg.solve(a, B + 1j))


@case(lambda a: weigh(mp.inverse(a)), A, A[::-1, ::-1])
def inv(a):
    return weighed(np.linalg.inv(a))


@case(lambda a: both(mp.inverse(a)), C)
def inv_complex(a):
    return weighed_complex(np.linalg.inv(a))


@case(lambda a: mp.det(a) ** 2, A, A.T)
def det(a):
    return np.linalg.det(a) ** 2


@case(lambda a: mp.re(mp.det(a) ** 2), C)
def det_complex(a):
    return (np.linalg.det(a) ** 2).real


def _logarithms(a):
    sign, log = precise.slogdet(a)
    return sign * log**2


@case(_logarithms, A, A[::-1])
def slogdet(a):
    sign, log = np.linalg.slogdet(a)
    return sign * log**2


@case(lambda a: mp.re(precise.slogdet(a)[0] * (2 + 1j)) + precise.slogdet(a)[1] ** 2, C)
def slogdet_complex(a):
    sign, log = np.linalg.slogdet(a)
    return (sign * (2.0 + 1.0j)).real + log**2


# -- factorisations ------------------------------------------------------------------------------


@case(lambda a: weigh(precise.cholesky(a)), POSITIVE, np.asfortranarray(POSITIVE))
def cholesky(a):
    return weighed(np.linalg.cholesky(a))


@case(lambda a: both(precise.cholesky(a)), HERMITIAN)
def cholesky_complex(a):
    return weighed_complex(np.linalg.cholesky(a))


def _qr(a, how=weigh):
    q, r = precise.qr(a)
    return how(q) * how(r)


@case(_qr, A, TALL, TALL.T)
def qr(a):
    q, r = np.linalg.qr(a)
    return weighed(q) * weighed(r)


@case(lambda a: _qr(a, both), C, CTALL, CTALL.T)
def qr_complex(a):
    q, r = np.linalg.qr(a)
    return weighed_complex(q) * weighed_complex(r)


# -- spectra -------------------------------------------------------------------------------------


def _pairs(how, values=weigh):
    def exact(found):
        w, v = found
        return values(w) * how(v)

    return exact


@case(lambda a: _pairs(weigh)(precise.eigh(a)), POSITIVE, POSITIVE[::-1, ::-1])
def eigh(a):
    w, v = np.linalg.eigh(a)
    return weighed(w) * weighed(v)


@case(lambda a: _pairs(both)(precise.eigh(a)), HERMITIAN)
def eigh_complex(a):
    w, v = np.linalg.eigh(a)
    return weighed(w) * weighed_complex(v)


@case(lambda a: weigh(precise.eigh(a)[0]), POSITIVE, POSITIVE.T)
def eigvalsh(a):
    return weighed(np.linalg.eigvalsh(a))


@case(lambda a: mp.re(_pairs(weigh)(precise.eig(a))), POSITIVE)
def eig(a):
    w, v = np.linalg.eig(a)
    return weighed(w) * weighed(v)


@case(lambda a: _pairs(both, both)(precise.eig(a)), C)
def eig_complex(a):
    w, v = np.linalg.eig(a)
    return weighed_complex(w) * weighed_complex(v)


@case(lambda a: mp.re(weigh(precise.eig(a)[0])), POSITIVE)
def eigvals(a):
    return weighed(np.linalg.eigvals(a))


@case(lambda a: both(precise.eig(a)[0]), C)
def eigvals_complex(a):
    return weighed_complex(np.linalg.eigvals(a))


def _svd(a, how=weigh):
    u, s, vh = precise.svd(a)
    return how(u) * weigh(s) * how(vh)


@case(_svd, A, TALL, TALL.T)
def svd(a):
    u, s, vh = np.linalg.svd(a, False)
    return weighed(u) * weighed(s) * weighed(vh)


@case(lambda a: _svd(a, both), C, CTALL)
def svd_complex(a):
    u, s, vh = np.linalg.svd(a, False)
    return weighed_complex(u) * weighed(s) * weighed_complex(vh)


# -- least squares -------------------------------------------------------------------------------


@case(lambda a: weigh(precise.pinv(a)), A, TALL, TALL.T)
def pinv(a):
    return weighed(np.linalg.pinv(a))


@case(lambda a: both(precise.pinv(a)), C, CTALL, CTALL.T)
def pinv_complex(a):
    return weighed_complex(np.linalg.pinv(a))


def _fit(a):
    b = precise.matrix([0.3, 0.8, -0.5, 1.2][: a.rows]) + a[:, 0]
    x = precise.pinv(a) * b
    rest = b - a * x
    squares = sum(v**2 for v in rest) if a.rows > a.cols else 0
    return weigh(x) + squares**2 + weigh(precise.singular_values(a))


@case(_fit, A, TALL, TALL.T)
def lstsq(a):
    b = np.array([0.3, 0.8, -0.5, 1.2])[: a.shape[0]] + a[:, 0]
    x, squares, _, s = np.linalg.lstsq(a, b)
    return weighed(x) + (squares**2).sum() + weighed(s)


def _fit_complex(a):
    b = a[:, :2] * a[:2, :2] + precise.matrix(np.ones((a.rows, 2)))
    x = precise.pinv(a) * b
    rest = b - a * x
    squares = [sum(abs(rest[i, j]) ** 2 for i in range(a.rows)) for j in range(2)]
    return both(x) + (weigh(squares) if a.rows > a.cols else 0)


@case(_fit_complex, CTALL, CTALL.T)
def lstsq_complex(a):
    b = a[:, :2] @ a[:2, :2] + 1.0
    x, squares, _, _ = np.linalg.lstsq(a, b)
    return weighed_complex(x) + weighed(squares)


# -- norms and powers ----------------------------------------------------------------------------


def _sums(a):
    rows = [sum(abs(a[i, j]) for j in range(a.cols)) for i in range(a.rows)]
    columns = [sum(abs(a[i, j]) for i in range(a.rows)) for j in range(a.cols)]
    return rows, columns


def _norms(a):
    s = precise.singular_values(a)
    rows, columns = _sums(a)
    size = mp.sqrt(sum(abs(v) ** 2 for v in a))
    return size * s[0] + s[len(s) - 1] * max(rows) + min(rows) * max(columns) * min(columns)


@case(_norms, A, TALL, TALL.T[::-1])
def norms(a):
    norm = np.linalg.norm
    ends = norm(a, -np.inf) * norm(a, 1) * norm(a, -1)
    return norm(a) * norm(a, 2) + norm(a, -2) * norm(a, np.inf) + ends


@case(_norms, C, CTALL)
def norms_complex(a):
    norm = np.linalg.norm
    ends = norm(a, -np.inf) * norm(a, 1) * norm(a, -1)
    return norm(a) * norm(a, 2) + norm(a, -2) * norm(a, np.inf) + ends


def _norms_of_vectors(a):
    x = [abs(v) for v in a[:, 1]]
    size = mp.sqrt(sum(v**2 for v in x))
    powers = sum(v ** mp.mpf("3.5") for v in x) ** (1 / mp.mpf("3.5"))
    inverses = 1 / sum(1 / abs(v) for v in a[1, :])
    return size**2 * sum(x) + max(x) * min(x) * 3 + powers * inverses


@case(_norms_of_vectors, A, A[:, ::-1])
def norms_of_vectors(a):
    norm = np.linalg.norm
    x = a[:, 1]
    ends = norm(x, np.inf) * norm(x, -np.inf) * norm(x, 0)
    return norm(x) * norm(x, 2) * norm(x, 1) + ends + norm(x, 3.5) * norm(a[1], -1)


def _conditions(a):
    s = precise.singular_values(a)
    x = mp.inverse(a)
    found = s[0] / s[2] + s[2] / s[0]
    return found + max(_sums(a)[0]) * max(_sums(x)[0]) + max(_sums(a)[1]) * max(_sums(x)[1])


@case(_conditions, A)
def conditions(a):
    cond = np.linalg.cond
    return cond(a) + cond(a, -2) + cond(a, np.inf) + cond(a, 1)


def _powers(a):
    total = a**5 + mp.inverse(a) ** 2 + a
    turn = precise.matrix(TURN)
    return sum(total[i, j] * turn[i, j] for i in range(3) for j in range(3)) + a[0, 0]


@case(_powers, A, A.T)
def powers(a):
    power = np.linalg.matrix_power
    found = (power(a, 5) * TURN).sum() + (power(a, -2) * TURN).sum() + (power(a, 1) * TURN).sum()
    return found + power(a, 0)[1, 1] * a[0, 0]


@case(lambda a: 3 * a[0, 0] ** 2, A)
def ranks(a):
    return (np.linalg.matrix_rank(a) + 0 * np.linalg.matrix_rank(a[0])) * a[0, 0] ** 2
