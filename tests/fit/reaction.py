"""A reversible reaction, in closed form, and data of two runs of it."""

import numpy as np


def reaction(t, y, rate, back):
    net = rate * y[0] - back * y[1]
    return -net, net


def amounts(t, rate, back, a, b):
    """Both amounts at times t, shape (len(t), 2), from a and b at time 0."""
    rest = (a + b) * back / (rate + back)
    left = rest + (a - rest) * np.exp(-(rate + back) * t)
    return np.stack((left, a + b - left), axis=1)


def _wobble(shift):
    """Something like noise, of the size of 0.02 and 0.08."""
    i = np.arange(15.0)
    return np.stack((0.03 * np.sin(7.3 * i + shift), 0.11 * np.cos(5.1 * i + shift)), axis=1)


T = np.linspace(0.0, 4.0, 15)
COLD = amounts(T, 0.8, 0.3, 2.0, 0.0) + _wobble(0.0)
WARM = amounts(T, 0.8, 0.5, 1.0, 1.0) + _wobble(1.0)
P0 = {"rate": 1.0, "back": 0.4}
Y0 = (2.0, 0.0)
