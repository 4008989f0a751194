"""How the solution of an ODE moves with its parameters, where the answer is known."""

import math

import numpy as np

import numbad as nd


def logistic(t, y, rate, capacity):
    return (rate * y[0] * (1.0 - y[0] / capacity),)


solve = nd.ode.solver(logistic, rtol=1e-10, atol=1e-12)
times = np.linspace(0.0, 8.0, 9)


def end(parameters):
    """The population at the last time."""
    rate, capacity, start = parameters
    return solve((start,), times, (rate, capacity))[-1, 0]


at = (0.8, 10.0, 1.0)
size, (by_rate, by_capacity, by_start) = nd.value_and_grad(end)(at)
print(f"size {size:.6f}; by rate {by_rate:.6f}, capacity {by_capacity:.6f}, start {by_start:.6f}")


def closed_form(rate, capacity, start, t=8.0):
    """The solution and its partial derivatives, on paper."""
    decay = math.exp(-rate * t)
    ratio = capacity / start - 1.0
    below = 1.0 + ratio * decay
    y = capacity / below
    return y, (
        y / below * ratio * t * decay,
        1.0 / below - y / below * decay / start,
        y / below * decay * capacity / start**2,
    )


expected, partials = closed_form(*at)
assert math.isclose(size, expected, rel_tol=1e-8)
assert np.allclose((by_rate, by_capacity, by_start), partials, rtol=1e-6)
