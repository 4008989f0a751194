"""Counts in groups that have levels of their own: a hierarchical Poisson model, fitted by SciPy.

The loop over the points goes in the lanes of vectors, 16 points at a time, as the gradient is one of
`nd.vector_math()`. The counts are drawn here, so that the fit can be held against what they come from.
"""

import math

import numpy as np
import scipy.optimize

import numbad as nd

rng = np.random.default_rng(1)
GROUPS, POINTS = 40, 20_000
true_slope, true_mean, true_spread = 0.5, 1.0, 0.4
true_levels = rng.normal(true_mean, true_spread, GROUPS)
group = rng.integers(0, GROUPS, POINTS)
x = rng.normal(size=POINTS)
counts = rng.poisson(np.exp(true_levels[group] + true_slope * x))


def surprise(p, group, x, counts):
    """The negative logarithm of the posterior, up to a constant; p: slope, mean, log spread, levels."""
    slope, mean, log_spread = p[0], p[1], p[2]
    levels = p[3:]
    total = 0.0
    for i in range(counts.size):
        log_rate = levels[group[i]] + slope * x[i]
        total += math.exp(log_rate) - counts[i] * log_rate
    for k in range(levels.size):
        z = (levels[k] - mean) * math.exp(-log_spread)
        total += 0.5 * z * z + log_spread
    return total


with nd.vector_math():
    objective = nd.value_and_grad(surprise)

data = group, x, counts
start = np.zeros(3 + GROUPS)
found = scipy.optimize.minimize(objective, start, data, jac=True, method="L-BFGS-B")
errors = np.sqrt(np.diag(np.linalg.inv(nd.hessian(surprise)(found.x, *data))))

print(f"{found.message}, {found.nfev} evaluations")
for name, k, truth in (("slope", 0, true_slope), ("mean", 1, true_mean)):
    print(f"{name:8s} {found.x[k]:.3f} +- {errors[k]:.3f}, drawn with {truth}")
print(f"spread   {math.exp(found.x[2]):.3f}, drawn with {true_spread}")
off = (found.x[3:] - true_levels) / errors[3:]
print(f"levels are off by {np.sqrt(np.mean(off**2)):.2f} standard errors in the mean square")

assert abs(found.x[0] - true_slope) < 4 * errors[0]
assert 0.6 < np.sqrt(np.mean(off**2)) < 1.4
