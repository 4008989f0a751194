"""Programs of NumPy's functions of whole arrays, for both modes; the oracle runs them in 300 bits.

Where NumPy has a function for floats alone, `plain` says what it computes, with loops.
"""

import numpy as np
from numba import njit

from tests.reverse.oracle import Programs

programs = Programs()
A = np.array([0.53, 1.47, -2.61, 0.77, 1.13])
B = np.array([1.27, 0.23, 1.94, 0.41, 0.83])
M = np.array([[0.53, 1.47, -2.61], [1.27, -0.71, 0.41]])
N = np.array([[0.9, -0.4], [1.3, 0.6], [0.2, 1.7]])
S = np.array([[2.1, 0.3, 0.7], [0.4, 1.5, 0.2], [0.9, 0.1, 3.1]])
Z = np.array([1.2 + 0.4j, -0.3 + 0.9j, 0.8 - 1.1j])
WITH_NAN = np.array([0.53, np.nan, -2.61, 0.77, 1.13])


@njit
def weighted(r):
    out = 0.0
    for k in range(r.shape[0]):
        out += (1.0 + 0.37 * k) * r[k]
    return out


@njit
def weighted2(r):
    out = 0.0
    for j in range(r.shape[0]):
        for k in range(r.shape[1]):
            out += (1.0 + 0.37 * k + 0.83 * j) * r[j, k]
    return out


# -- reductions ----------------------------------------------------------------------------------


@programs.on((A, M), (A[::-2], M.T), (A, np.asfortranarray(M)))
def sums(a, m):
    along = weighted(m.sum(0)) * weighted(np.sum(m * m, axis=-1))
    return np.sum(a) * a.sum() + m.sum() * np.sum(m * m) + along


@programs.on((M.reshape(2, 3, 1),), (np.ones((3, 2, 2)) * A[:2],))
def sums_over_several_axes(h):
    first = np.sum(h * h, axis=(0, 2))
    return weighted(first) + np.sum(h, (0, 1, 2)) * weighted2(np.sum(h * h, axis=1))


@programs.on((M, 0), (M, 1), (M, -1), wrt=(0,))
def sum_along_an_axis_of_run_time(m, axis):
    return weighted(np.sum(m * m, axis))


@programs.on((A, M), (A[1:2], M[:1, 1:2]))
def products_and_means(a, m):
    return np.prod(a) * a.mean() + m.prod() * np.mean(m) + np.mean(m) * a.prod()


@programs.on((np.array([0.53, 0.0, -2.61]),), (np.array([0.0, 0.0, 1.2]),))
def product_with_zeros(a):
    return a.prod() + np.prod(a * a + 1.0)


@programs.on((A, M), (A[::2], M.T))
def moments(a, m):
    return np.var(a) * m.var() + np.std(a) * np.std(m)


@programs.on((A, M), (A[::-1], np.asfortranarray(M)), (A[:1], M[:1, :1]))
def extrema(a, m):
    return a.min() * np.max(m * m) + np.amin(m) * a.max() + np.amax(a) * m.min() * np.min(a)


@programs.on((A, M), (A[::-1], M.T))
def accumulations(a, m):
    rows = weighted2(np.cumsum(m, 0)) * weighted2(m.cumsum(1))
    return weighted(np.cumsum(a)) * weighted(a.cumsum()) + weighted(np.cumprod(m)) + rows


def _numbers(a):
    return [x for x in a.ravel() if x == x]


def _without_nan(a, m):
    found, every = _numbers(a), _numbers(m)
    n, k = len(found), len(every)
    mean = sum(found) / n
    variance = sum((x - mean) ** 2 for x in found) / n
    one = sum(found) * mean * min(found) * variance
    average = sum(every) / k
    squares = sum((x - average) ** 2 for x in every)
    product = 1
    for x in every:
        product = product * x
    return one + product * max(every) * np.sqrt(squares / k) + squares / (k - 1)


@programs.on((WITH_NAN, M), (A, M.T), plain=_without_nan)
def without_nan(a, m):
    one = np.nansum(a) * np.nanmean(a) * np.nanmin(a) * np.nanvar(a)
    return one + np.nanprod(m) * np.nanmax(m) * np.nanstd(m) + np.nanvar(m, ddof=1)


