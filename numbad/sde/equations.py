"""Which equation a transition density is that of: what its paths are simulated by."""

import math
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from numbad.sde.solution_operator import solver

ADDITIVE = ("method", "SRA1"), ("noise", "additive")
DIAGONAL = (("method", "SRIW1"),)
_KNOWN = WeakKeyDictionary()


@dataclass(frozen=True)
class Equation:
    """Drift and diffusion of a float, how it is solved by default, and what no value is below."""

    drift: object
    diffusion: object
    options: tuple
    lowest: float

    def solver(self, dt):
        """What `nd.sde.solver` returns for it."""
        return solver(self.drift, self.diffusion, dt=dt, **dict(self.options))


def belongs(density, drift, diffusion, options=(), lowest=-math.inf):
    """Note that a density is that of an equation; by default Euler and Maruyama's method solves it."""
    _KNOWN[density] = Equation(drift, diffusion, options, lowest)


def equation_of(density):
    """The `Equation` of a density from `numbad.sde.transitions`; None for others."""
    try:
        return _KNOWN.get(density)
    except TypeError:  # it has no hash, or cannot be referred to
        return None
