"""A double well: how long a particle takes from one side to the other, and what more noise does to that.

dx = (x - x^3) dt + vol dW starts in the left well, at -1. The mean time until it first reaches 1 is known (C.
W. Gardiner, Handbook of Stochastic Methods, 5.2.7). Between steps a Brownian bridge crosses with a known
chance: what is made of a path is smooth.
"""

import math

import numpy as np
from matplotlib.figure import Figure
from numba import njit
from scipy.integrate import cumulative_trapezoid, trapezoid

import numbad as nd

VOL, STEP, PATHS = 1.0, 0.02, 3000
solve = nd.sde.solver(lambda t, x, vol: x - x**3, lambda t, x, vol: vol, noise="additive", dt=STEP)
times, key = np.arange(0.0, 50.0, STEP), nd.random.key(0)


@njit
def waiting(vol, times, key, path):
    """The chance that a path has not reached 1 yet, at each time."""
    ys = solve(-1.0, times, (vol,), (key, path))
    chance = np.zeros(len(ys))
    chance[0] = 1.0
    for k in range(1, len(ys)):
        before, after = 1.0 - ys[k - 1, 0], 1.0 - ys[k, 0]
        if before <= 0.0 or after <= 0.0:
            break
        chance[k] = chance[k - 1] * (1.0 - math.exp(-2.0 * before * after / (vol * vol * STEP)))
    return chance


passage = njit(lambda vol, times, key, path: STEP * waiting(vol, times, key, path).sum())
gradient = nd.value_and_grad(passage, mode="forward")
found = np.array([gradient(VOL, times, key, path) for path in range(PATHS)])
value, slope = found.mean(axis=0)
error, error_of_slope = found.std(axis=0) / math.sqrt(PATHS)

grid = np.linspace(-4.0, 1.0, 20_001)
potential = np.array([[1.0], [1.01], [0.99]]) ** -2 * (0.5 * grid**4 - grid**2)
below = cumulative_trapezoid(np.exp(-potential), grid, initial=0.0)
rows = np.where(grid >= -1.0, np.exp(potential) * below, 0.0)
exact, high, low = 2.0 / np.array([1.0, 1.01, 0.99]) ** 2 * trapezoid(rows, grid)
exact_slope = (high - low) / 0.02
print(f"mean time {value:.2f} +- {error:.2f}, exact {exact:.2f}")
print(f"its slope {slope:.1f} +- {error_of_slope:.1f}, exact {exact_slope:.1f}")
assert abs(value - exact) < 4.0 * error
assert abs(slope - exact_slope) < 4.0 * error_of_slope
curve = np.mean([waiting(VOL, times, key, path) for path in range(PATHS)], axis=0)
axes = (figure := Figure()).subplots()
axes.semilogy(times, curve, times, np.exp(-times / exact), "--")
axes.set(xlabel="t", ylabel="not yet on the other side; an exponential")
figure.savefig("double_well.png")
