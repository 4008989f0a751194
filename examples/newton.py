"""Derivatives of derivatives: Newton's method in compiled code, and a trap that is none."""

import math

from numba import njit

import numbad as nd


def energy(x, depth):
    """A double well, tilted."""
    return depth * (x * x - 1.0) ** 2 + 0.25 * x


force = nd.derivative(energy)
stiffness = nd.derivative(force)  # operators nest
jerk = nd.derivative(stiffness)


@njit
def rest(x, depth):
    """The nearest place of no force. Operators' results are ordinary functions for Numba."""
    for _ in range(50):
        step = force(x, depth) / stiffness(x, depth)
        x -= step
        if abs(step) < 1e-14:
            break
    return x


x = rest(1.0, 2.0)
print("at rest at", x, "with stiffness", stiffness(x, 2.0))
assert math.isclose(8.0 * x * (x * x - 1.0), -0.25, rel_tol=1e-10)
assert math.isclose(stiffness(x, 2.0), 8.0 * (3.0 * x * x - 1.0), rel_tol=1e-13)
assert math.isclose(jerk(x, 2.0), 48.0 * x, rel_tol=1e-13)

# The iteration itself can be differentiated: how does the place move with the depth?
# dx/ddepth = -(d force / d depth) / stiffness, by the implicit function theorem.
moves = nd.derivative(rest, argnum=1)(1.0, 2.0)
assert math.isclose(moves, -4.0 * x * (x * x - 1.0) / stiffness(x, 2.0), rel_tol=1e-8)

# d/dx [x * d/dy (x + y)] is 1. A tool that mixes up the two perturbations answers 2.
inner = nd.derivative(lambda y, x: x + y)
outer = nd.derivative(lambda x: x * inner(1.0, x))
assert outer(1.0) == 1.0
