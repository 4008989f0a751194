"""Monte Carlo by hand: Philox by counter, Box-Muller in plain arithmetic, blocks of 256 paths in vectors.

What a specialist writes for one model: geometric Brownian motion by three methods and Heston's model by
Euler's, the price of a call alone or with its pathwise slopes, tangents as recurrences beside the state.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

STEPS, DT, ROOT, BLOCK = 100, 0.01, 0.1, 256
FAST = {"contract", "nsz", "nnan", "ninf", "reassoc", "arcp"}
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
_MASK, _WORD, _ONE = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(0x3FF0000000000000)


@intrinsic
def _bits(typingctx, x):
    return types.int64(types.float64), lambda c, b, s, a: b.bitcast(a[0], ir.IntType(64))


@intrinsic
def _float(typingctx, x):
    return types.float64(types.int64), lambda c, b, s, a: b.bitcast(a[0], ir.DoubleType())


@njit(inline="always")
def _philox(c0, c1, c2, c3, k0, k1):
    for _ in range(10):
        p0, p1 = _M0 * np.uint64(c0), _M1 * np.uint64(c2)
        h0, l0 = np.uint32(p0 >> _WORD), np.uint32(p0 & _MASK)
        h1, l1 = np.uint32(p1 >> _WORD), np.uint32(p1 & _MASK)
        c0, c1, c2, c3 = np.uint32(h1 ^ c1 ^ k0), l1, np.uint32(h0 ^ c3 ^ k1), l0
        k0, k1 = np.uint32(k0 + _W0), np.uint32(k1 + _W1)
    return c0, c1, c2, c3


@njit(inline="always")
def _log(u):
    bits = _bits(u)
    k = np.int32(bits >> np.int64(52)) - np.int32(1023)
    m = _float((bits & np.int64(0x000FFFFFFFFFFFFF)) | np.int64(_ONE))
    big = m > 1.4142135623730951
    m = m * 0.5 if big else m
    n = np.float64(k) + (1.0 if big else 0.0)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    tail = 1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01)
    tail = 2.857142874366239149e-01 + z * (2.222219843214978396e-01 + z * tail)
    r = z * (6.666666666666735130e-01 + z * (3.999999999940941908e-01 + z * tail))
    h = 0.5 * f * f
    return n * 6.93147180369123816490e-01 - (
        (h - (s * (h + r) + n * 1.90821492927058770002e-10)) - f
    )


@njit(inline="always")
def _sine_cosine(v):
    q = np.int32(4.0 * v + 0.5)
    r = (v - 0.25 * np.float64(q)) * 6.283185307179586
    z = r * r
    t = 2.75573137070700676789e-06 + z * (
        -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    )
    t = -1.66666666666666324348e-01 + z * (
        8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * t)
    )
    sine = r + r * z * t
    t = -2.75573143513906633035e-07 + z * (
        2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    )
    t = 4.16666666666666019037e-02 + z * (
        -1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * t)
    )
    cosine = 1.0 - 0.5 * z + z * z * t
    odd = (q & np.int32(1)) != np.int32(0)
    a, b = (cosine if odd else sine), (sine if odd else cosine)
    a = -a if (q & np.int32(2)) != np.int32(0) else a
    return a, (-b if ((q + np.int32(1)) & np.int32(2)) != np.int32(0) else b)


@njit(inline="always")
def _unit(a, b):
    bits = ((np.uint64(a) << _WORD) | np.uint64(b)) >> np.uint64(12)
    return _float(np.int64(bits | _ONE)) - 0.9999999999999999


@njit(inline="always")
def _pair(i, t, k0):
    zero = np.uint32(0)
    a, b, c, d = _philox(np.uint32(i), np.uint32(t), zero, zero, k0, zero)
    radius = math.sqrt(-2.0 * _log(_unit(a, b)))
    sine, cosine = _sine_cosine(_unit(c, d))
    return radius * cosine, radius * sine


def _compiled(function):
    return njit(error_model="numpy", fastmath=FAST)(function)


@_compiled
def fill(out, key):
    """Normal numbers."""
    half, k0 = out.size // 2, np.uint32(key)
    for i in range(half):
        out[i], out[half + i] = _pair(i, 0, k0)


@_compiled
def _draws(z1, z2, first, m, t, k0):
    for i in range(m):
        z1[i], z2[i] = _pair(first + i, t, k0)


def _euler(greeks):
    @_compiled
    def step(s_, r_, q_, z, x, m, r, s):
        for i in range(m):
            w, v = ROOT * z[i], s_[i]
            f = 1 + r * DT + s * w
            if greeks:
                r_[i] = r_[i] * f + v * DT
                q_[i] = q_[i] * f + v * w
            s_[i] = v * f

    return step


def _milstein(greeks):
    @_compiled
    def step(s_, r_, q_, z, x, m, r, s):
        for i in range(m):
            w, v = ROOT * z[i], s_[i]
            c = 0.5 * (w * w - DT)
            f = 1 + r * DT + s * w + s * s * c
            if greeks:
                r_[i] = r_[i] * f + v * DT
                q_[i] = q_[i] * f + v * (w + 2 * s * c)
            s_[i] = v * f

    return step


def _sriw1(greeks):
    @_compiled
    def step(s_, r_, q_, z, x, m, r, s):
        for i in range(m):
            w, y = ROOT * z[i], s_[i]
            c1, c3 = (w * w - DT) / (2 * ROOT), (w * w * w - 3 * w * DT) / (6 * DT)
            c2 = 0.5 * (w + ROOT * x[i] * 0.5773502691896258)
            w1, w2 = -w - c1 + 2 * c2 - 2 * c3, 4 / 3 * (w + c1 - c2) + 5 / 3 * c3
            w3 = 2 / 3 * w - c1 / 3 - 2 / 3 * c2 - 2 / 3 * c3
            f1, g1 = r * y, s * y
            h2 = y + 0.75 * DT * f1 + 1.5 * c2 * g1
            k2 = y + 0.25 * DT * f1 + 0.5 * ROOT * g1
            g2, k3 = s * k2, y + DT * f1 - ROOT * g1
            g3 = s * k3
            k4 = y + 0.25 * DT * f1 + ROOT * (-5 * g1 + 3 * g2 + 0.5 * g3)
            s_[i] = y + DT * (f1 + 2 * r * h2) / 3 + w1 * g1 + w2 * g2 + w3 * g3 + c3 * s * k4
            if greeks:
                for j in range(2):
                    dy = r_[i] if j == 0 else q_[i]
                    dr = 1.0 if j == 0 else 0.0
                    ds = 1.0 - dr
                    df1, dg1 = r * dy + dr * y, s * dy + ds * y
                    dh2 = dy + 0.75 * DT * df1 + 1.5 * c2 * dg1
                    dk2 = dy + 0.25 * DT * df1 + 0.5 * ROOT * dg1
                    dg2, dk3 = s * dk2 + ds * k2, dy + DT * df1 - ROOT * dg1
                    dg3 = s * dk3 + ds * k3
                    dk4 = dy + 0.25 * DT * df1 + ROOT * (-5 * dg1 + 3 * dg2 + 0.5 * dg3)
                    v = dy + DT * (df1 + 2 * (r * dh2 + dr * h2)) / 3
                    v += w1 * dg1 + w2 * dg2 + w3 * dg3 + c3 * (s * dk4 + ds * k4)
                    if j == 0:
                        r_[i] = v
                    else:
                        q_[i] = v

    return step


_STEPS = {"EulerMaruyama": _euler, "Milstein": _milstein, "SRIW1": _sriw1}


def gbm(method, greeks):
    """`run(spot, rate, vol, key, paths)`: the price of a call, and slopes by the three where asked for."""
    step, two = _STEPS[method](greeks), method == "SRIW1"

    @_compiled
    def run(spot, r, s, key, paths):
        k0, rows = np.uint32(key), np.empty((5, BLOCK))
        s_, r_, q_, z1, z2 = rows[0], rows[1], rows[2], rows[3], rows[4]
        total, a, b, c = 0.0, 0.0, 0.0, 0.0
        for first in range(0, paths, BLOCK):
            m = min(BLOCK, paths - first)
            for i in range(m):
                s_[i], r_[i], q_[i] = spot, 0.0, 0.0
            for t in range(0, STEPS, 1 if two else 2):
                _draws(z1, z2, first, m, t, k0)
                step(s_, r_, q_, z1, z2, m, r, s)
                if not two:
                    step(s_, r_, q_, z2, z1, m, r, s)
            for i in range(m):
                if s_[i] > 100.0:
                    total += s_[i] - 100.0
                    a += s_[i] / spot
                    b += r_[i]
                    c += q_[i]
        e = math.exp(-r) / paths
        return total * e, a * e, b * e - total * e, c * e

    return run


@_compiled
def heston_price(spot, v0, r, ka, th, xi, rho, key, paths):
    """The price of a call under Heston's model."""
    k0, rc, rows, total = np.uint32(key), math.sqrt(1 - rho * rho), np.empty((4, BLOCK)), 0.0
    s_, v_, z1, z2 = rows[0], rows[1], rows[2], rows[3]
    for first in range(0, paths, BLOCK):
        m = min(BLOCK, paths - first)
        for i in range(m):
            s_[i], v_[i] = spot, v0
        for t in range(STEPS):
            _draws(z1, z2, first, m, t, k0)
            for i in range(m):
                s, w1 = math.sqrt(max(v_[i], 1e-8)), z1[i] * ROOT
                w2 = rho * w1 + rc * ROOT * z2[i]
                s_[i] += s_[i] * (r * DT + s * w1)
                v_[i] += ka * (th - v_[i]) * DT + xi * s * w2
        for i in range(m):
            total += max(s_[i] - 100.0, 0.0)
    return total * math.exp(-r) / paths


