"""Gradients of functions with parallel loops: how much faster they are on two threads than on one.

P4 has a sum over paths; the heat equation writes an array in every step, of which neighbours are read.
"""

import functools
import math

import numba
import numpy as np
from numba import njit, prange

from . import measure, problems

BARS = {"P4": 1.8}
THREADS = 2
PATHS = 20_000, 100


def heat(u, rate, steps):
    """Explicit Euler steps of a reaction and diffusion equation, two arrays taking turns."""
    new = np.empty_like(u)
    for _ in range(steps):
        for i in prange(1, u.size - 1):
            spread = u[i - 1] - 2.0 * u[i] + u[i + 1]
            new[i] = u[i] + rate * spread + 1e-3 * u[i] * math.exp(-u[i] * u[i])
        new[0], new[-1] = u[0], u[-1]
        u, new = new, u
    total = 0.0
    for i in range(u.size):
        total += u[i] * u[i]
    return total


@functools.cache
def calls(problem):
    """The function, and its gradient, as calls without arguments, by name."""
    import numbad as nd

    rng = np.random.default_rng(problems.SEED)
    if problem == "P4":
        source = problems.module("P4").primal.py_func
        par = np.array([100.0, 0.03, 0.04, 1.5, 0.04, 0.3, -0.7])
        arguments = par, 100.0, 1.0, *rng.standard_normal((2, *PATHS))
        argnums = 0
    else:
        source, arguments, argnums = heat, (rng.standard_normal(200_000), 0.2, 10), (0, 1)
    primal = njit(parallel=True)(source)
    gradient = nd.value_and_grad(primal, argnums, mode="reverse")
    return {
        "function": functools.partial(primal, *arguments),
        "gradient": functools.partial(gradient, *arguments),
    }


def with_threads(count, call):
    """A call on so many threads."""

    def run():
        numba.set_num_threads(count)
        return call()

    return run


def speed_up(call, samples):
    """Time on one thread over time on `THREADS`, each sample beside the other."""
    several = with_threads(THREADS, call)
    timed = measure.beside(several, {"one": with_threads(1, call)}, samples=samples)
    return timed["one"]


class Parallel:
    """Times of gradients of parallel functions, by the number of threads."""

    params = ("P4", "heat"), (1, THREADS)
    param_names = ("problem", "threads")
    timeout = 300

    def setup(self, problem, threads):
        if threads > numba.config.NUMBA_NUM_THREADS:
            raise NotImplementedError(f"Numba has {numba.config.NUMBA_NUM_THREADS} threads here")
        self.gradient = with_threads(threads, calls(problem)["gradient"])
        self.gradient()

    def time_gradient(self, problem, threads):
        self.gradient()


def rows(problem, samples):
    for name, call in calls(problem).items():
        timing = speed_up(call, samples)
        bar = BARS.get(problem) if name == "gradient" else None
        note = f"{min(timing.base) * 1e3:.4g} ms on {THREADS} threads"
        yield measure.Row(
            f"{problem}, {name}",
            timing.ratio,
            bar=bar,
            at_least=True,
            best=timing.best_ratio,
            note=note,
        )


def main():
    options = measure.options(__doc__, one_core=False)
    if numba.config.NUMBA_NUM_THREADS < THREADS:
        print(f"skipped: Numba has {numba.config.NUMBA_NUM_THREADS} threads here")
        return 0
    table = [row for problem in ("P4", "heat") for row in rows(problem, options.samples)]
    title = f"Time on one thread over time on {THREADS}"
    return 0 if measure.print_table(title, table) else 1


if __name__ == "__main__":
    raise SystemExit(main())
