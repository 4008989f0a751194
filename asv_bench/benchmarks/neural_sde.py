"""A neural SDE, drift 2-64-64-2, 64 paths of 1000 steps: the gradient by 4,482 weights over the value.

`python -m asv_bench.benchmarks.neural_sde` prints the table: each adjoint over the value by the same method.
"""

import functools

import numpy as np
from numba import njit

import numbad as nd

from . import measure

PATHS, STEPS, WIDTH = 64, 1000, 64
KEY = nd.random.key(4)
BAR = 4.0
CASES = {
    "Heun, discrete": ("Heun", {}),
    "Heun, 32 checkpoints": ("Heun", {"checkpoints": 32}),
    "Heun, stochastic": ("Heun", {"adjoint": "stochastic"}),
    "ReversibleHeun, discrete": ("ReversibleHeun", {}),
    "ReversibleHeun, reversible": ("ReversibleHeun", {"adjoint": "reversible"}),
}


@njit
def _layer(w, b, x):
    out = np.empty(b.size)
    for i in range(b.size):
        total = b[i]
        for j in range(x.size):
            total += w[i, j] * x[j]
        out[i] = total
    return out


@njit
def _drift(t, y, w1, b1, w2, b2, w3, b3):
    hidden = np.tanh(_layer(w1, b1, np.array([y[0], y[1]])))
    out = _layer(w3, b3, np.tanh(_layer(w2, b2, hidden)))
    return out[0], out[1]


@njit
def _diffusion(t, y, w1, b1, w2, b2, w3, b3):
    return 0.2, 0.2


def weights():
    """Those of all layers, as they begin to be learnt."""
    rng = np.random.default_rng(2)
    shapes = (WIDTH, 2), (WIDTH, WIDTH), (2, WIDTH)
    pairs = [(rng.normal(size=s) / np.sqrt(s[1]), np.zeros(s[0])) for s in shapes]
    return tuple(x for pair in pairs for x in pair)


@functools.cache
def loss(case):
    """`loss(weights, key)`: the mean squared distance of the ends of the paths from a point."""
    method, options = CASES[case]
    solve = nd.sde.solver(
        _drift, _diffusion, method=method, noise="additive", dt=1.0 / STEPS, **options
    )

    @njit
    def mean(args, key):
        total = 0.0
        for path in range(PATHS):
            ys = solve((0.5, -0.5), (0.0, 1.0), args, (key, path))
            total += (ys[1, 0] - 1.0) ** 2 + ys[1, 1] ** 2
        return total / PATHS

    return mean


class Gradients:
    """Time of a gradient over that of the value."""

    params = tuple(CASES)
    param_names = ("case",)
    timeout = 600

    def setup(self, case):
        measure.pin()

    def track_ratio_to_value(self, case):
        return timings(3, [case])[case].ratio

    track_ratio_to_value.unit = "ratio"


def timings(samples, cases=CASES):
    """The timing of each case's gradient beside its value."""
    found = {}
    for case in cases:
        f = loss(case)
        value = functools.partial(f, weights(), KEY)
        gradient = functools.partial(nd.grad(f, mode="reverse"), weights(), KEY)
        found[case] = measure.beside(value, {case: gradient}, samples=samples)[case]
    return found


def rows(samples):
    """The rows of the table."""
    return [
        measure.ratio_row(f"neural SDE: {case}, gradient over value", timing, BAR)
        for case, timing in timings(samples).items()
    ]


def main():
    samples = measure.options(__doc__.splitlines()[0]).samples
    return 0 if measure.print_table("Neural SDE, 64 paths x 1000 steps", rows(samples)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
