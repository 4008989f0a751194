"""The likelihood of a Gaussian process: its gradient by the kernel's parameters, over the primal.

One core and one BLAS thread.
"""

import functools
import math
import os

import numpy as np

from . import measure

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BAR = 3.0


def log_likelihood(x, y, length, variance, noise):
    """Of observations `y` at places `x`, with a squared-exponential kernel.

    Rasmussen & Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006, algorithm 2.1.
    """
    n = x.size
    k = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            distance = (x[i] - x[j]) / length
            k[i, j] = variance * math.exp(-0.5 * distance * distance)
            k[j, i] = k[i, j]
        k[i, i] += noise
    factor = np.linalg.cholesky(k)
    z = np.linalg.solve(factor, y)
    alpha = np.linalg.solve(factor.T, z)
    return (
        -0.5 * np.dot(y, alpha) - np.log(np.diag(factor)).sum() - 0.5 * n * math.log(2.0 * math.pi)
    )


def calls(n=500):
    """Primal and gradient by length, variance and noise, as calls without arguments."""
    from numba import njit

    import numbad as nd

    x = np.linspace(0.0, 10.0, n)
    y = np.sin(x) + 0.1 * np.random.default_rng(0).normal(size=n)
    arguments = x, y, 1.3, 0.9, 0.05
    gradient = nd.value_and_grad(log_likelihood, (2, 3, 4), mode="reverse")
    return functools.partial(njit(log_likelihood), *arguments), functools.partial(
        gradient, *arguments
    )


class GaussianProcess:
    """Ratio of the gradient to the primal."""

    timeout = 300

    def track_ratio(self):
        measure.pin()
        base, gradient = calls()
        return measure.beside(base, {"gradient": gradient})["gradient"].ratio

    track_ratio.unit = "ratio"


def main():
    options = measure.options(__doc__)
    base, gradient = calls()
    timing = measure.beside(base, {"gradient": gradient}, samples=options.samples)
    row = measure.ratio_row("likelihood of a Gaussian process, n = 500", timing["gradient"], BAR)
    return 0 if measure.print_table("Gradients of linear algebra", [row]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
