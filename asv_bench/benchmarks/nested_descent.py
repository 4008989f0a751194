"""Gradient descent inside gradient descent: both derivatives by operators, over both by hand.

The inner descent goes towards the minimum of a function of `x` and of hyperparameters `theta`; the outer
one moves `theta` so that the inner one ends at a target.
"""

import functools

import numpy as np
from numba import njit

from . import measure

SIZES = (2, 10, 100)
STEPS, RATE = 50, 0.1
OUTER_STEPS, OUTER_RATE = 10, 0.05


def objective(x, theta):
    """What the inner descent minimises."""
    total = 0.0
    for i in range(x.shape[0]):
        d = x[i] - theta[i]
        total += 0.5 * d * d + 0.1 * x[i] ** 4
        if i > 0:
            total += 0.3 * x[i] * x[i - 1]
    return total


@njit
def distance(x, target):
    total = 0.0
    for i in range(x.shape[0]):
        total += (x[i] - target[i]) ** 2
    return total


def by_operators():
    """The gradient of where the inner descent ends, of a gradient."""
    import numbad as nd

    slope = nd.grad(objective, 0, mode="reverse")

    def loss(theta, target):
        x = np.zeros(theta.shape[0])
        for _ in range(STEPS):
            x = x - RATE * slope(x, theta)
        return distance(x, target)

    return nd.grad(loss, 0, mode="reverse")


@njit
def by_hand(theta, target):
    """The same: the states are kept, and the adjoint goes back through the steps."""
    n = theta.shape[0]
    x, slope = np.zeros((STEPS + 1, n)), np.empty(n)
    for t in range(STEPS):
        for i in range(n):
            slope[i] = x[t, i] - theta[i] + 0.4 * x[t, i] ** 3
            if i > 0:
                slope[i] += 0.3 * x[t, i - 1]
                slope[i - 1] += 0.3 * x[t, i]
        for i in range(n):
            x[t + 1, i] = x[t, i] - RATE * slope[i]
    adjoint, by_theta, product = 2.0 * (x[STEPS] - target), np.zeros(n), np.empty(n)
    for t in range(STEPS - 1, -1, -1):
        for i in range(n):
            product[i] = (1.0 + 1.2 * x[t, i] ** 2) * adjoint[i]
        for i in range(1, n):
            product[i] += 0.3 * adjoint[i - 1]
            product[i - 1] += 0.3 * adjoint[i]
        for i in range(n):
            by_theta[i] += RATE * adjoint[i]
            adjoint[i] -= RATE * product[i]
    return by_theta


def descent(gradient):
    """The outer descent, compiled."""

    @njit
    def descend(theta, target):
        theta = theta.copy()
        for _ in range(OUTER_STEPS):
            theta -= OUTER_RATE * gradient(theta, target)
        return theta

    return descend


def timings(sizes, samples=41):
    """Number of unknowns -> `Timing` over both by hand."""
    own, hand = descent(by_operators()), descent(by_hand)
    found = {}
    for n in sizes:
        arguments = np.random.default_rng(0).normal(size=(2, n))
        np.testing.assert_allclose(own(*arguments), hand(*arguments), rtol=1e-9)
        contenders = {"own": functools.partial(own, *arguments)}
        base = functools.partial(hand, *arguments)
        found[n] = measure.beside(base, contenders, samples=samples)["own"]
    return found


class NestedDescent:
    """Ratios to both derivatives by hand."""

    params = SIZES
    param_names = ("unknowns",)
    timeout = 300

    def setup(self, n):
        measure.pin()

    def track_ratio(self, n):
        return timings([n])[n].ratio

    track_ratio.unit = "ratio"


def main():
    options = measure.options(__doc__)
    timed = timings(SIZES, options.samples)
    rows = [measure.ratio_row(f"{n} unknowns", timing) for n, timing in timed.items()]
    measure.print_table("Gradient descent inside gradient descent, over both by hand", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
