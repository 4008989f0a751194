"""Backward differentiation formulas in backward differences, as data and as formulas on rows of a table.

L. F. Shampine, M. W. Reichelt, "The MATLAB ODE suite", SIAM J. Sci. Comput. 18 (1997) 1-22,
doi:10.1137/S1064827594276424, section 2. With D_j the backward differences of order j of the solution at
its last points, h apart, a step of order k solves for the increment d, as an equation for one implicit stage
of step size c = h / alpha_k:

    M (psi + d) = c f(t + h, p + d),    p = sum_{j<=k} D_j,    psi = sum_{1<=j<=k} gamma_j D_j / alpha_k

with gamma_j = 1 + 1/2 + ... + 1/j and alpha_k = (1 - kappa_k) gamma_k.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from numbad.ode.compiling import inlined
from numbad.ode.implicit_steps import LAST, ORDER
from numbad.ode.implicit_tableau import ImplicitTableau
from numbad.ode.stage_equations import (
    LEAN,
    RIGHT,
    SLOPES,
    Equations,
    U,
    columns,
    keep_values,
    solve_system,
    take_mass_times,
)
from numbad.ode.tableau import product

HIGHEST = 5  # the order up to which the formulas are stable where it is stiff

# Rows of the table, besides those of `stage_equations`: p, psi, d, and the differences from D_0 on, two more
# than the order has. After a step the rows from SLOPES on hold D_5 / h to D_1 / h for the dense output.
PREDICTED, PSI, INCREMENT, DIFFERENCES = (
    SLOPES + 1,
    SLOPES + 2,
    SLOPES + HIGHEST,
    SLOPES + HIGHEST + 1,
)


def _basis(j):
    """The weight of D_j in y(t + theta h) - y(t), as powers of theta from the first to the fifth."""
    row = product((1.0,), *(((m - 1.0) / (m + 1.0), 1.0 / (m + 1.0)) for m in range(j)))
    return (*row[1:], *(0.0,) * (HIGHEST - j))


@dataclass(frozen=True, kw_only=True)
class Multistep(ImplicitTableau):
    """Formulas of order 1 to `order`; `kappas` are one for each order.

    What a method of implicit stages has instead stands for the one equation of a step.
    """

    kappas: tuple
    embedded_order: int = 1  # at the first step
    dense_order: int = HIGHEST
    a: tuple = ()
    b: tuple = (0.0,) * HIGHEST
    error: tuple = (1.0,)
    c: tuple = (1.0,)
    interpolant: tuple = tuple(_basis(j) for j in range(HIGHEST, 0, -1))

    explicit_stages, per_block, blocks, first_same_as_last, takes_mass = 0, 1, 1, True, True
    systems = (1.0, None, None), None
    rows_of_a_step = HIGHEST + 1  # behind them are the differences

    def __post_init__(self):
        if len(self.kappas) != self.order or not 1 <= self.order <= HIGHEST:
            raise ValueError(f"{self.name}: one kappa for each order is needed, of up to {HIGHEST}")

    @cached_property
    def harmonic(self):
        """gamma_j, by j."""
        return np.cumsum([0.0, *(1.0 / j for j in range(1, self.order + 1))])

    @cached_property
    def leading(self):
        """alpha_k, by k."""
        return (1.0 - np.array([0.0, *self.kappas])) * self.harmonic

    @cached_property
    def error_constants(self):
        """The error of a step of order k over what d, or D_{k+1}, is, by k."""
        orders = np.arange(self.order + 1)
        return np.array([0.0, *self.kappas]) * self.harmonic + 1.0 / (orders + 1)


@cache
def make_multistep_equations(tableau):
    """As `numbad.ode.stage_equations.make_equations`, with c for h."""
    harmonic, leading = tableau.harmonic, tableau.leading
    error_constants = tableau.error_constants

    @inlined
    def begin(T, h, notes):
        order = int(notes[ORDER])
        for k in range(T.shape[1]):
            T[PREDICTED, k] = T[DIFFERENCES, k]
            T[PSI, k] = 0.0
        for j in range(1, order + 1):
            weight = harmonic[j] / leading[order]
            for k in range(T.shape[1]):
                T[PREDICTED, k] += T[DIFFERENCES + j, k]
                T[PSI, k] += weight * T[DIFFERENCES + j, k]

    @inlined
    def predict(T, h, ratio, i):
        for k in range(T.shape[1]):
            T[INCREMENT, k] = 0.0

    @inlined
    def stage_state(T, i):
        for k in range(T.shape[1]):
            T[U, k] = T[PREDICTED, k] + T[INCREMENT, k]

    @inlined
    def improve(like, T, C, count, first, systems, h):
        right, lean = T[RIGHT], T[LEAN]
        for k in range(T.shape[1]):
            behind = T[PSI, k] + T[INCREMENT, k]
            if systems.mass is None:
                right[k] = h * T[SLOPES, k] - behind
            else:
                right[k], lean[k] = h * T[SLOPES, k], behind
        take_mass_times(columns(right, count), columns(lean, count), systems.mass)
        keep_values(columns(right, count))
        solve_system(like, systems.W, systems.exchanges, systems, columns(right, count))
        for k in range(T.shape[1]):
            T[SLOPES, k] = right[k]
            T[INCREMENT, k] += right[k]

    @inlined
    def estimate(like, T, count, slope, systems, h, notes):
        constant = error_constants[int(notes[ORDER])]
        for k in range(T.shape[1]):
            T[RIGHT, k] = constant * T[INCREMENT, k]

    @inlined
    def end(T, h, notes):
        order, size = int(notes[ORDER]), notes[LAST]
        for k in range(T.shape[1]):
            d = T[INCREMENT, k]
            T[DIFFERENCES + order + 2, k] = d - T[DIFFERENCES + order + 1, k]
            T[DIFFERENCES + order + 1, k] = d
        for j in range(order, -1, -1):
            for k in range(T.shape[1]):
                T[DIFFERENCES + j, k] += T[DIFFERENCES + j + 1, k]
        for j in range(1, HIGHEST + 1):
            for k in range(T.shape[1]):
                T[SLOPES + HIGHEST - j, k] = 0.0
                if j <= order:  # the others may never have been set, and be NaN
                    T[SLOPES + HIGHEST - j, k] = 1.0 / size * T[DIFFERENCES + j, k]

    return Equations(begin, predict, stage_state, improve, estimate, end)


@inlined
def rescale(T, order, factor):
    """Take the differences of the interpolating polynomial at points `factor` times as far apart.

    Of its values but for the last one, which stays, they are sums and differences: no digits are lost.
    """
    n = T.shape[1]
    for i in range(1, order + 1):
        weight = 1.0
        for k in range(n):
            T[SLOPES + i - 1, k] = 0.0
        for j in range(1, order + 1):
            weight *= (j - 1 - i * factor) / j
            for k in range(n):
                T[SLOPES + i - 1, k] += weight * T[DIFFERENCES + j, k]
    for level in range(1, order + 1):
        for i in range(order, level - 1, -1):
            for k in range(n):
                before = T[SLOPES + i - 2, k] if i > 1 else 0.0
                T[SLOPES + i - 1, k] = before - T[SLOPES + i - 1, k]
    for j in range(1, order + 1):
        for k in range(n):
            T[DIFFERENCES + j, k] = T[SLOPES + j - 1, k]


@inlined
def put_rescaling(R, order, factor):
    """The matrix that `rescale` multiplies D_1, ..., D_order with."""
    for i in range(1, order + 1):
        weight = 1.0
        for j in range(1, order + 1):
            weight *= (j - 1 - i * factor) / j
            R[i - 1, j - 1] = weight
    for level in range(1, order + 1):
        for i in range(order, level - 1, -1):
            for j in range(order):
                before = R[i - 2, j] if i > 1 else 0.0
                R[i - 1, j] = before - R[i - 1, j]
