"""Gradients of NumPy's functions of whole arrays: over the primal, and over NumPy's calls by hand.

One core and one BLAS thread; what is by hand returns the value as well, as the gradient does.
"""

import functools
import os

import numpy as np

from . import measure

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def bell(r):
    """The sum of a Gaussian over all elements."""
    return np.exp(-(r**2)).sum()


def trace(x1, x2):
    """The trace of a product."""
    return np.trace(x1 @ x2)


def trace_by_hand(x1, x2):
    product = x1 @ x2
    seed = np.eye(product.shape[0])
    return np.trace(product), (seed @ x2.T, x1.T @ seed)


def quadratic(x, a, b, c):
    """A quadratic form, with a linear and a constant term."""
    return x @ a @ x + b @ x + c


def quadratic_by_hand(x, a, b, c):
    y = x @ a
    return y @ x + b @ x + c, y + a @ x + b


def bell_calls(size=10**6):
    """Primal and gradient over an array, as calls without arguments."""
    from numba import njit

    import numbad as nd

    r = np.random.default_rng(0).normal(size=size)
    gradient = nd.value_and_grad(bell, mode="reverse")
    return functools.partial(njit(bell), r), functools.partial(gradient, r)


def trace_calls(n=30):
    """What is by hand and the gradient by both factors."""
    import numbad as nd

    x1, x2 = np.random.default_rng(0).normal(size=(2, n, n))
    gradient = nd.value_and_grad(trace, (0, 1), mode="reverse")
    return functools.partial(trace_by_hand, x1, x2), functools.partial(gradient, x1, x2)


def quadratic_calls(n=1000):
    """What is by hand and the gradient by `x`."""
    import numbad as nd

    draw = np.random.default_rng(0).normal
    arguments = draw(size=n), draw(size=(n, n)), draw(size=n), 1.5
    gradient = nd.value_and_grad(quadratic, mode="reverse")
    by_hand = functools.partial(quadratic_by_hand, *arguments)
    return by_hand, functools.partial(gradient, *arguments)


CASES = {
    "exp(-r**2).sum(), 10^6, over the primal": (bell_calls, 2.5),
    "trace(x1 @ x2), 30 x 30, over NumPy by hand": (trace_calls, 1.3),
    "x @ A @ x + b @ x + c, n = 1000, over NumPy by hand": (quadratic_calls, 1.15),
}


class WholeArrays:
    """Ratio of each gradient to its base."""

    params = tuple(CASES)
    param_names = ("case",)
    timeout = 300

    def track_ratio(self, case):
        measure.pin()
        base, gradient = CASES[case][0]()
        return measure.beside(base, {"gradient": gradient})["gradient"].ratio

    track_ratio.unit = "ratio"


def rows(options):
    found = []
    for name, (calls, bar) in CASES.items():
        base, gradient = calls()
        timing = measure.beside(base, {"gradient": gradient}, samples=options.samples)
        found.append(measure.ratio_row(name, timing["gradient"], bar))
    return found


def main():
    options = measure.options(__doc__)
    return 0 if measure.print_table("Gradients of whole arrays", rows(options)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
