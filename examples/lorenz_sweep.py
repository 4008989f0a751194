"""Lorenz's system for many rho, with the derivatives of each end state: a trajectory a thread of the GPU.

Without a GPU the same solver runs in the CPU's threads. Below rho = 1 all comes to rest at 0, then at a fixed
point; beyond 24.74 it is chaotic (C. Sparrow, "The Lorenz Equations", 1982).
"""

import numpy as np
from numba import njit, prange

import numbad as nd


def lorenz(t, y, sigma, rho, beta):
    return sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]


solve = nd.ode.solver(lorenz, rtol=1e-8, atol=1e-8)
START, ENDS, SIGMA, BETA = (1.0, 0.0, 0.0), (0.0, 30.0), 10.0, 8.0 / 3.0


def has_gpu():
    try:
        from numba import cuda

        return bool(nd.cuda) and cuda.is_available()
    except ImportError:  # numba-cuda is not installed
        return False


def on_gpu(rhos):
    found = nd.cuda.ensemble(solve, START, ENDS, (SIGMA, rhos, BETA), derivatives=1)
    return found.ys[:, 1], found.derivatives[:, 1, :, 0]


@nd.jvp
def both(rho):
    x, y, z = solve(START, ENDS, (SIGMA, rho, BETA))[1]
    return x, y, z


@njit(parallel=True)
def on_cpu(rhos):
    states, slopes = np.empty((rhos.size, 3)), np.empty((rhos.size, 3))
    for i in prange(rhos.size):
        states[i], slopes[i] = both((rhos[i],), (1.0,))
    return states, slopes


gpu = has_gpu()
print("on the GPU" if gpu else "no CUDA GPU here: fewer trajectories, on the CPU")
rhos = np.linspace(0.0, 28.0, 1_000_000 if gpu else 200)
states, slopes = (on_gpu if gpu else on_cpu)(rhos)
fixed = (rhos > 1.5) & (rhos < 12.0)  # (x, x, rho - 1) with x = +-sqrt(beta (rho - 1))
assert np.allclose(states[fixed, 0] ** 2, BETA * (rhos[fixed] - 1.0), rtol=1e-5)
assert np.quantile(np.abs(slopes[fixed, 2] - 1.0), 0.999) < 1e-4  # steps follow values alone
for name, where in (("rest", rhos < 0.5), ("fixed points", fixed), ("chaos", rhos > 26.0)):
    size = np.abs(slopes[where]).max(axis=1)
    print(f"{name:>12}: |dy/drho| at t = 30 is {np.median(size):.1e} in the median")
