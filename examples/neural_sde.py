"""A neural SDE learnt from data: the drift in a double well, found from where particles are seen.

From each of 13 points 1000 particles start; seen are mean and spread of their places at time 0.4. The drift
is a network of one hidden layer. Gradients by all weights come of reversible Heun's exact adjoint (Kidger
and others, 2021), which keeps no states. The truth is x - x**3 with noise of 0.5.
"""

import numpy as np
from numba import njit
from scipy.optimize import minimize

import numbad as nd

HIDDEN, STARTS = 12, np.linspace(-1.5, 1.5, 13)


@njit
def network(t, x, weights, noise):
    total = weights[3 * HIDDEN]
    for i in range(HIDDEN):
        total += weights[2 * HIDDEN + i] * np.tanh(weights[i] * x + weights[HIDDEN + i])
    return total


options = dict(method="ReversibleHeun", noise="additive", dt=0.04)
constant = njit(lambda t, x, weights, noise: noise)
model = nd.sde.solver(network, constant, adjoint="reversible", **options)
truth = nd.sde.solver(njit(lambda t, x, weights, noise: x - x**3), constant, **options)


def seen(solve, paths):
    """`places(weights, noise, key)`: mean and spread of the places at time 0.4, from each start."""

    @njit
    def places(weights, noise, key):
        out = np.zeros((STARTS.size, 2))
        for k in range(STARTS.size):
            for path in range(paths):
                x = solve(STARTS[k], (0.0, 0.4), (weights, noise), (key, k * paths + path))[-1, 0]
                out[k, 0] += x / paths
                out[k, 1] += x * x / paths
            out[k, 1] = np.sqrt(out[k, 1] - out[k, 0] ** 2)
        return out

    return places


data = seen(truth, 1000)(np.zeros(1), 0.5, nd.random.key(1))
places, key = seen(model, 150), nd.random.key(2)
distance = njit(lambda p: ((places(p[1:], np.exp(p[0]), key) - data) ** 2).sum())
start = np.append(-1.0, np.random.default_rng(0).normal(size=3 * HIDDEN + 1) * 0.5)
fit = minimize(
    nd.value_and_grad(distance, mode="reverse"), start, jac=True, options={"maxiter": 150}
)
print(f"distance {fit.fun:.4f} after {fit.nfev} evaluations, noise {np.exp(fit.x[0]):.3f} (0.5)")
for x in (-1.2, -0.6, 0.0, 0.6, 1.2):
    drift = network(0.0, x, fit.x[1:], 0.5)
    print(f"drift at {x:4.1f}: {drift:6.2f} (truth {x - x**3:6.2f})")
    assert abs(drift - (x - x**3)) < 0.4
