"""P4 by hand with SIMD: blocks of paths go through every step together, in loops over the block.

`z1` and `z2` have the steps first, so that the paths of a block lie in a row. What a specialist
reaches who rewrites the model around the machine's vectors.
"""

import math

import numpy as np
from numba import njit

LANES = 256
_nj = njit(error_model="numpy")  # a check of divisors blocks SIMD


@_nj
def _add_to_parameters(
    gr, gk, gth, gxi, grho, grho2, bS, bv, S, v, sq, za, zb, m, dt, sqdt, kap, the, xi, rho, rho2
):
    """One loop for each sum: a loop of them all needs more checks for aliases than LLVM makes."""
    for k in range(m):
        gr[k] += S[k] * dt * bS[k]
    for k in range(m):
        gk[k] += (the - max(v[k], 0.0)) * (bv[k] * dt)
    for k in range(m):
        gth[k] += kap * dt * bv[k]
    for k in range(m):
        gxi[k] += sq[k] * (rho * za[k] + rho2 * zb[k]) * (bv[k] * sqdt)
    for k in range(m):
        grho[k] += za[k] * (xi * sqdt * sq[k] * bv[k])
    for k in range(m):
        grho2[k] += zb[k] * (xi * sqdt * sq[k] * bv[k])


@_nj
def _pull_state(bS, bv, S, v, sq, za, zb, m, dt, sqdt, kap, xi, r, rho, rho2):
    for k in range(m):
        w = rho * za[k] + rho2 * zb[k]
        bsv = bS[k] * S[k] * (sqdt * za[k]) + (bv[k] * sqdt) * xi * w
        msk = 1.0 if v[k] > 0.0 else 0.0
        bv[k] = bv[k] + msk * (0.5 * bsv / (sq[k] + (1.0 - msk)) - kap * dt * bv[k])
    for k in range(m):
        bS[k] = bS[k] + (r * dt + sq[k] * (sqdt * za[k])) * bS[k]


@_nj
def adjoint(par, K, T, z1, z2):
    """Reverse mode, blocks of LANES paths
    tape = (S, v, sqrt v) of one block (615 KB)

    parameter adjoints kept per lane and summed once (no reduction inside the loop)."""
    S0 = par[0]
    r = par[1]
    v0 = par[2]
    kap = par[3]
    the = par[4]
    xi = par[5]
    rho = par[6]
    nstep, npath = z1.shape
    dt = T / nstep
    sqdt = math.sqrt(dt)
    rho2 = math.sqrt(1.0 - rho * rho)
    tS = np.empty((nstep + 1, LANES))
    tv = np.empty((nstep + 1, LANES))
    ts = np.empty((nstep, LANES))
    bS = np.empty(LANES)
    bv = np.empty(LANES)
    g = np.zeros((6, LANES))
    gr = g[0]
    gk = g[1]
    gth = g[2]
    gxi = g[3]
    grho = g[4]
    grho2 = g[5]
    gS0 = 0.0
    gv0 = 0.0
    acc = 0.0
    for p0 in range(0, npath, LANES):
        m = min(LANES, npath - p0)
        for k in range(m):
            tS[0, k] = S0
            tv[0, k] = v0
        for i in range(nstep):
            za = z1[i, p0 : p0 + m]
            zb = z2[i, p0 : p0 + m]
            S = tS[i]
            v = tv[i]
            Sn = tS[i + 1]
            vn = tv[i + 1]
            sq = ts[i]
            for k in range(m):
                vp = max(v[k], 0.0)
                sv = math.sqrt(vp)
                sq[k] = sv
                w = rho * za[k] + rho2 * zb[k]
                Sn[k] = S[k] + r * S[k] * dt + sv * S[k] * (sqdt * za[k])
                vn[k] = v[k] + kap * (the - vp) * dt + xi * sv * w * sqdt
        for k in range(m):
            bv[k] = 0.0
            if tS[nstep, k] > K:
                acc += tS[nstep, k] - K
                bS[k] = 1.0
            else:
                bS[k] = 0.0
        for i in range(nstep - 1, -1, -1):
            za = z1[i, p0 : p0 + m]
            zb = z2[i, p0 : p0 + m]
            S = tS[i]
            v = tv[i]
            sq = ts[i]
            _add_to_parameters(
                gr,
                gk,
                gth,
                gxi,
                grho,
                grho2,
                bS,
                bv,
                S,
                v,
                sq,
                za,
                zb,
                m,
                dt,
                sqdt,
                kap,
                the,
                xi,
                rho,
                rho2,
            )
            _pull_state(bS, bv, S, v, sq, za, zb, m, dt, sqdt, kap, xi, r, rho, rho2)
        for k in range(m):
            gS0 += bS[k]
            gv0 += bv[k]
    disc = math.exp(-r * T) / npath
    price = disc * acc
    o = np.empty(7)
    o[0] = disc * gS0
    o[1] = disc * gr.sum() - T * price
    o[2] = disc * gv0
    o[3] = disc * gk.sum()
    o[4] = disc * gth.sum()
    o[5] = disc * gxi.sum()
    o[6] = disc * (grho.sum() - grho2.sum() * rho / rho2)
    return price, o
