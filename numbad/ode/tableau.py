"""Explicit Runge-Kutta methods as data.

A method is its Butcher tableau, its orders and its interpolant; stepping, error estimate, step
control and dense output are derived from them, so that a further method is a further data file.
Notation of Hairer, Norsett & Wanner, "Solving Ordinary Differential Equations I", II.4 and II.6.
"""

from dataclasses import dataclass
from functools import cached_property
from operator import mul


@dataclass(frozen=True, kw_only=True)
class Tableau:
    """An explicit Runge-Kutta method of `len(b)` stages, as a rule with an error estimate.

    `a[i]` holds the `i` coefficients of stage `i`; `error = b - b_embedded` weighs the stages in
    the error estimate. After an accepted step the slope at its end is known: the last stage, or one
    evaluation more, which is the next step's first stage. `extra_a` and `extra_c` are the further
    stages that only dense output needs; they are evaluated in steps where an output falls. Row `i`
    of `interpolant` holds the coefficients of theta, theta**2, ... in b_i(theta), for the stages,
    the slope at the end where it is no stage, and the further ones: y(t + theta h) = y + h sum
    b_i(theta) k_i, of order `dense_order` (the error in one step is O(h**(dense_order + 1))).

    A second, coarser estimate of order `coarse_order` makes the first of a higher order, see
    `numbad.ode.step.make_error`. A method without an `error` takes steps of one size.
    """

    name: str
    source: str
    order: int
    embedded_order: int
    dense_order: int
    a: tuple
    b: tuple
    error: tuple
    c: tuple
    interpolant: tuple
    extra_a: tuple = ()
    extra_c: tuple = ()
    coarse_error: tuple = ()
    coarse_order: int = 0

    is_implicit = False

    def __post_init__(self):
        stages, slopes, rows = len(self.b), self.slopes, (*self.a, *self.extra_a)
        lengths = (len(self.a), len(self.error) or stages, len(self.c))
        counts = [*range(stages), *range(slopes - len(self.extra_a), slopes)]
        if (
            lengths != (stages,) * 3
            or len(self.extra_c) != len(self.extra_a)
            or len(self.interpolant) != slopes
            or [len(row) for row in rows] != counts
        ):
            raise ValueError(f"tableau {self.name}: a, b, error, c and interpolant do not match")

    @property
    def stages(self):
        return len(self.b)

    @property
    def slopes(self):
        """Slopes that the interpolant weighs."""
        return self.stages + (not self.first_same_as_last) + len(self.extra_a)

    @cached_property
    def first_same_as_last(self):
        """Whether the last stage is evaluated at the new value, and so is the next first stage."""
        return self.c[-1] == 1.0 and self.a[-1] == self.b[:-1] and self.b[-1] == 0.0

    def evaluations(self, tried, accepted, extended):
        """Evaluations of the right-hand side in so many steps, without those before the first.

        `extended` counts the steps whose further stages were evaluated.
        """
        closing = 0 if self.first_same_as_last else accepted
        return tried * (self.stages - 1) + closing + extended * len(self.extra_a)

    @property
    def adaptive(self):
        """Whether there is an error estimate to choose step sizes by."""
        return bool(self.error)

    @cached_property
    def stability_bound(self):
        """The largest x such that the method damps y' = -y in every step up to x."""
        powers, coefficients = [1.0] * self.stages, [1.0]
        for _ in range(self.stages):
            coefficients.append(sum(map(mul, self.b, powers)))
            powers = [sum(map(mul, row, powers)) for row in self.a]
        x = 0.0
        while abs(sum(c * (-x) ** k for k, c in enumerate(coefficients))) <= 1.0:
            x += 0.01
        return x

    @property
    def takes_mass(self):
        """Whether a mass matrix, singular or not, may stand before dy/dt."""
        return self.is_implicit

    def factorizations(self, tried, accepted):
        """Jacobians and LU decompositions in so many steps."""
        return 0, 0

    def statistics(self, control, accepted, extended, told):
        """Evaluations after those before the first step, Jacobians, LU decompositions.

        `told` are those that the steps have counted themselves, where their number varies.
        """
        tried = control.attempts
        return self.evaluations(tried, accepted, extended), *self.factorizations(tried, accepted)

    @property
    def feedback(self):
        """How strongly the step size answers to the last error and to the one before, Gustafsson (1991)."""
        return 0.7, 0.4

    @property
    def error_exponent(self):
        """1/q where the error estimate of a step is O(h**q)."""
        fine = min(self.order, self.embedded_order) + 1
        return 1.0 / (2 * fine - (self.coarse_order + 1) if self.coarse_error else fine)


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


def alternating(*coefficients):
    """The weight f0 x + f1 x (1 - x) + f2 x**2 (1 - x) + f3 x**2 (1 - x)**2 + ..., as a row.

    Hairer, Norsett & Wanner, I, (II.6.31), write dense output so.
    """
    total = [0.0] * len(coefficients)
    basis = (1.0,)
    for k, coefficient in enumerate(coefficients):
        basis = product(basis, (1.0, -1.0) if k % 2 else (0.0, 1.0))
        for power, value in enumerate(basis[1:]):
            total[power] += coefficient * value
    return tuple(total)


def cubic_hermite(b, closing=False):
    """The interpolant through value and slope at both ends of a step, of order 3.

    Hairer, Norsett & Wanner, I, II.6. `b` are the weights of the stages; the slope at the end is the
    last of them, or, where `closing`, follows them.
    """
    rows = [[0.0, 3.0 * weight, -2.0 * weight] for weight in (*b, *([0.0] if closing else ()))]
    for row, slope in ((rows[0], (1.0, -2.0, 1.0)), (rows[-1], (0.0, -1.0, 1.0))):
        row[:] = [left + right for left, right in zip(row, slope, strict=True)]
    return tuple(map(tuple, rows))