@programs.on((Z,), (Z[::-1],))
def complex_reductions(z):
    return (z.sum() * z.mean() * np.prod(z) * np.cumsum(z)[1]).real


# -- order statistics ----------------------------------------------------------------------------


def _at_rank(a, part):
    found = sorted(_numbers(a))
    rank = (len(found) - 1) * part
    low = int(rank)
    high = min(low + 1, len(found) - 1)
    return found[low] + (rank - low) * (found[high] - found[low])


def _quantiles(a, q):
    return _at_rank(a, q) * _at_rank(a, q / 2 + 0.1) + _at_rank(a, 0) * _at_rank(a, 1)


@programs.on((A, 0.37), (A[::2], 0.77), (WITH_NAN, 0.61), plain=_quantiles)
def quantiles(a, q):
    ends = np.nanpercentile(a, np.array([0.0, 100.0]))
    return np.nanquantile(a, q) * np.nanpercentile(a, 50.0 * q + 10.0) + ends[0] * ends[1]


@programs.on((A, 0.37), (A[:1], 0.77), plain=_quantiles)
def quantiles_of_all(a, q):
    ends = np.quantile(a, np.array([0.0, 1.0]))
    return np.percentile(a, 100.0 * q) * np.quantile(a, q / 2 + 0.1) + ends[0] * ends[1]


def _medians(a, m):
    return _at_rank(a, 0.5) * _at_rank(m, 0.5) * _at_rank(a, 0.5)


@programs.on((A, M), (A[1:], M.T), plain=_medians)
def medians(a, m):
    return np.median(a) * np.median(m) * np.nanmedian(a)


@programs.on((A, M), (A[::-1], M.T))
def searches(a, m):
    """What is found has no derivative; the elements that it leads to have."""
    order = np.argsort(a, kind="mergesort")
    rows, columns = np.argmax(m, axis=1), m.argmin(axis=0)
    b = a[order]
    found = b[np.searchsorted(b, 0.7, side="right")] * b[np.searchsorted(b, 0.6)]
    return found * m[0, rows[0]] * m[columns[1], 1] * a[a.argmax()] + a[np.argmin(a)]


@programs.on((A, M, 0.4), (A[::-1], M.T, 0.4))
def numbers_appended(a, m, x):
    return weighted(np.append(a, x * a[0])) + weighted(np.append(m, a * x)) * np.append(a, 2.0)[-1]


@programs.on((A, M, 0.7))
def appended_to_numbers(a, m, x):
    longer = np.append(x * a[0], np.append(2.0, m * x))
    return weighted(longer) * weighted(np.append(a[1], x))


@programs.on((A, M, 0.7))
def arrays_without_axes_as_elements(a, m, x):
    a[1] = np.array(a[0] * x)
    m[0] = np.array(a[1] * a[2])
    m[1, 1:] = np.asarray(x * x)
    return weighted(a) * weighted2(m)


# -- samples -------------------------------------------------------------------------------------


