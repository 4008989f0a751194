"""Points and the centres nearest to them: gradient and Hessian-vector product over those by hand.

The sum of squared distances (that of k-means) by the centres: by `if`, by `min`, and of slices.
"""

import functools

import numpy as np
from numba import njit

from . import measure

BAR = 2.0
SHAPES = {"5 centres in 2 dimensions": (20_000, 5, 2), "10 centres in 8": (2_000, 10, 8)}


def by_branch(c, x):
    """The sum over points of the squared distance to the nearest centre."""
    total = 0.0
    for i in range(x.shape[0]):
        best = np.inf
        for k in range(c.shape[0]):
            d = 0.0
            for j in range(x.shape[1]):
                t = x[i, j] - c[k, j]
                d += t * t
            if d < best:
                best = d
        total += best
    return total


def by_min(c, x):
    """The same."""
    total = 0.0
    for i in range(x.shape[0]):
        best = np.inf
        for k in range(c.shape[0]):
            d = 0.0
            for j in range(x.shape[1]):
                d += (x[i, j] - c[k, j]) ** 2
            best = min(best, d)
        total += best
    return total


def by_slices(c, x):
    """The same."""
    total = 0.0
    for i in range(x.shape[0]):
        best = np.inf
        for k in range(c.shape[0]):
            d = np.sum((x[i] - c[k]) ** 2)
            if d < best:
                best = d
        total += best
    return total


@njit
def gradient_by_hand(c, x):
    """Each point pulls at its centre."""
    out = np.zeros_like(c)
    for i in range(x.shape[0]):
        best, which = np.inf, 0
        for k in range(c.shape[0]):
            d = 0.0
            for j in range(x.shape[1]):
                t = x[i, j] - c[k, j]
                d += t * t
            if d < best:
                best, which = d, k
        for j in range(x.shape[1]):
            out[which, j] -= 2.0 * (x[i, j] - c[which, j])
    return out


@njit
def product_by_hand(c, x, v):
    """The Hessian is diagonal: twice the number of points that are nearest to a centre."""
    out = np.zeros_like(c)
    for i in range(x.shape[0]):
        best, which = np.inf, 0
        for k in range(c.shape[0]):
            d = 0.0
            for j in range(x.shape[1]):
                t = x[i, j] - c[k, j]
                d += t * t
            if d < best:
                best, which = d, k
        for j in range(x.shape[1]):
            out[which, j] += 2.0 * v[which, j]
    return out


def timings(shape, samples=41):
    """Name -> `Timing` over what is by hand."""
    import numbad as nd

    points, centres, dimensions = shape
    rng = np.random.default_rng(0)
    x = rng.normal(size=(points, dimensions))
    c, v = rng.normal(size=(2, centres, dimensions))
    forms = {"if": by_branch, "min": by_min, "slices": by_slices}
    gradients = {
        f"gradient, {name}": functools.partial(nd.grad(f, mode="reverse"), c, x)
        for name, f in forms.items()
    }
    products = {
        f"Hessian-vector product, {name}": functools.partial(nd.hvp(f, 0), (c, x), (v,))
        for name, f in forms.items()
    }
    by_hand = functools.partial(gradient_by_hand, c, x)
    timed = measure.beside(by_hand, gradients, samples=samples)
    by_hand = functools.partial(product_by_hand, c, x, v)
    return timed | measure.beside(by_hand, products, samples=samples)


class NearestCentre:
    """Ratios to what is by hand."""

    params = tuple(SHAPES)
    param_names = ("size",)
    timeout = 300

    def setup(self, size):
        measure.pin()

    def track_product(self, size):
        return timings(SHAPES[size])["Hessian-vector product, if"].ratio

    def track_gradient(self, size):
        return timings(SHAPES[size])["gradient, if"].ratio

    track_product.unit = track_gradient.unit = "ratio"


def main():
    options = measure.options(__doc__)
    rows = [
        measure.ratio_row(f"{name}, {size}", timing, BAR)
        for size, shape in SHAPES.items()
        for name, timing in timings(shape, options.samples).items()
    ]
    return 0 if measure.print_table("Nearest centres, over what is by hand", rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
