"""P2: log-likelihood of a Gaussian mixture (d = 10, k = 25, n = 1000), from ADBench.

F. Srajer, Z. Kukelova, A. Fitzgibbon, "A benchmark of selected algorithmic differentiation tools on
some problems in computer vision and machine learning", Optimization Methods and Software 33 (2018),
889-906; https://github.com/microsoft/ADBench. `icf` holds the logarithms of the diagonal first, then
the strict lower triangle by columns.
"""

import math

import numpy as np
from numba import njit

ARGNUMS = (0, 1, 2)


def constant(d, k, n, gamma, m):
    PI = 3.14159265359
    nn = d + m + 1
    lg = 0.25 * d * (d - 1) * math.log(PI)
    for j in range(1, d + 1):
        lg += math.lgamma(0.5 * nn + 0.5 * (1 - j))
    C = nn * d * (math.log(gamma) - 0.5 * math.log(2.0)) - lg
    return -n * d * 0.5 * math.log(2 * PI) - k * C


@njit
def primal(alphas, means, icf, x, gamma, m, const):
    k, d = means.shape
    n = x.shape[0]
    isz = icf.shape[1]
    Qd = np.empty((k, d))
    sq = np.empty(k)
    xc = np.empty(d)
    Qx = np.empty(d)
    mt = np.empty(k)
    for j in range(k):
        sj = 0.0
        for i in range(d):
            q = icf[j, i]
            sj += q
            Qd[j, i] = math.exp(q)
        sq[j] = sj
    slse = 0.0
    for ix in range(n):
        for j in range(k):
            for i in range(d):
                xc[i] = x[ix, i] - means[j, i]
            for i in range(d):
                Qx[i] = Qd[j, i] * xc[i]
            at = d
            for i in range(d):
                for r in range(i + 1, d):
                    Qx[r] += icf[j, at] * xc[i]
                    at += 1
            s = 0.0
            for i in range(d):
                s += Qx[i] * Qx[i]
            mt[j] = alphas[j] + sq[j] - 0.5 * s
        mx = mt[0]
        for j in range(1, k):
            if mx < mt[j]:
                mx = mt[j]
        se = 0.0
        for j in range(k):
            se += math.exp(mt[j] - mx)
        slse += math.log(se) + mx
    mx = alphas[0]
    for j in range(1, k):
        if mx < alphas[j]:
            mx = alphas[j]
    se = 0.0
    for j in range(k):
        se += math.exp(alphas[j] - mx)
    lse = math.log(se) + mx
    wp = 0.0
    for j in range(k):
        f = 0.0
        for i in range(d):
            f += Qd[j, i] * Qd[j, i]
        for i in range(d, isz):
            f += icf[j, i] * icf[j, i]
        wp += 0.5 * gamma * gamma * f - m * sq[j]
    return slse - n * lse + wp + const


@njit
def log_density(x, alphas, means, icf, Qd, sq):
    """Of one point, up to what is the same for all."""
    k, d = means.shape
    xc = np.empty(d)
    Qx = np.empty(d)
    mt = np.empty(k)
    for j in range(k):
        for i in range(d):
            xc[i] = x[i] - means[j, i]
        for i in range(d):
            Qx[i] = Qd[j, i] * xc[i]
        at = d
        for i in range(d):
            for r in range(i + 1, d):
                Qx[r] += icf[j, at] * xc[i]
                at += 1
        s = 0.0
        for i in range(d):
            s += Qx[i] * Qx[i]
        mt[j] = alphas[j] + sq[j] - 0.5 * s
    mx = mt[0]
    for j in range(1, k):
        if mx < mt[j]:
            mx = mt[j]
    se = 0.0
    for j in range(k):
        se += math.exp(mt[j] - mx)
    return math.log(se) + mx


