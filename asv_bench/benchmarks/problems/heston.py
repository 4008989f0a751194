"""P4: price of a call under Heston's model, full-truncation Euler, 10,000 paths of 100 steps.

R. Lord, R. Koekkoek, D. van Dijk, "A comparison of biased simulation schemes for stochastic
volatility models", Quantitative Finance 10 (2010), 177-194. The normal numbers are given; the
derivative of sqrt(max(v, 0)) is 0 where v <= 0. By S0, r, v0, kappa, theta, xi, rho.
"""

import math

import numpy as np
from numba import njit, prange

ARGNUMS = 0


@njit
def primal(par, K, T, z1, z2):
    S0 = par[0]
    r = par[1]
    v0 = par[2]
    kap = par[3]
    the = par[4]
    xi = par[5]
    rho = par[6]
    npath, nstep = z1.shape
    dt = T / nstep
    sqdt = math.sqrt(dt)
    rho2 = math.sqrt(1.0 - rho * rho)
    acc = 0.0
    for p in prange(npath):
        S = S0
        v = v0
        for i in range(nstep):
            vp = 0.0
            sv = 0.0
            if v > 0.0:
                vp = v
                sv = math.sqrt(v)
            w = rho * z1[p, i] + rho2 * z2[p, i]
            S = S + r * S * dt + sv * S * (sqdt * z1[p, i])
            v = v + kap * (the - vp) * dt + xi * sv * w * sqdt
        if S > K:
            acc += S - K
    return math.exp(-r * T) * acc / npath


@njit
def payoff(S0, r, v0, kap, the, xi, rho, K, T, z1, z2):
    """Of one path, discounted."""
    dt = T / z1.size
    sqdt = math.sqrt(dt)
    rho2 = math.sqrt(1.0 - rho * rho)
    S = S0
    v = v0
    for i in range(z1.size):
        vp = 0.0
        sv = 0.0
        if v > 0.0:
            vp = v
            sv = math.sqrt(v)
        w = rho * z1[i] + rho2 * z2[i]
        S = S + r * S * dt + sv * S * (sqdt * z1[i])
        v = v + kap * (the - vp) * dt + xi * sv * w * sqdt
    return math.exp(-r * T) * (S - K) if S > K else 0.0


def batched(axis=0, lanes="auto"):
    """`primal` by `nd.batch`, with the paths along an axis of the normal numbers."""
    import numbad as nd

    payoffs = nd.batch(payoff, in_axes=(*[None] * 9, axis, axis), lanes=lanes)

    @njit
    def price(par, K, T, z1, z2):
        S0, r, v0, kap, the, xi, rho = par[0], par[1], par[2], par[3], par[4], par[5], par[6]
        values = payoffs(S0, r, v0, kap, the, xi, rho, K, T, z1, z2)
        acc = 0.0
        for value in values:
            acc += value
        return acc / values.size

    return price


def gradients():
    """The price and its gradient as means of those of each path, by `nd.batch` of the gradient."""
    import numbad as nd

    of_path = nd.value_and_grad(payoff, argnums=tuple(range(7)))
    of_paths = nd.batch(of_path, in_axes=(*[None] * 9, 0, 0))

    @njit
    def price(par, K, T, z1, z2):
        S0, r, v0, kap, the, xi, rho = par[0], par[1], par[2], par[3], par[4], par[5], par[6]
        values, slopes = of_paths(S0, r, v0, kap, the, xi, rho, K, T, z1, z2)
        gradient = np.empty(7)
        for k, slope in enumerate(slopes):
            gradient[k] = slope.sum() / slope.size
        return values.sum() / values.size, gradient

    return price


@njit
def adjoint(par, K, T, z1, z2):
    """Reverse mode, one path at a time; stores S, v, sqrt(v) of the current path only."""
    S0 = par[0]
    r = par[1]
    v0 = par[2]
    kap = par[3]
    the = par[4]
    xi = par[5]
    rho = par[6]
    npath, nstep = z1.shape
    dt = T / nstep
    sqdt = math.sqrt(dt)
    rho2 = math.sqrt(1.0 - rho * rho)
    tS = np.empty(nstep)
    tv = np.empty(nstep)
    ts = np.empty(nstep)
    acc = 0.0
    gS0 = 0.0
    gr = 0.0
    gv0 = 0.0
    gk = 0.0
    gth = 0.0
    gxi = 0.0
    grho = 0.0
    grho2 = 0.0
    for p in range(npath):
        S = S0
        v = v0
        for i in range(nstep):
            vp = 0.0
            sv = 0.0
            if v > 0.0:
                vp = v
                sv = math.sqrt(v)
            tS[i] = S
            tv[i] = v
            ts[i] = sv
            w = rho * z1[p, i] + rho2 * z2[p, i]
            S = S + r * S * dt + sv * S * (sqdt * z1[p, i])
            v = v + kap * (the - vp) * dt + xi * sv * w * sqdt
        if S > K:
            acc += S - K
            bS = 1.0
            bv = 0.0
            for i in range(nstep - 1, -1, -1):
                z = z1[p, i]
                S = tS[i]
                v = tv[i]
                sv = ts[i]
                w = rho * z + rho2 * z2[p, i]
                sz = sqdt * z
                bvd = bv * dt
                bvs = bv * sqdt
                bsv = bS * S * sz + bvs * xi * w
                vp = 0.0
                if v > 0.0:
                    vp = v
                gk += (the - vp) * bvd
                gth += kap * bvd
                gxi += sv * w * bvs
                bw = xi * sv * bvs
                grho += z * bw
                grho2 += z2[p, i] * bw
                gr += S * dt * bS
                bS = bS + (r * dt + sv * sz) * bS
                if v > 0.0:
                    bv = bv - kap * bvd + 0.5 * bsv / sv
            gS0 += bS
            gv0 += bv
    disc = math.exp(-r * T) / npath
    price = disc * acc
    g = np.empty(7)
    g[0] = disc * gS0
    g[1] = disc * gr - T * price
    g[2] = disc * gv0
    g[3] = disc * gk
    g[4] = disc * gth
    g[5] = disc * gxi
    g[6] = disc * (grho - grho2 * rho / rho2)
    return price, g


def draw(rng, paths=10_000):
    """The arguments of `primal`."""
    par = np.array([100.0, 0.03, 0.09, 2.0, 0.09, 0.3, -0.7])
    z1, z2 = rng.standard_normal((paths, 100)), rng.standard_normal((paths, 100))
    return par, 100.0, 1.0, z1, z2


def shorten(arguments):
    """A small case for tests: twenty paths, with a variance so low that it is truncated."""
    par, K, T, z1, z2 = arguments
    return par * np.array([1.0, 1.0, 0.1, 1.0, 0.1, 2.0, 1.0]), K, T, z1[:20], z2[:20]
