"""A rule of one's own: differentiate the equation, not the iteration that solves it."""

import math

from numba import njit

import numbad as nd


@njit
def lambert_w(x):
    """W(x) with W exp(W) = x, for x > 0 (Halley's iteration)."""
    w = math.log1p(x)
    for _ in range(20):
        e = math.exp(w)
        residual = w * e - x
        step = residual / (e * (w + 1.0) - (w + 2.0) * residual / (2.0 * w + 2.0))
        w -= step
        if abs(step) <= 1e-15 * abs(w):
            break
    return w


# Implicit differentiation of W exp(W) = x. `w` is the answer, so nothing is computed twice.
nd.scalar_rule(lambert_w, lambda w, x: (w / (x * (1.0 + w)),))

slope = nd.derivative(lambert_w)
curvature = nd.derivative(slope)

w = lambert_w(2.0)
print("W(2):", w, "slope:", slope(2.0), "curvature:", curvature(2.0))
assert math.isclose(w * math.exp(w), 2.0, rel_tol=1e-14)
assert math.isclose(slope(2.0), w / (2.0 * (1.0 + w)), rel_tol=1e-14)
assert math.isclose(curvature(2.0), -(w**2) * (w + 2.0) / (4.0 * (1.0 + w) ** 3), rel_tol=1e-13)

# Is the rule right? Every order and mode against finite differences; a slip raises an error.
nd.check_grads(lambert_w, (2.0,), modes=("forward",))
