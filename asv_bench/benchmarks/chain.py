"""A chain of 30 species with losses of first and second order, 90 rates: few states, many parameters."""

import numpy as np

CELLS = 30
TS = np.linspace(0.0, 10.0, 11)
START = np.ones(CELLS)
RATES = 0.5 + np.random.default_rng(0).random(3 * CELLS)


def rhs(t, y, dy, rates):
    for i in range(len(y)):
        inflow = y[i - 1] * rates[3 * i] if i > 0 else rates[0]
        dy[i] = inflow - rates[3 * i + 1] * y[i] * y[i] - rates[3 * i + 2] * y[i]


def solve_and_gradient(tolerance=1e-6):
    """A sum of squares of the solution, and its gradient by start and rates in reverse mode, as calls."""
    import numba

    import numbad as nd

    solve = nd.ode.solver(rhs, rtol=tolerance, inplace=True)

    def misfit(start, rates):
        return (solve(start, TS, (rates,)) ** 2).sum()

    value, gradient = numba.njit(misfit), nd.grad(misfit, argnums=(0, 1), mode="reverse")
    return lambda: value(START, RATES), lambda: gradient(START, RATES)
