"""Key rate durations of a bond portfolio, through the solver that bootstraps the yield curve.

The par rates and the bonds are illustrative, of the shape of US dollar swap curves in 2024.
"""

import math

import numpy as np
from numba import njit

import numbad as nd

years = np.array([1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0])  # of the quoted swaps
quotes = np.array([4.75, 4.35, 4.12, 3.95, 3.92, 3.94, 4.01, 3.98, 3.81]) / 100.0
bonds = ((3, 0.0425, 40.0), (10, 0.0400, 100.0), (18, 0.0450, 25.0), (30, 0.0375, 60.0))


@njit
def discount(t, logs, k, last):
    """The value today of 1 in `t` years; log-linear between the pillars, `last` being that of pillar k."""
    j = 0
    while years[j] < t:
        j += 1
    start, left = (0.0, 0.0) if j == 0 else (years[j - 1], logs[j - 1])
    right = last if j == k else logs[j]
    return math.exp(left + (right - left) * (t - start) / (years[j] - start))


@njit
def mispricing(last, logs, k, rate):
    """A swap at its par rate, paid once a year, is worth nothing."""
    coupons = 0.0
    for t in range(1, int(years[k]) + 1):
        coupons += rate * discount(t, logs, k, last)
    return coupons + math.exp(last) - 1.0


@njit
def portfolio(rates):
    """Bootstrap the curve, one swap after the other, and price the bonds with it."""
    logs = np.zeros(rates.size)
    for k in range(rates.size):
        logs[k] = nd.root(mispricing, -rates[k] * years[k], (logs, k, rates[k]))
    worth = 0.0
    for maturity, coupon, face in bonds:
        for t in range(1, maturity + 1):
            worth += face * coupon * discount(t, logs, -1, 0.0)
        worth += face * discount(maturity, logs, -1, 0.0)
    return worth


worth, slopes = nd.value_and_grad(portfolio, mode="reverse")(quotes)
print(f"worth {worth:.4f}; duration by")
for k, slope in enumerate(slopes):
    print(f"{years[k]:8.0f} years {-slope / worth:8.4f}")
    bump = 1e-5 * (np.arange(quotes.size) == k)  # against curves bootstrapped anew
    difference = (portfolio(quotes + bump) - portfolio(quotes - bump)) / 2e-5
    assert math.isclose(slope, difference, rel_tol=1e-6, abs_tol=1e-5)
