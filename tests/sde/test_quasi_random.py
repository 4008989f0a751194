"""Paths from quasi-random increments: errors of values and derivatives fall faster than 1 / sqrt(n)."""

import math

import numpy as np
from numba import njit
from scipy.stats import norm, qmc

import numbad as nd

STEPS = 16
RATE = 0.05
solve = nd.sde.solver(
    lambda t, y, rate, vol: rate * y,
    lambda t, y, rate, vol: vol * y,
    method="Milstein",
    dt=1 / STEPS,
)


@njit
def price(vol, increments):
    total = 0.0
    for path in increments:
        total += max(solve(100.0, (0.0, 1.0), (RATE, vol), path)[-1, 0] - 100.0, 0.0)
    return math.exp(-RATE) * total / len(increments)


def increments(paths, seed):
    """Of Brownian paths by principal components, from scrambled points of Sobol."""
    times = np.arange(1, STEPS + 1) / STEPS
    sizes, shapes = np.linalg.eigh(np.minimum.outer(times, times))
    points = norm.ppf(qmc.Sobol(STEPS, seed=seed).random(paths))
    brownian = (points * np.sqrt(sizes[::-1])) @ shapes[:, ::-1].T
    return np.diff(brownian, axis=1, prepend=0.0)


def test_errors_fall_faster_than_with_pseudo_random_paths():
    value_and_slope = nd.value_and_grad(price)
    counts, seeds = (128, 512, 2048), range(12)
    exact = np.mean([value_and_slope(0.2, increments(2**14, 90 + k)) for k in range(4)], axis=0)
    errors = []
    for count in counts:
        found = np.array([value_and_slope(0.2, increments(count, seed)) for seed in seeds])
        errors.append(np.sqrt(((found - exact) ** 2).mean(axis=0)))
    value, slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert value < -0.6
    assert slope < -0.55
    noise = np.random.default_rng(1).normal(size=(12, 2048, STEPS)) / math.sqrt(STEPS)
    pseudo = np.array([value_and_slope(0.2, one) for one in noise])
    gain = np.sqrt(((pseudo - exact) ** 2).mean(axis=0)) / errors[-1]
    assert gain[0] > 15.0
    assert gain[1] > 8.0