@_compiled
def heston_greeks(spot, v0, r, ka, th, xi, rho, key, paths):
    """The same and its slopes by the seven inputs."""
    k0, rc, rows, total, g = (
        np.uint32(key),
        math.sqrt(1 - rho * rho),
        np.empty((15, BLOCK)),
        0.0,
        np.zeros(7),
    )
    s_, v_, z1, z2 = rows[0], rows[1], rows[13], rows[14]
    a0, a1, a2, a3, a4, a5 = rows[2], rows[3], rows[4], rows[5], rows[6], rows[7]
    c0, c1, c2, c3, c4 = rows[8], rows[9], rows[10], rows[11], rows[12]
    for first in range(0, paths, BLOCK):
        m = min(BLOCK, paths - first)
        for i in range(m):
            s_[i], v_[i], c0[i] = spot, v0, 1.0
            a0[i] = a1[i] = a2[i] = a3[i] = a4[i] = a5[i] = c1[i] = c2[i] = c3[i] = c4[i] = 0.0
        for t in range(STEPS):
            _draws(z1, z2, first, m, t, k0)
            for i in range(m):
                v, x, w1, y2 = v_[i], s_[i], z1[i] * ROOT, ROOT * z2[i]
                s = math.sqrt(max(v, 1e-8))
                ds = 0.5 / s if v > 1e-8 else 0.0
                w2, f = rho * w1 + rc * y2, 1 + r * DT + s * w1
                sw, h = x * w1 * ds, 1 - ka * DT + xi * w2 * ds
                a0[i] = a0[i] * f + sw * c0[i]
                a1[i] = a1[i] * f + sw * c1[i]
                a2[i] = a2[i] * f + sw * c2[i]
                a3[i] = a3[i] * f + sw * c3[i]
                a4[i] = a4[i] * f + sw * c4[i]
                a5[i] = a5[i] * f + x * DT
                c0[i] *= h
                c1[i] = c1[i] * h + (th - v) * DT
                c2[i] = c2[i] * h + ka * DT
                c3[i] = c3[i] * h + s * w2
                c4[i] = c4[i] * h + xi * s * (w1 - rho / rc * y2)
                s_[i], v_[i] = x * f, v + ka * (th - v) * DT + xi * s * w2
        for i in range(m):
            if s_[i] > 100.0:
                total += s_[i] - 100.0
                g[0] += s_[i] / spot
                g[1] += a0[i]
                g[2] += a5[i]
                g[3] += a1[i]
                g[4] += a2[i]
                g[5] += a3[i]
                g[6] += a4[i]
    d = math.exp(-r) / paths
    g *= d
    g[2] -= total * d
    return total * d, g
