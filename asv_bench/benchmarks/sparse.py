"""Sparse derivatives: over one evaluation of the function.

The Jacobian of the Brusselator's right-hand side (P5), 10,000 cells.

The state is indexed as most people would (`naive_rhs`); beside it, for information, the right-hand side
in slices, which LLVM vectorises over the cells and partials do not. Both call from Python, and the
Jacobian is returned as a new matrix. A Jacobian with a few full rows by both modes, and a Hessian with a
full row and column beside dense ones, of 2,000 numbers.
"""

import functools
import time

import numpy as np

from . import measure
from .problems import brusselator

CELLS = 10_000
MOST_PASSES = 8
BAR = 15.0
SIDES = {"naive_rhs": BAR, "rhs": None}


def arguments(cells=CELLS):
    """The arguments of a right-hand side, the array for its result included."""
    y, parameters, _, _ = brusselator.draw(np.random.default_rng(0), cells)
    a, b, alpha = parameters
    return cells, a, b, alpha * cells**2, y, np.empty_like(y)


def calls(name, cells=CELLS):
    """One evaluation and the Jacobian, as calls without arguments, and seconds that detection took."""
    import numbad as nd

    rhs, given = getattr(brusselator, name), arguments(cells)
    nd.sparsity(rhs, 4, 5)(*arguments(8))  # reads the code
    start = time.perf_counter()
    pattern = nd.sparsity(rhs, 4, 5)(*given)
    seconds = time.perf_counter() - start
    jacobian = nd.jacobian(rhs, 4, out=5, sparsity=pattern)
    return functools.partial(rhs, *given), functools.partial(jacobian, *given), seconds


def full_rows(x):
    """A function of each number, and three of all of them."""
    y, first, second, third = np.empty(x.size + 3), 0.0, 0.0, 0.0
    for i in range(x.size):
        y[i] = np.exp(-x[i]) * x[i]
        first += x[i]
        second += x[i] ** 2
        third += x[i] ** 3
    y[x.size], y[x.size + 1], y[x.size + 2] = first, second, third
    return y


def energy(x):
    """The chained Rosenbrock function, and a product of the first number with each."""
    total = 0.0
    for i in range(x.size - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
        total += x[0] * x[i + 1]
    return total


NUMBERS = 2_000
OTHERS = {  # name -> (function, operator, mode)
    "few full rows, forward": (full_rows, "jacobian", "forward"),
    "few full rows, reverse": (full_rows, "jacobian", "reverse"),
    "few full rows": (full_rows, "jacobian", "auto"),
    "Hessian": (energy, "hessian", "auto"),
}


def other_calls(name, count=NUMBERS):
    """One evaluation and the derivative, as calls without arguments."""
    import numba

    import numbad as nd

    f, operator, mode = OTHERS[name]
    f, x = numba.njit(f), np.linspace(0.5, 1.5, count)
    derivative = getattr(nd, operator)(f, mode=mode, sparsity="detect")
    return functools.partial(f, x), functools.partial(derivative, x)


def passes(jacobian):
    """How many directions the columns share."""
    return jacobian.func.plan(jacobian.args).count


class SparseJacobian:
    """Ratio of the Jacobian to one evaluation, and the number of directions."""

    params = tuple(SIDES)
    param_names = ("right-hand side",)
    timeout = 300

    def track_ratio(self, name):
        measure.pin()
        base, jacobian, _ = calls(name)
        return measure.beside(base, {"jacobian": jacobian})["jacobian"].ratio

    def track_passes(self, name):
        return passes(calls(name, 1000)[1])

    track_ratio.unit = "ratio"
    track_passes.unit = "directions"


class OtherSparse:
    """The same of functions with full rows."""

    params = tuple(OTHERS)
    param_names = ("derivative",)
    timeout = 300

    def track_ratio(self, name):
        measure.pin()
        base, derivative = other_calls(name)
        return measure.beside(base, {"derivative": derivative})["derivative"].ratio

    def track_passes(self, name):
        return passes(other_calls(name, 500)[1])

    track_ratio.unit = "ratio"
    track_passes.unit = "directions"


def rows(options):
    found = []
    for name, bar in SIDES.items():
        base, jacobian, seconds = calls(name)
        timing = measure.beside(base, {"jacobian": jacobian}, samples=options.samples)
        note = f"detected in {seconds:.2g} s"
        found.append(measure.ratio_row(f"{name}, Jacobian", timing["jacobian"], bar, note))
        count = passes(jacobian)
        found.append(measure.Row(f"{name}, directions", count, "", bar=MOST_PASSES))
    for name in OTHERS:
        base, derivative = other_calls(name)
        timing = measure.beside(base, {"derivative": derivative}, samples=options.samples)
        note = f"{passes(derivative)} directions, {derivative.func.plan(derivative.args).mode}"
        found.append(measure.ratio_row(name, timing["derivative"], None, note))
    return found


def main():
    options = measure.options(__doc__)
    return 0 if measure.print_table("Sparse derivatives", rows(options)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
