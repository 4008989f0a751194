"""P1: Lotka-Volterra by 10,000 classical Runge-Kutta steps, misfit at every 100th.

By four parameters and two initial values.
"""

import numpy as np
from numba import njit

ARGNUMS = (0, 1)


@njit
def primal(p, y0, dt, n, xd, yd):
    a = p[0]
    b = p[1]
    c = p[2]
    d = p[3]
    x = y0[0]
    y = y0[1]
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


@njit
def adjoint(p, y0, dt, n, xd, yd):
    """Reverse mode.  Stores the state at every step (2n doubles), recomputes the stages."""
    a = p[0]
    b = p[1]
    c = p[2]
    d = p[3]
    x = y0[0]
    y = y0[1]
    h = 0.5 * dt
    s = dt / 6.0
    loss = 0.0
    X = np.empty(n + 1)
    Y = np.empty(n + 1)
    X[0] = x
    Y[0] = y
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
        X[i + 1] = x
        Y[i + 1] = y
        if (i + 1) % 100 == 0:
            j = (i + 1) // 100 - 1
            ex = x - xd[j]
            ey = y - yd[j]
            loss += ex * ex + ey * ey
    # reverse sweep
    ga = 0.0
    gb = 0.0
    gc = 0.0
    gd = 0.0
    bx = 0.0
    by = 0.0
    for i in range(n - 1, -1, -1):
        if (i + 1) % 100 == 0:
            j = (i + 1) // 100 - 1
            bx += 2.0 * (X[i + 1] - xd[j])
            by += 2.0 * (Y[i + 1] - yd[j])
        x = X[i]
        y = Y[i]
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
        # x_new = x + s*(k1+2k2+2k3+k4)
        b4x = s * bx
        b4y = s * by
        # stage 4
        xy = x4 * y4
        t = d * b4y - b * b4x
        s4x = a * b4x + y4 * t
        s4y = x4 * t - c * b4y
        ga += x4 * b4x
        gb -= xy * b4x
        gc -= y4 * b4y
        gd += xy * b4y
        # stage 3
        b3x = 2.0 * b4x + dt * s4x
        b3y = 2.0 * b4y + dt * s4y
        xy = x3 * y3
        t = d * b3y - b * b3x
        s3x = a * b3x + y3 * t
        s3y = x3 * t - c * b3y
        ga += x3 * b3x
        gb -= xy * b3x
        gc -= y3 * b3y
        gd += xy * b3y
        # stage 2
        b2x = 2.0 * b4x + h * s3x
        b2y = 2.0 * b4y + h * s3y
        xy = x2 * y2
        t = d * b2y - b * b2x
        s2x = a * b2x + y2 * t
        s2y = x2 * t - c * b2y
        ga += x2 * b2x
        gb -= xy * b2x
        gc -= y2 * b2y
        gd += xy * b2y
        # stage 1
        b1x = b4x + h * s2x
        b1y = b4y + h * s2y
        xy = x * y
        t = d * b1y - b * b1x
        s1x = a * b1x + y * t
        s1y = x * t - c * b1y
        ga += x * b1x
        gb -= xy * b1x
        gc -= y * b1y
        gd += xy * b1y
        bx = bx + s1x + s2x + s3x + s4x
        by = by + s1y + s2y + s3y + s4y
    g = np.empty(6)
    g[0] = ga
    g[1] = gb
    g[2] = gc
    g[3] = gd
    g[4] = bx
    g[5] = by
    return loss, (g[:4], g[4:])


@njit
def perturbed_rhs(x, y):
    return 1.45 * x - 1.02 * x * y, 1.03 * x * y - 2.95 * y


@njit
def trajectory(steps):
    """Every 100th of so many steps at perturbed parameters."""
    x, y, h = 1.05, 0.97, 1e-3
    points = np.empty((2, steps // 100))
    for i in range(steps):
        k1 = perturbed_rhs(x, y)
        k2 = perturbed_rhs(x + h / 2 * k1[0], y + h / 2 * k1[1])
        k3 = perturbed_rhs(x + h / 2 * k2[0], y + h / 2 * k2[1])
        k4 = perturbed_rhs(x + h * k3[0], y + h * k3[1])
        x += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        y += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        if (i + 1) % 100 == 0:
            points[0, i // 100], points[1, i // 100] = x, y
    return points


def draw(rng, steps=10_000):
    """The arguments of `primal`; the data are a trajectory with noise."""
    p, y0 = np.array([1.5, 1.0, 3.0, 1.0]), np.array([1.0, 1.0])
    xd, yd = trajectory(steps) + 0.05 * rng.standard_normal((2, steps // 100))
    return p, y0, 1e-3, steps, xd, yd


def shorten(arguments):
    """A small case for tests."""
    p, y0, dt, _, xd, yd = arguments
    return p, y0, dt, 300, xd, yd
