"""Sparse Jacobian of the Brusselator's right-hand side (P5), 10,000 cells: over one evaluation.

The state is indexed as most people would (`naive_rhs`); beside it, for information, the right-hand side
in slices, which LLVM vectorises over the cells and partials do not. Both call from Python, and the
Jacobian is returned as a new matrix.
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


def rows(options):
    found = []
    for name, bar in SIDES.items():
        base, jacobian, seconds = calls(name)
        timing = measure.beside(base, {"jacobian": jacobian}, samples=options.samples)
        note = f"detected in {seconds:.2g} s"
        found.append(measure.ratio_row(f"{name}, Jacobian", timing["jacobian"], bar, note))
        count = passes(jacobian)
        found.append(measure.Row(f"{name}, directions", count, "", bar=MOST_PASSES))
    return found


def main():
    options = measure.options(__doc__)
    return 0 if measure.print_table("Sparse Jacobian of the Brusselator", rows(options)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
