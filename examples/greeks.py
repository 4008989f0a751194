"""Greeks of an option by Monte Carlo: all sensitivities from one reverse sweep through the loop.

The random numbers are drawn inside the function; the reverse sweep sees the same draws. The exact
values are those of Black and Scholes (1973).
"""

import math
from statistics import NormalDist

import numpy as np
from numba import njit

import numbad as nd


@njit
def call_price(spot, volatility, rate, maturity, strike, paths, rng):
    total = 0.0
    for _ in range(paths):
        drift = (rate - 0.5 * volatility**2) * maturity
        end = spot * math.exp(drift + volatility * math.sqrt(maturity) * rng.normal())
        if end > strike:
            total += end - strike
    return math.exp(-rate * maturity) * total / paths


def black_scholes(spot, volatility, rate, maturity, strike):
    width = volatility * math.sqrt(maturity)
    d = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * maturity) / width
    normal = NormalDist().cdf
    return spot * normal(d) - strike * math.exp(-rate * maturity) * normal(d - width)


market = dict(spot=100.0, volatility=0.2, rate=0.03, maturity=1.5, strike=105.0)
greeks = nd.value_and_grad(call_price, argnums=(0, 1, 2, 3, 4), mode="reverse")
price, slopes = greeks(*market.values(), 1_000_000, np.random.default_rng(7))

step = 1e-5
print(f"price {price:.3f}, exact {black_scholes(**market):.3f}")
for (name, x), slope in zip(market.items(), slopes, strict=True):
    up, down = {**market, name: x + step}, {**market, name: x - step}
    exact = (black_scholes(**up) - black_scholes(**down)) / (2 * step)
    print(f"{name:>10}: {slope:8.3f}, exact {exact:8.3f}")
    assert abs(slope - exact) < 0.01 * abs(exact)
