"""Rodas5P by hand: dense LU, an analytic Jacobian, the size of the system a constant of the code.

The practical limit in Numba for small stiff systems. Step control as in Hairer & Wanner, "Solving Ordinary
Differential Equations II", IV.7 and IV.8; the coefficients are the method's own (Steinebach, 2023).
"""

import math

import numpy as np
from numba import njit

from numbad.ode.methods.rodas5p import RODAS5P

STAGES = RODAS5P.stages
GAMMA, B = RODAS5P.gamma, np.array(RODAS5P.b)
A, C = np.zeros((STAGES, STAGES)), np.zeros((STAGES, STAGES))
for _i in range(STAGES):
    A[_i, :_i], C[_i, :_i] = RODAS5P.a[_i], RODAS5P.couplings[_i]


@njit(error_model="numpy")
def factor(W, exchanges, n):
    for k in range(n):
        best, largest = k, abs(W[k, k])
        for i in range(k + 1, n):
            if abs(W[i, k]) > largest:
                best, largest = i, abs(W[i, k])
        exchanges[k] = best
        if best != k:
            for j in range(n):
                W[k, j], W[best, j] = W[best, j], W[k, j]
        pivot = 1.0 / W[k, k]
        for i in range(k + 1, n):
            w = W[i, k]
            if w != 0.0:
                w *= pivot
                W[i, k] = w
                for j in range(k + 1, n):
                    W[i, j] -= w * W[k, j]
        W[k, k] = pivot


@njit(error_model="numpy", fastmath={"reassoc", "contract"})
def substitute(W, exchanges, b, n):
    for k in range(n):
        other = exchanges[k]
        if other != k:
            b[k], b[other] = b[other], b[k]
    for i in range(1, n):
        total = b[i]
        for j in range(i):
            total -= W[i, j] * b[j]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= W[i, j] * b[j]
        b[i] = total * W[i, i]


@njit(error_model="numpy", fastmath={"contract"})
def substitute_transposed(W, exchanges, b, n):
    for i in range(n):
        v = b[i] * W[i, i]
        b[i] = v
        for j in range(i + 1, n):
            b[j] -= W[i, j] * v
    for i in range(n - 1, 0, -1):
        v = b[i]
        for j in range(i):
            b[j] -= W[i, j] * v
    for k in range(n - 1, -1, -1):
        other = exchanges[k]
        b[k], b[other] = b[other], b[k]


def build_adjoint(jac, pull, pull_moved, n):
    """The compiled `adjoint(p, seed, steps, record, by_p) -> by_y0` of the steps that `build` records.

    `pull(y, p, v, by_y, by_p)` adds the vector-Jacobian product of v, `pull_moved(y, p, k, v, by_y, by_p)`
    the gradient of v . J(y, p) k.
    """

    @njit(error_model="numpy", fastmath={"contract"})
    def adjoint(p, seed, steps, record, by_p):
        sizes, states, stages = record
        lam, by_state, state = seed.copy(), np.empty(n), np.empty(n)
        J, W, bars = np.empty((n, n)), np.empty((n, n)), np.empty((STAGES, n))
        exchanges = np.empty(n, np.int64)
        for step in range(steps - 1, -1, -1):
            inverse, y, k = 1.0 / sizes[step], states[step], stages[step]
            jac(y, p, J)
            for i in range(n):
                for j in range(n):
                    W[i, j] = -J[i, j]
                W[i, i] += inverse / GAMMA
            factor(W, exchanges, n)
            for s in range(STAGES):
                for i in range(n):
                    bars[s, i] = B[s] * lam[i]
            for s in range(STAGES - 1, -1, -1):
                theta = bars[s]
                substitute_transposed(W, exchanges, theta, n)
                for i in range(n):
                    state[i], by_state[i] = y[i], 0.0
                for j in range(s):
                    for i in range(n):
                        state[i] += A[s, j] * k[j, i]
                pull(state, p, theta, by_state, by_p)
                pull_moved(y, p, k[s], theta, lam, by_p)
                for i in range(n):
                    lam[i] += by_state[i]
                for j in range(s):
                    c = C[s, j] * inverse
                    for i in range(n):
                        bars[j, i] += A[s, j] * by_state[i] + c * theta[i]
        return lam

    return adjoint


