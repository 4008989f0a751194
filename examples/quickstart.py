"""Derivatives of loops, as they stand: nothing rewritten, nothing approximated."""

import math

import numpy as np

import numbad as nd


def square_root(a):
    """Heron's iteration: a while loop, which ends when it ends."""
    x = a
    while abs(x * x - a) > 1e-14 * a:
        x = 0.5 * (x + a / x)
    return x


slope = nd.derivative(square_root)
print("d sqrt(a) / da at 2:", slope(2.0))
assert math.isclose(slope(2.0), 0.5 / math.sqrt(2.0), rel_tol=1e-12)


def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


value, gradient = nd.value_and_grad(rosenbrock)(np.array([1.5, 2.0, 1.0]))
print("Rosenbrock's function:", value, "gradient:", gradient)
assert math.isclose(value, 100.0 * 0.25**2 + 0.25 + 100.0 * 9.0 + 1.0)
assert np.allclose(gradient, [151.0, 2352.0, -600.0], rtol=1e-14)


def from_polar(position):
    r, angle = position
    return np.array([r * math.cos(angle), r * math.sin(angle)])


jacobian = nd.jacobian(from_polar)(np.array([2.0, math.pi / 6]))
print("Jacobian of polar coordinates:\n", jacobian)
expected = [[math.sqrt(0.75), -1.0], [0.5, 2.0 * math.sqrt(0.75)]]
assert np.allclose(jacobian, expected, rtol=1e-14)
