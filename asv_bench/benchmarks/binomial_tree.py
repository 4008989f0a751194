"""Options on a binomial tree that lies in one array, a row a step: the gradient over the function.

Beside it, for two of them, over an adjoint by hand. The functions vectorise, so that their arrays
decide: memory that each call takes anew from the system costs several times the arithmetic.
"""

import functools
import math

import numpy as np
from numba import njit

from . import measure

BAR = 3.0
STEPS = 100, 400
ARGNUMS = 0, 2, 3


def european(spot, strike, rate, sigma, years, n):
    """A put, exercised at the end or not at all."""
    dt = years / n
    up = math.exp(sigma * math.sqrt(dt))
    down = 1.0 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    discount = math.exp(-rate * dt)
    v = np.empty((n + 1, n + 1))
    for j in range(n + 1):
        v[n, j] = max(strike - spot * up ** (2 * j - n), 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            v[i, j] = discount * (p * v[i + 1, j + 1] + (1.0 - p) * v[i + 1, j])
    return v[0, 0]


def american(spot, strike, rate, sigma, years, n):
    """A put, exercised at each step where that pays more."""
    dt = years / n
    up = math.exp(sigma * math.sqrt(dt))
    down = 1.0 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    discount = math.exp(-rate * dt)
    v = np.empty((n + 1, n + 1))
    for j in range(n + 1):
        v[n, j] = max(strike - spot * up ** (2 * j - n), 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            hold = discount * (p * v[i + 1, j + 1] + (1.0 - p) * v[i + 1, j])
            v[i, j] = max(hold, strike - spot * up ** (2 * j - i))
    return v[0, 0]


def american_in_tables(spot, strike, rate, sigma, years, n):
    """The same, with the prices of what it is on in a table of their own."""
    dt = years / n
    up = math.exp(sigma * math.sqrt(dt))
    down = 1.0 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    discount = math.exp(-rate * dt)
    x = np.empty((n + 1, n + 1))
    x[0, 0] = spot
    for i in range(1, n + 1):
        for j in range(i):
            x[i, j] = x[i - 1, j] * down
        x[i, i] = x[i - 1, i - 1] * up
    v = np.empty((n + 1, n + 1))
    for j in range(n + 1):
        v[n, j] = max(strike - x[n, j], 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            hold = discount * (p * v[i + 1, j + 1] + (1.0 - p) * v[i + 1, j])
            v[i, j] = max(hold, strike - x[i, j])
    return v[0, 0]


FORMS = {"European": european, "American": american, "American, tables": american_in_tables}


@njit
def european_by_hand(spot, strike, rate, sigma, years, n):
    """Value and gradient of `european`; of the table's adjoint, two rows are kept."""
    dt = years / n
    up = math.exp(sigma * math.sqrt(dt))
    down = 1.0 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    discount = math.exp(-rate * dt)
    v = np.empty((n + 1, n + 1))
    for j in range(n + 1):
        v[n, j] = max(strike - spot * up ** (2 * j - n), 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            v[i, j] = discount * (p * v[i + 1, j + 1] + (1.0 - p) * v[i + 1, j])
    row, above = np.zeros(n + 1), np.zeros(n + 1)
    row[0] = 1.0
    by_p = by_discount = 0.0
    for i in range(n):
        for j in range(i + 2):
            above[j] = 0.0
        for j in range(i + 1):
            scaled = discount * row[j]
            by_discount += row[j] * (p * v[i + 1, j + 1] + (1.0 - p) * v[i + 1, j])
            by_p += scaled * (v[i + 1, j + 1] - v[i + 1, j])
            above[j + 1] += p * scaled
            above[j] += (1.0 - p) * scaled
        row, above = above, row
    by_spot = by_up = 0.0
    for j in range(n + 1):
        if v[n, j] > 0.0:
            power = up ** (2 * j - n)
            by_spot -= row[j] * power
            by_up -= row[j] * spot * (2 * j - n) * power / up
    width = up - down
    by_rate = by_p * dt * math.exp(rate * dt) / width - by_discount * dt * discount
    by_up += by_p * (-p / width + (1.0 - p) / width / up**2)
    return v[0, 0], (by_spot, by_rate, by_up * up * math.sqrt(dt))


@njit
def american_by_hand(spot, strike, rate, sigma, years, n):
    """Value and gradient of `american_in_tables`; of the prices' adjoint, the whole table is kept."""
    dt = years / n
    up = math.exp(sigma * math.sqrt(dt))
    down = 1.0 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    discount = math.exp(-rate * dt)
    x = np.empty((n + 1, n + 1))
    x[0, 0] = spot
    for i in range(1, n + 1):
        for j in range(i):
            x[i, j] = x[i - 1, j] * down
        x[i, i] = x[i - 1, i - 1] * up
    v = np.empty((n + 1, n + 1))
    for j in range(n + 1):
        v[n, j] = max(strike - x[n, j], 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            hold = discount * (p * v[i + 1, j + 1] + (1.0 - p) * v[i + 1, j])
            v[i, j] = max(hold, strike - x[i, j])
    row, above = np.zeros(n + 1), np.zeros(n + 1)
    x_bar = np.empty((n + 1, n + 1))
    row[0] = 1.0
    by_p = by_discount = 0.0
    for i in range(n):
        for j in range(i + 2):
            above[j] = 0.0
        for j in range(i + 1):
            mean = p * v[i + 1, j + 1] + (1.0 - p) * v[i + 1, j]
            held = discount * mean >= strike - x[i, j]
            kept = row[j] if held else 0.0
            x_bar[i, j] = 0.0 if held else -row[j]
            scaled = discount * kept
            by_discount += kept * mean
            by_p += scaled * (v[i + 1, j + 1] - v[i + 1, j])
            above[j + 1] += p * scaled
            above[j] += (1.0 - p) * scaled
        row, above = above, row
    for j in range(n + 1):
        x_bar[n, j] = -row[j] if v[n, j] > 0.0 else 0.0
    by_up = by_down = 0.0
    for i in range(n, 0, -1):
        for j in range(i):
            x_bar[i - 1, j] += x_bar[i, j] * down
            by_down += x_bar[i, j] * x[i - 1, j]
        x_bar[i - 1, i - 1] += x_bar[i, i] * up
        by_up += x_bar[i, i] * x[i - 1, i - 1]
    width = up - down
    by_rate = by_p * dt * math.exp(rate * dt) / width - by_discount * dt * discount
    by_up += by_p * (-p / width + (1.0 - p) / width / up**2) - by_down * down**2
    return v[0, 0], (x_bar[0, 0], by_rate, by_up * up * math.sqrt(dt))


BY_HAND = {"European": european_by_hand, "American, tables": american_by_hand}


def timings(n, samples=41):
    """Name -> `Timing` of the gradient over the function, and, of some, over that by hand."""
    import numbad as nd

    arguments = 100.0, 105.0, 0.03, 0.2, 1.0, n
    found = {}
    for name, f in FORMS.items():
        gradient = nd.value_and_grad(f, ARGNUMS, mode="reverse")
        call = functools.partial(gradient, *arguments)
        base = functools.partial(njit(f), *arguments)
        found[name] = measure.beside(base, {"own": call}, samples=samples)["own"]
        if name in BY_HAND:
            by_hand = functools.partial(BY_HAND[name], *arguments)
            np.testing.assert_allclose(call()[1], by_hand()[1], rtol=1e-10)
            timed = measure.beside(by_hand, {"own": call}, samples=samples)["own"]
            found[f"{name}, over by hand"] = timed
    return found


class BinomialTree:
    """Ratios to the function."""

    params = STEPS
    param_names = ("steps",)
    timeout = 300

    def setup(self, n):
        measure.pin()

    def track_european(self, n):
        return timings(n)["European"].ratio

    def track_american(self, n):
        return timings(n)["American"].ratio

    track_european.unit = track_american.unit = "ratio"


def main():
    options = measure.options(__doc__)
    rows = [
        measure.ratio_row(f"{name}, {n} steps", timing, None if "hand" in name else BAR)
        for n in STEPS
        for name, timing in timings(n, options.samples).items()
    ]
    title = "Options on a binomial tree: gradient over function"
    return 0 if measure.print_table(title, rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
