"""Lotka-Volterra by classical Runge-Kutta steps, as plain scalar loops, and its tangent by hand."""

import numpy as np
from numba import njit

PARAMETERS = (1.5, 1.0, 3.0, 1.0)
INITIAL = (1.0, 1.0)
STEP = 1e-3
STEPS = 10_000


def misfit(a, b, c, d, x, y, dt, n, xd, yd):
    """Sum of squared distances of every 100th step to the data `xd`, `yd`."""
    h = 0.5 * dt
    s = dt / 6.0
    loss = 0.0
    for i in range(n):
        k1x = a * x - b * x * y
        k1y = d * x * y - c * y
        x2 = x + h * k1x
        y2 = y + h * k1y
        k2x = a * x2 - b * x2 * y2
        k2y = d * x2 * y2 - c * y2
        x3 = x + h * k2x
        y3 = y + h * k2y
        k3x = a * x3 - b * x3 * y3
        k3y = d * x3 * y3 - c * y3
        x4 = x + dt * k3x
        y4 = y + dt * k3y
        k4x = a * x4 - b * x4 * y4
        k4y = d * x4 * y4 - c * y4
        x = x + s * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y = y + s * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
        if (i + 1) % 100 == 0:
            j = (i + 1) // 100 - 1
            ex = x - xd[j]
            ey = y - yd[j]
            loss += ex * ex + ey * ey
    return loss


def piecewise_misfit(rates, x, y, dt, n, xd, yd):
    """The same with rates constant on `len(rates) / 4` equal stretches of time, four a stretch."""
    pieces = rates.shape[0] // 4
    m = n // pieces
    h = 0.5 * dt
    s = dt / 6.0
    loss = 0.0
    for piece in range(pieces):
        a = rates[4 * piece]
        b = rates[4 * piece + 1]
        c = rates[4 * piece + 2]
        d = rates[4 * piece + 3]
        for i in range(piece * m, piece * m + m):
            k1x = a * x - b * x * y
            k1y = d * x * y - c * y
            x2 = x + h * k1x
            y2 = y + h * k1y
            k2x = a * x2 - b * x2 * y2
            k2y = d * x2 * y2 - c * y2
            x3 = x + h * k2x
            y3 = y + h * k2y
            k3x = a * x3 - b * x3 * y3
            k3y = d * x3 * y3 - c * y3
            x4 = x + dt * k3x
            y4 = y + dt * k3y
            k4x = a * x4 - b * x4 * y4
            k4y = d * x4 * y4 - c * y4
            x = x + s * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
            y = y + s * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
            if (i + 1) % 100 == 0:
                j = (i + 1) // 100 - 1
                ex = x - xd[j]
                ey = y - yd[j]
                loss += ex * ex + ey * ey
    return loss


@njit
def tangent(a, b, c, d, x, y, dt, n, xd, yd):
    """The misfit and its six derivatives by hand, all directions at once in short inner loops."""
    h = 0.5 * dt
    s = dt / 6.0
    loss = 0.0
    tx, ty, g = np.zeros(6), np.zeros(6), np.zeros(6)
    sa, sb, sc, sd = np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(6)
    sa[0] = sb[1] = sc[2] = sd[3] = tx[4] = ty[5] = 1.0
    for i in range(n):
        k1x = a * x - b * x * y
        k1y = d * x * y - c * y
        x2 = x + h * k1x
        y2 = y + h * k1y
        k2x = a * x2 - b * x2 * y2
        k2y = d * x2 * y2 - c * y2
        x3 = x + h * k2x
        y3 = y + h * k2y
        k3x = a * x3 - b * x3 * y3
        k3y = d * x3 * y3 - c * y3
        x4 = x + dt * k3x
        y4 = y + dt * k3y
        k4x = a * x4 - b * x4 * y4
        k4y = d * x4 * y4 - c * y4
        a1, a2, a3, a4 = a - b * y, a - b * y2, a - b * y3, a - b * y4
        b1, b2, b3, b4 = -b * x, -b * x2, -b * x3, -b * x4
        c1, c2, c3, c4 = d * y, d * y2, d * y3, d * y4
        d1, d2, d3, d4 = d * x - c, d * x2 - c, d * x3 - c, d * x4 - c
        q1, q2, q3, q4 = x * y, x2 * y2, x3 * y3, x4 * y4
        for k in range(6):
            u, v = tx[k], ty[k]
            e1x = a1 * u + b1 * v + sa[k] * x - sb[k] * q1
            e1y = c1 * u + d1 * v + sd[k] * q1 - sc[k] * y
            u2, v2 = u + h * e1x, v + h * e1y
            e2x = a2 * u2 + b2 * v2 + sa[k] * x2 - sb[k] * q2
            e2y = c2 * u2 + d2 * v2 + sd[k] * q2 - sc[k] * y2
            u3, v3 = u + h * e2x, v + h * e2y
            e3x = a3 * u3 + b3 * v3 + sa[k] * x3 - sb[k] * q3
            e3y = c3 * u3 + d3 * v3 + sd[k] * q3 - sc[k] * y3
            u4, v4 = u + dt * e3x, v + dt * e3y
            e4x = a4 * u4 + b4 * v4 + sa[k] * x4 - sb[k] * q4
            e4y = c4 * u4 + d4 * v4 + sd[k] * q4 - sc[k] * y4
            tx[k] = u + s * (e1x + 2.0 * e2x + 2.0 * e3x + e4x)
            ty[k] = v + s * (e1y + 2.0 * e2y + 2.0 * e3y + e4y)
        x = x + s * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y = y + s * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
        if (i + 1) % 100 == 0:
            j = (i + 1) // 100 - 1
            ex = x - xd[j]
            ey = y - yd[j]
            loss += ex * ex + ey * ey
            for k in range(6):
                g[k] += 2.0 * ex * tx[k] + 2.0 * ey * ty[k]
    return loss, g


def data(seed=20240117):
    """Every 100th of the steps at perturbed parameters, with noise: two arrays of 100 values."""
    rng = np.random.default_rng(seed)
    a, b, c, d = 1.45, 1.02, 2.95, 1.03
    x, y, h = 1.05, 0.97, STEP

    def rates(x, y):
        return a * x - b * x * y, d * x * y - c * y

    xs, ys = [], []
    for i in range(STEPS):
        k1 = rates(x, y)
        k2 = rates(x + h / 2 * k1[0], y + h / 2 * k1[1])
        k3 = rates(x + h / 2 * k2[0], y + h / 2 * k2[1])
        k4 = rates(x + h * k3[0], y + h * k3[1])
        x += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        y += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        if (i + 1) % 100 == 0:
            xs.append(x)
            ys.append(y)
    noise = 0.05 * rng.standard_normal((2, 100))
    return np.array(xs) + noise[0], np.array(ys) + noise[1]


def arguments():
    """The arguments of `misfit`."""
    return (*PARAMETERS, *INITIAL, STEP, STEPS, *data())


def piecewise_arguments(inputs):
    """The arguments of `piecewise_misfit` for `inputs` rates (a multiple of four)."""
    rates = np.tile(np.array(PARAMETERS), inputs // 4)
    rates *= 1.0 + 0.01 * np.sin(np.arange(inputs))
    return (rates, *INITIAL, STEP, STEPS, *data())
