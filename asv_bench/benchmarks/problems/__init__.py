"""Seven problems as plain loops in Numba, with derivatives by hand: what reverse mode is measured on.

Every module has `primal`, the derivative by hand (which takes what `primal` takes and returns what
`nd.value_and_grad(primal, ARGNUMS)` does), `draw(rng)` for the arguments and `shorten(arguments)` for
a case small enough for a test. The derivatives by hand are the practical limit: they record the least
and recompute the rest.
"""

import functools
import importlib

import numpy as np

NAMES = {
    "P1": "lotka_volterra",
    "P2": "gaussian_mixture",
    "P3": "bundle_adjustment",
    "P4": "heston",
    "P5": "brusselator",
    "P6": "kepler",
    "P7": "trace",
}
SEED = 20240117


def module(problem):
    """The module of a problem, "P1" to "P7"."""
    return importlib.import_module(f"{__name__}.{NAMES[problem]}")


def gradient(problem, source=None):
    """The compiled gradient in reverse mode, as a user would write it (of P3, the Jacobians)."""
    import numbad as nd

    source = source or module(problem)
    if problem == "P3":
        return source.jacobians(nd.jacobian(source.residual, source.ARGNUMS, mode="reverse"))
    return nd.value_and_grad(source.primal, source.ARGNUMS, mode="reverse")


def by_hand(problem):
    """The compiled derivative by hand."""
    source = module(problem)
    return source.jacobian if problem == "P3" else source.adjoint


def contenders(problem):
    """Primal, gradient in reverse mode and derivative by hand, by name."""
    return {
        "primal": module(problem).primal,
        "gradient": gradient(problem),
        "hand": by_hand(problem),
    }


@functools.cache
def load():
    """The arguments of every problem's `primal`, by problem, drawn from one generator in order."""
    rng = np.random.default_rng(SEED)
    return {problem: module(problem).draw(rng) for problem in NAMES}
