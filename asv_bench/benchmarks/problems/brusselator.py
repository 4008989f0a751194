"""P5: Brusselator in one dimension, 64 cells in a ring, 2000 classical Runge-Kutta steps.

The sum of squares at the end, by 128 initial values, A, B and alpha. `primal` takes both species as
slices of the state, which LLVM vectorises; `naive_primal` indexes the state as most people would.
"""

import numpy as np
from numba import njit

ARGNUMS = (0, 1)


@njit
def cell(A, B1, B, D, ul, u, ur, vl, v, vr):
    uuv = u * u * v
    return A + uuv - B1 * u + D * (ul - 2.0 * u + ur), B * u - uuv + D * (vl - 2.0 * v + vr)


@njit
def rhs(n, A, B, D, y, k):
    B1 = B + 1.0
    u = y[:n]
    v = y[n:]
    ku = k[:n]
    kv = k[n:]
    ku[0], kv[0] = cell(A, B1, B, D, u[n - 1], u[0], u[1], v[n - 1], v[0], v[1])
    for i in range(1, n - 1):
        uuv = u[i] * u[i] * v[i]
        ku[i] = A + uuv - B1 * u[i] + D * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        kv[i] = B * u[i] - uuv + D * (v[i - 1] - 2.0 * v[i] + v[i + 1])
    ku[n - 1], kv[n - 1] = cell(A, B1, B, D, u[n - 2], u[n - 1], u[0], v[n - 2], v[n - 1], v[0])


@njit
def primal(y0, par, dt, nsteps):
    m = y0.shape[0]
    n = m // 2
    A = par[0]
    B = par[1]
    D = par[2] * n * n
    h = 0.5 * dt
    s = dt / 6.0
    y = y0.copy()
    k1 = np.empty(m)
    k2 = np.empty(m)
    k3 = np.empty(m)
    k4 = np.empty(m)
    t = np.empty(m)
    for _ in range(nsteps):
        rhs(n, A, B, D, y, k1)
        for i in range(m):
            t[i] = y[i] + h * k1[i]
        rhs(n, A, B, D, t, k2)
        for i in range(m):
            t[i] = y[i] + h * k2[i]
        rhs(n, A, B, D, t, k3)
        for i in range(m):
            t[i] = y[i] + dt * k3[i]
        rhs(n, A, B, D, t, k4)
        for i in range(m):
            y[i] = y[i] + s * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
    loss = 0.0
    for i in range(m):
        loss += y[i] * y[i]
    return loss


@njit
def naive_rhs(n, A, B, D, y, k):
    for i in range(n):
        im = i - 1 if i > 0 else n - 1
        ip = i + 1 if i < n - 1 else 0
        u = y[i]
        v = y[n + i]
        uuv = u * u * v
        k[i] = A + uuv - (B + 1.0) * u + D * (y[im] - 2.0 * u + y[ip])
        k[n + i] = B * u - uuv + D * (y[n + im] - 2.0 * v + y[n + ip])


@njit
def naive_primal(y0, par, dt, nsteps):
    """As most users would write it (y[n+i], conditional neighbours): for the record."""
    m = y0.shape[0]
    n = m // 2
    A = par[0]
    B = par[1]
    D = par[2] * n * n
    h = 0.5 * dt
    s = dt / 6.0
    y = y0.copy()
    k1 = np.empty(m)
    k2 = np.empty(m)
    k3 = np.empty(m)
    k4 = np.empty(m)
    t = np.empty(m)
    for _ in range(nsteps):
        naive_rhs(n, A, B, D, y, k1)
        for i in range(m):
            t[i] = y[i] + h * k1[i]
        naive_rhs(n, A, B, D, t, k2)
        for i in range(m):
            t[i] = y[i] + h * k2[i]
        naive_rhs(n, A, B, D, t, k3)
        for i in range(m):
            t[i] = y[i] + dt * k3[i]
        naive_rhs(n, A, B, D, t, k4)
        for i in range(m):
            y[i] = y[i] + s * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
    loss = 0.0
    for i in range(m):
        loss += y[i] * y[i]
    return loss