def batched(lanes="auto"):
    """`primal` with the points by `nd.batch`."""
    import numbad as nd

    log_densities = nd.batch(log_density, in_axes=(0, *[None] * 5), lanes=lanes)

    @njit
    def likelihood(alphas, means, icf, x, gamma, m, const):
        k, d = means.shape
        Qd = np.exp(icf[:, :d])
        sq = np.empty(k)
        for j in range(k):
            sq[j] = icf[j, :d].sum()
        total = 0.0
        for value in log_densities(x, alphas, means, icf, Qd, sq):
            total += value
        mx = alphas.max()
        lse = math.log(np.exp(alphas - mx).sum()) + mx
        wp = 0.0
        for j in range(k):
            f = 0.0
            for i in range(d):
                f += Qd[j, i] * Qd[j, i]
            for i in range(d, icf.shape[1]):
                f += icf[j, i] * icf[j, i]
            wp += 0.5 * gamma * gamma * f - m * sq[j]
        return total - x.shape[0] * lse + wp + const

    return likelihood


@njit
def adjoint(alphas, means, icf, x, gamma, m, const):
    """Reverse mode per data point: forward over components (store xc, Qx for the k
    components of the current point), softmax weights, then back through each component."""
    k, d = means.shape
    n = x.shape[0]
    isz = icf.shape[1]
    Qd = np.empty((k, d))
    sq = np.empty(k)
    XC = np.empty((k, d))
    QX = np.empty((k, d))
    mt = np.empty(k)
    ga = np.zeros(k)
    gm = np.zeros((k, d))
    gi = np.zeros((k, isz))
    for j in range(k):
        sj = 0.0
        for i in range(d):
            q = icf[j, i]
            sj += q
            Qd[j, i] = math.exp(q)
        sq[j] = sj
    slse = 0.0
    for ix in range(n):
        for j in range(k):
            for i in range(d):
                XC[j, i] = x[ix, i] - means[j, i]
            for i in range(d):
                QX[j, i] = Qd[j, i] * XC[j, i]
            at = d
            for i in range(d):
                for r in range(i + 1, d):
                    QX[j, r] += icf[j, at] * XC[j, i]
                    at += 1
            s = 0.0
            for i in range(d):
                s += QX[j, i] * QX[j, i]
            mt[j] = alphas[j] + sq[j] - 0.5 * s
        mx = mt[0]
        for j in range(1, k):
            if mx < mt[j]:
                mx = mt[j]
        se = 0.0
        for j in range(k):
            mt[j] = math.exp(mt[j] - mx)
            se += mt[j]
        slse += math.log(se) + mx
        inv = 1.0 / se
        for j in range(k):
            w = mt[j] * inv
            ga[j] += w
            # b(Qx) = -w*Qx
            at = d
            for i in range(d):
                bq = -w * QX[j, i]
                acc = bq * Qd[j, i]
                gi[j, i] += bq * XC[j, i] * Qd[j, i] + w
                xi = XC[j, i]
                for r in range(i + 1, d):
                    br = -w * QX[j, r]
                    acc += icf[j, at] * br
                    gi[j, at] += xi * br
                    at += 1
                gm[j, i] -= acc
    mx = alphas[0]
    for j in range(1, k):
        if mx < alphas[j]:
            mx = alphas[j]
    se = 0.0
    for j in range(k):
        se += math.exp(alphas[j] - mx)
    lse = math.log(se) + mx
    for j in range(k):
        ga[j] -= n * math.exp(alphas[j] - mx) / se
    wp = 0.0
    g2 = gamma * gamma
    for j in range(k):
        f = 0.0
        for i in range(d):
            f += Qd[j, i] * Qd[j, i]
            gi[j, i] += g2 * Qd[j, i] * Qd[j, i] - m
        for i in range(d, isz):
            f += icf[j, i] * icf[j, i]
            gi[j, i] += g2 * icf[j, i]
        wp += 0.5 * g2 * f - m * sq[j]
    return slse - n * lse + wp + const, (ga, gm, gi)


def draw(rng, n=1000):
    """The arguments of `primal`, for `n` points."""
    d, k = 10, 25
    gamma, m = 1.0, 0
    alphas, means = rng.standard_normal(k), rng.uniform(0, 1, (k, d))
    icf, x = rng.standard_normal((k, d * (d + 1) // 2)), rng.standard_normal((n, d))
    return alphas, means, icf, x, gamma, m, constant(d, k, n, gamma, m)


def shorten(arguments):
    """A small case for tests: two components, three points."""
    alphas, means, icf, x, *constants = arguments
    return (alphas[:2], means[:2], icf[:2], x[:3], *constants)