def new_record(n, steps=1000):
    """Room for the size, the state and the stages of each step."""
    return np.empty(steps), np.empty((steps, n)), np.empty((steps, STAGES, n))


def build(rhs, jac, n, keeps=False):
    """The compiled `solve(y0, p, t, t_end, rtol, atol, record) -> (y, accepted, rejected)`.

    Where it `keeps` the steps, they are put into `record`.

    `rhs(y, p, out)` and `jac(y, p, J)` are compiled; the system is autonomous.
    """

    @njit(error_model="numpy")
    def solve(y0, p, t, t_end, rtol, atol, record=None):
        y, f, u, trial = y0.copy(), np.empty(n), np.empty(n), np.empty(n)
        k, J, W = np.empty((STAGES, n)), np.empty((n, n)), np.empty((n, n))
        exchanges = np.empty(n, np.int64)
        rhs(y, p, f)
        d0 = d1 = 0.0
        for i in range(n):
            scale = atol + rtol * abs(y[i])
            d0 += (y[i] / scale) ** 2
            d1 += (f[i] / scale) ** 2
        d0, d1 = math.sqrt(d0 / n), math.sqrt(d1 / n)
        h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        for i in range(n):
            u[i] = y[i] + h * f[i]
        rhs(u, p, trial)
        d2 = 0.0
        for i in range(n):
            d2 += ((trial[i] - f[i]) / (atol + rtol * abs(y[i]))) ** 2
        steepest = max(d1, math.sqrt(d2 / n) / h)
        h1 = max(1e-6, h * 1e-3) if steepest <= 1e-15 else (0.01 / steepest) ** 0.2
        h = min(100 * h, h1, t_end - t)
        accepted = rejected = 0
        fresh = True
        while t < t_end:
            last = t + h * (1 + 1e-10) >= t_end
            if last:
                h = t_end - t
            if fresh:
                jac(y, p, J)
                rhs(y, p, f)
            inverse = 1.0 / h
            for i in range(n):
                for j in range(n):
                    W[i, j] = -J[i, j]
                W[i, i] += inverse / GAMMA
            factor(W, exchanges, n)
            for s in range(STAGES):
                stage = k[s]
                if s == 0:
                    for i in range(n):
                        stage[i] = f[i]
                else:
                    for i in range(n):
                        u[i] = u[i] + k[s - 1, i] if s > 5 else y[i]
                    if s <= 5:
                        for j in range(s):
                            for i in range(n):
                                u[i] += A[s, j] * k[j, i]
                    rhs(u, p, stage)
                    for j in range(s):
                        c = C[s, j] * inverse
                        for i in range(n):
                            stage[i] += c * k[j, i]
                substitute(W, exchanges, stage, n)
            error = 0.0
            for i in range(n):
                trial[i] = u[i] + k[STAGES - 1, i]
                scale = atol + rtol * max(abs(y[i]), abs(trial[i]))
                error += (k[STAGES - 1, i] / scale) ** 2
            error = math.sqrt(error / n)
            fresh = error <= 1.0
            if fresh:
                if keeps:
                    record[0][accepted] = h
                    record[1][accepted] = y
                    record[2][accepted] = k
                for i in range(n):
                    y[i] = trial[i]
                t = t_end if last else t + h
                accepted += 1
                h *= min(8.0, max(0.2, 0.9 * max(error, 1e-8) ** -0.2))
            else:
                rejected += 1
                h *= max(0.1, 0.9 * error**-0.2)
        return y, accepted, rejected

    return solve