@njit
def rhs_adjoint(n, A, B, D, y, bk, by, gA, gB, gD):
    """by = J(y)^T bk.  Parameter adjoints accumulate PER CELL (gA, gB, gD arrays, summed once
    at the end) so that the loop has no scalar reduction and vectorises without fastmath."""
    B1 = B + 1.0
    u = y[:n]
    v = y[n:]
    bu = bk[:n]
    bv = bk[n:]
    ou = by[:n]
    ov = by[n:]
    for e in range(2):
        i = 0 if e == 0 else n - 1
        im = n - 1 if e == 0 else n - 2
        ip = 1 if e == 0 else 0
        df = bu[i] - bv[i]
        ou[i] = (
            2.0 * u[i] * v[i] * df - B1 * bu[i] + B * bv[i] + D * (bu[im] - 2.0 * bu[i] + bu[ip])
        )
        ov[i] = u[i] * u[i] * df + D * (bv[im] - 2.0 * bv[i] + bv[ip])
        gA[i] += bu[i]
        gB[i] -= u[i] * df
        gD[i] += bu[i] * (u[im] - 2.0 * u[i] + u[ip]) + bv[i] * (v[im] - 2.0 * v[i] + v[ip])
    for i in range(1, n - 1):
        df = bu[i] - bv[i]
        ou[i] = (
            2.0 * u[i] * v[i] * df
            - B1 * bu[i]
            + B * bv[i]
            + D * (bu[i - 1] - 2.0 * bu[i] + bu[i + 1])
        )
        ov[i] = u[i] * u[i] * df + D * (bv[i - 1] - 2.0 * bv[i] + bv[i + 1])
    for i in range(1, n - 1):
        gA[i] += bu[i]
        gB[i] -= u[i] * (bu[i] - bv[i])
        gD[i] += bu[i] * (u[i - 1] - 2.0 * u[i] + u[i + 1]) + bv[i] * (
            v[i - 1] - 2.0 * v[i] + v[i + 1]
        )


@njit
def adjoint(y0, par, dt, nsteps):
    """Reverse mode.  Tape = state at every step (nsteps*m doubles); stages recomputed."""
    m = y0.shape[0]
    n = m // 2
    A = par[0]
    B = par[1]
    D = par[2] * n * n
    h = 0.5 * dt
    s = dt / 6.0
    Y = np.empty((nsteps + 1, m))
    k1 = np.empty(m)
    k2 = np.empty(m)
    k3 = np.empty(m)
    k4 = np.empty(m)
    t2 = np.empty(m)
    t3 = np.empty(m)
    t4 = np.empty(m)
    for i in range(m):
        Y[0, i] = y0[i]
    for st in range(nsteps):
        y = Y[st]
        yn = Y[st + 1]
        rhs(n, A, B, D, y, k1)
        for i in range(m):
            t2[i] = y[i] + h * k1[i]
        rhs(n, A, B, D, t2, k2)
        for i in range(m):
            t2[i] = y[i] + h * k2[i]
        rhs(n, A, B, D, t2, k3)
        for i in range(m):
            t2[i] = y[i] + dt * k3[i]
        rhs(n, A, B, D, t2, k4)
        for i in range(m):
            yn[i] = y[i] + s * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
    loss = 0.0
    b = np.empty(m)
    bk = np.empty(m)
    bt = np.empty(m)
    bn = np.empty(m)
    for i in range(m):
        v = Y[nsteps, i]
        loss += v * v
        b[i] = 2.0 * v
    g = np.zeros(3)
    gA = np.zeros(n)
    gB = np.zeros(n)
    gD = np.zeros(n)
    for st in range(nsteps - 1, -1, -1):
        y = Y[st]
        rhs(n, A, B, D, y, k1)
        for i in range(m):
            t2[i] = y[i] + h * k1[i]
        rhs(n, A, B, D, t2, k2)
        for i in range(m):
            t3[i] = y[i] + h * k2[i]
        rhs(n, A, B, D, t3, k3)
        for i in range(m):
            t4[i] = y[i] + dt * k3[i]
        for i in range(m):
            bk[i] = s * b[i]
        rhs_adjoint(n, A, B, D, t4, bk, bt, gA, gB, gD)
        for i in range(m):
            bn[i] = b[i] + bt[i]
            bk[i] = 2.0 * s * b[i] + dt * bt[i]
        rhs_adjoint(n, A, B, D, t3, bk, bt, gA, gB, gD)
        for i in range(m):
            bn[i] += bt[i]
            bk[i] = 2.0 * s * b[i] + h * bt[i]
        rhs_adjoint(n, A, B, D, t2, bk, bt, gA, gB, gD)
        for i in range(m):
            bn[i] += bt[i]
            bk[i] = s * b[i] + h * bt[i]
        rhs_adjoint(n, A, B, D, y, bk, bt, gA, gB, gD)
        for i in range(m):
            b[i] = bn[i] + bt[i]
    for i in range(n):
        g[0] += gA[i]
        g[1] += gB[i]
        g[2] += gD[i]
    g[2] *= n * n
    return loss, (b, g)


def draw(rng, cells=64):
    """The arguments of `primal`; diffusion between cells is the same however many there are."""
    s = np.arange(cells) / cells
    u = 1 + 0.5 * np.sin(2 * np.pi * s) + 0.05 * rng.standard_normal(cells)
    v = 3 + 0.05 * rng.standard_normal(cells)
    alpha = 0.02 * (64 / cells) ** 2
    return np.concatenate([u, v]), np.array([1.0, 3.0, alpha]), 0.005, 2000


def shorten(arguments):
    """A small case for tests: four cells, ten steps."""
    y0, par, dt, _ = arguments
    n = y0.size // 2
    return np.concatenate([y0[:4], y0[n : n + 4]]), par, dt, 10
