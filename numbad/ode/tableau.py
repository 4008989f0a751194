"""Explicit embedded Runge-Kutta methods as data.

A method is its Butcher tableau, its order and its interpolant; stepping, error estimate, step
control and dense output are derived from them, so that a further method is a further data file.
Notation of Hairer, Norsett & Wanner, "Solving Ordinary Differential Equations I", II.4 and II.6.
"""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Tableau:
    """An explicit embedded Runge-Kutta pair of `len(b)` stages.

    `a[i]` holds the `i` coefficients of stage `i`; `error = b - b_embedded` weighs the stages in
    the error estimate; row `i` of `interpolant` holds the coefficients of theta, theta**2, ... in
    b_i(theta), so that y(t + theta h) = y + h sum b_i(theta) k_i.
    """

    name: str
    source: str
    order: int
    embedded_order: int
    a: tuple
    b: tuple
    error: tuple
    c: tuple
    interpolant: tuple

    def __post_init__(self):
        stages = len(self.b)
        lengths = (len(self.a), len(self.error), len(self.c), len(self.interpolant))
        if lengths != (stages,) * 4 or any(len(row) != i for i, row in enumerate(self.a)):
            raise ValueError(f"tableau {self.name}: a, b, error, c and interpolant do not match")

    @property
    def stages(self):
        return len(self.b)

    @cached_property
    def first_same_as_last(self):
        """Whether the last stage is evaluated at the new value, and so is the next first stage."""
        return self.c[-1] == 1.0 and self.a[-1] == self.b[:-1] and self.b[-1] == 0.0

    @property
    def evaluations_per_step(self):
        """Evaluations of the right-hand side that a further step takes."""
        return self.stages - 1 if self.first_same_as_last else self.stages

    @property
    def error_exponent(self):
        """1/q where the error estimate of a step is O(h**q)."""
        return 1.0 / (min(self.order, self.embedded_order) + 1)


def product(*polynomials):
    """Coefficients, lowest power first, of a product of polynomials given likewise."""
    result = (1.0,)
    for polynomial in polynomials:
        terms = [0.0] * (len(result) + len(polynomial) - 1)
        for i, left in enumerate(result):
            for j, right in enumerate(polynomial):
                terms[i + j] += left * right
        result = tuple(terms)
    return result


def interpolant_row(degree, scale, *factors):
    """Coefficients of theta ... theta**degree of a weight that vanishes at theta = 0."""
    constant, *row = product((scale,), *factors)
    if constant != 0.0 or len(row) > degree:
        raise ValueError("an interpolant weight must vanish at 0 and have at most the given degree")
    return tuple(row) + (0.0,) * (degree - len(row))
