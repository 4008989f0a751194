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

VOL, STEP, END = 1.0, 0.02, 50.0


@njit
def remaining(ys, vol):
    """The chance that 1 is not reached yet, at each step."""
    chance = np.ones(len(ys))
    for k in range(1, len(ys)):
        before, after = 1.0 - ys[k - 1, 0], 1.0 - ys[k, 0]
        if before <= 0.0 or after <= 0.0:
            chance[k:] = 0.0
            break
        chance[k] = chance[k - 1] * (1.0 - math.exp(-2.0 * before * after / (vol * vol * STEP)))
    return chance


solve = nd.sde.solver(lambda t, x, vol: x - x**3, lambda t, x, vol: vol, noise="additive", dt=STEP)
times, key, paths = np.arange(0.0, END + 0.5 * STEP, STEP), nd.random.key(0), 3000


@njit
def waiting(vol, times, key, path):
    """The chance that a path has not crossed yet, at each time."""
    return remaining(solve(-1.0, times, (vol,), (key, path)), vol)


passage = nd.value_and_grad(
    njit(lambda vol, times, key, path: STEP * waiting(vol, times, key, path).sum()), mode="forward"
)


@njit
def sample(vol, times, key, paths):
    """The mean time of each path until it crosses, and its slope by the noise; the mean of `waiting`."""
    found, curve = np.empty((2, paths)), np.zeros(times.size)
    for path in range(paths):
        found[0, path], found[1, path] = passage(vol, times, key, path)
        curve += waiting(vol, times, key, path) / paths
    return found, curve


found, curve = sample(VOL, times, key, paths)
value, slope = found.mean(axis=1)
errors = found.std(axis=1) / math.sqrt(paths)
grid = np.linspace(-4.0, 1.0, 20_001)
potential = np.array([[1.0], [1.01], [0.99]]) ** -2 * (0.5 * grid**4 - grid**2)
below = cumulative_trapezoid(np.exp(-potential), grid, initial=0.0)
rows = np.where(grid >= -1.0, np.exp(potential) * below, 0.0)
exact, high, low = 2.0 / np.array([1.0, 1.01, 0.99]) ** 2 * trapezoid(rows, grid)
print(f"mean time {value:.2f} +- {errors[0]:.2f}, exact {exact:.2f}")
print(f"its slope {slope:.1f} +- {errors[1]:.1f}, exact {(high - low) / 0.02:.1f}")
assert abs(value - exact) < 4.0 * errors[0]
assert abs(slope - (high - low) / 0.02) < 4.0 * errors[1]
axes = (figure := Figure()).subplots()
axes.semilogy(times, curve, times, np.exp(-times / exact), "--")
axes.set(xlabel="t", ylabel="not yet on the other side; an exponential")
figure.savefig("double_well.png")