def _line(x, xp, fp):
    for k in range(len(xp) - 1):
        if xp[k] <= x < xp[k + 1]:
            return fp[k] + (x - xp[k]) * (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
    return fp[0] if x < xp[0] else fp[-1]


def _interpolation(x, a, fp):
    xp = [0, 0.5, 1.1, 2, 3]
    between = sum((1 + 0.37 * k) * _line(v, xp, fp) for k, v in enumerate(a))
    return _line(x, xp, fp) * between


@programs.on((0.7, A, B), (-1.0, A, B), (4.0, A, B), plain=_interpolation, rtol=1e-10)
def interpolation(x, a, fp):
    xp = np.array([0.0, 0.5, 1.1, 2.0, 3.0])
    return np.interp(x, xp, fp) * weighted(np.interp(a, xp, fp))


def _nodes(xp, fp):
    return sum(_line(x, xp, fp) * x for x in (0.3, 1.21, 2.9))


@programs.on((np.array([0.0, 0.5, 1.1, 2.0, 3.0]), B), plain=_nodes)
def interpolation_by_the_nodes(xp, fp):
    out = 0.0
    for x in (0.3, 1.21, 2.9):
        out += np.interp(x, xp, fp) * x
    return out


def _areas(y, x, h, m):
    first = sum((x[k + 1] - x[k]) * (y[k + 1] + y[k]) / 2 for k in range(len(y) - 1))
    second = sum(h * (y[k + 1] + y[k]) / 2 for k in range(len(y) - 1))
    rows = [sum((r[k + 1] + r[k]) / 2 for k in range(len(r) - 1)) for r in m]
    return first * second + sum((1 + 0.37 * k) * r for k, r in enumerate(rows))


_trapezoid = np.trapezoid if hasattr(np, "trapezoid") else getattr(np, "trapz", None)


@programs.on((A, B, 0.3, M), (A[::-1], B, 0.3, M.T), plain=_areas)
def areas(y, x, h, m):
    return _trapezoid(y, x) * _trapezoid(y, None, h) + weighted(_trapezoid(m))


def _slid(a, v, first, stop):
    n, m = len(a), len(v)
    return [sum(a[k + s] * v[k] for k in range(m) if 0 <= k + s < n) for s in range(first, stop)]


def _convolutions(a, v):
    back = list(v[::-1])
    full, same = (
        _slid(a, back, 1 - len(v), len(a)),
        _slid(a, back, -(len(v) // 2), len(a) - len(v) // 2),
    )
    valid = _slid(a, v, 0, len(a) - len(v) + 1)
    turned = valid[::-1]
    parts = (full, same, valid, turned)
    return sum((1 + 0.37 * k) * x for part in parts for k, x in enumerate(part))


@programs.on((A, B[:2]), (A[::-1], B[::2]), plain=_convolutions, rtol=1e-11)
def convolutions(a, v):
    both = weighted(np.convolve(a, v)) + weighted(np.convolve(v, a, "same"))
    return both + weighted(np.correlate(a, v)) + weighted(np.correlate(v, a, "valid"))


def _phases(p):
    turn, total, out = 2 * np.pi, 0, [p[0]]
    for k in range(1, len(p)):
        step = p[k] - p[k - 1]
        while step > np.pi:
            step, total = step - turn, total - turn
        while step < -np.pi:
            step, total = step + turn, total + turn
        out.append(p[k] + total)
    return sum((1 + 0.37 * k) * x * x for k, x in enumerate(out))


@programs.on((np.array([0.3, 4.1, -2.9, 9.7, 9.9]),), plain=_phases)
def phases(p):
    q = np.unwrap(p)
    return weighted(q * q)


# -- products ------------------------------------------------------------------------------------


@programs.on(
    (M, N, A[:3], B[:2]), (N.T, N, A[::-2], B[::-3]), (np.asfortranarray(M), M.T, A[2:], B[3:])
)
def matrix_products(m, n, a, b):
    vectors = np.dot(b, m @ a) + (b @ m).dot(a)
    return vectors * np.dot(a, a) + weighted2(np.dot(m, n) @ m)


@programs.on((S, A[:3], 3), (S, A[:3], 0), wrt=(0, 1))
def products_in_a_loop(s, x, n):
    for k in range(n):
        y = s.T @ (s[k % 2 :] @ x)[:1].repeat(3)
        x = x * 0.5 + 0.1 * (s @ y) + s[k] * np.dot(s[:, k], x)
    return weighted(x)


@programs.on((S, A[:3]))
def factors_that_change(s, x):
    y = s @ x
    s[0, 1] = y[2] * x[1]
    x[:] = np.dot(s, y)
    return weighted(s @ x)


def _into(a, b):
    return weighted2(np.dot(a, b) * np.dot(a, b))


@programs.on((M, N), plain=_into)
def product_into_an_array(a, b):
    out = np.empty((a.shape[0], b.shape[1]))
    np.dot(a, b, out)
    return weighted2(out * out)


@programs.on(
    (Z, Z[::-1]),
    (Z, Z * 0.5 + 1.0),
    plain=lambda u, v: (
        (np.dot(u, v) * sum(x.conjugate() * y for x, y in zip(u, v, strict=True))).real
    ),
)
def complex_products(u, v):
    return (np.dot(u, v) * np.vdot(u, v)).real


def _crossed(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _crosses(a, b, m):
    rows = [x for r in m for x in _crossed(r, b)]
    flat = _crossed([a[0], a[1], 0], b)
    return sum((1 + 0.37 * k) * x * x for k, x in enumerate([*_crossed(a, b), *rows, *flat]))


@programs.on((A[:3], B[:3], M), plain=_crosses)
def cross_products(a, b, m):
    out = np.concatenate((np.cross(a, b), np.cross(m, b).ravel(), np.cross(a[:2], b)))
    return weighted(out * out)


def _krons(a, m):
    c = [[1.0, 2.0], [3.0, -1.0]]
    first = [x * y for r in c for s in m for x in r for y in s]
    second = [x * y for r in m for s in c for x in r for y in s]
    vectors = [x * y for x in c[1] for y in a] + [x * y for x in m[0] for r in c for y in r[:1]]
    products = [*first, *second, *vectors]
    return sum((1 + 0.37 * k) * x * x for k, x in enumerate(products))


@programs.on((A[:3], M), plain=_krons)
def kronecker_products(a, m):
    c = np.array([[1.0, 2.0], [3.0, -1.0]])
    matrices = np.concatenate((np.kron(c, m).ravel(), np.kron(m, c).ravel()))
    vectors = np.concatenate((np.kron(c[1], a), np.kron(m[0], c[:, 0].copy())))
    out = np.concatenate((matrices, vectors))
    return weighted(out * out)


# -- statistics ----------------------------------------------------------------------------------


def _covariance(x, y, less):
    n = len(x)
    first, second = sum(x) / n, sum(y) / n
    return sum((p - first) * (q - second) for p, q in zip(x, y, strict=True)) / (n - less)


def _statistics(m, w):
    rows = len(m)
    cov = [[_covariance(m[j], m[k], 1) for k in range(rows)] for j in range(rows)]
    cor = [[cov[j][k] / np.sqrt(cov[j][j] * cov[k][k]) for k in range(rows)] for j in range(rows)]
    found = sum(
        (1 + 0.37 * k + 0.83 * j) * (cov[j][k] + cor[j][k])
        for j in range(rows)
        for k in range(rows)
    )
    return found * sum(w * m[0]) / sum(w) + _covariance(w, w, 0)


@programs.on((M, B[:3]), (M[::-1, ::-1], B[::2]), plain=_statistics, rtol=1e-11)
def statistics(m, w):
    found = weighted2(np.cov(m)) + weighted2(np.corrcoef(m))
    return found * np.average(m[0], None, w) + np.cov(w, None, True, True)[()]


# -- polynomials ---------------------------------------------------------------------------------


def _values(x, a, c):
    point = sum(v * x**k for k, v in enumerate(c))
    line = [sum(v * t**k for k, v in enumerate(c)) for t in a]
    product = [0] * (len(a) + len(c) - 1)
    for j, p in enumerate(a):
        for k, q in enumerate(c):
            product[j + k] += p * q
    longer = [a[k] + 0.3 * (c[k] if k < len(c) else 0) for k in range(len(a))]
    return (
        sum((1 + 0.37 * k) * v for part in (line, product, longer) for k, v in enumerate(part))
        * point
    )


@programs.on((0.7, A, B[:3]), plain=_values, rtol=1e-11)
def polynomials(x, a, c):
    poly = np.polynomial.polynomial
    found = weighted(poly.polyval(a, c)) + weighted(poly.polymul(a, c))
    return (found + weighted(poly.polysub(a, -0.3 * c))) * poly.polyval(x, c)


# -- expressions ---------------------------------------------------------------------------------


@programs.on((M, A[:3], 0.4), (M.T, A[:2], 0.4), (np.asfortranarray(M), A[::2], 0.4))
def fused_expressions(m, a, x):
    bell = np.exp(-(m**2) / (1.0 + x * x)) * a
    return np.sum(bell - m * x) + (np.sin(m) * m + 2.0).sum() * weighted(np.cos(a) / (a * a + x))


@programs.on((A, B))
def expressions_around_a_write(a, b):
    late = a * b + 1.0
    a[0] = 3.0 * b[1]
    early = a * b
    early *= late
    return weighted(np.sqrt(early * early) - a)
