"""Greeks of an option on a geometric average by Monte Carlo, a path a thread of the GPU.

Without a GPU the same function runs on the CPU. The random numbers are functions of a key and a number, the
same on both. Exact: A. G. Z. Kemna and A. C. F. Vorst, J. Banking Finance 14 (1990) 113.
"""

import math
from statistics import NormalDist

import numpy as np

import numbad as nd

STEPS, STRIKE, YEARS = 16, 100.0, 1.0


def payoff(spot, volatility, rate, key, path):
    dt = YEARS / STEPS
    log_spot, log_mean = math.log(spot), 0.0
    for i in range(STEPS):
        z = nd.random.normal(key, STEPS * path + i)
        log_spot += (rate - 0.5 * volatility**2) * dt + volatility * math.sqrt(dt) * z
        log_mean += log_spot / STEPS
    return math.exp(-rate * YEARS) * max(math.exp(log_mean) - STRIKE, 0.0)


def exact(spot, volatility, rate):
    mean = math.log(spot) + (rate - volatility**2 / 2) * YEARS * (STEPS + 1) / (2 * STEPS)
    variance = volatility**2 * YEARS * (STEPS + 1) * (2 * STEPS + 1) / (6 * STEPS**2)
    d, normal = (mean - math.log(STRIKE)) / math.sqrt(variance), NormalDist().cdf
    forward = math.exp(mean + variance / 2) * normal(d + math.sqrt(variance))
    return math.exp(-rate * YEARS) * (forward - STRIKE * normal(d))


def has_gpu():
    try:
        import numba.cuda as cuda

        return bool(nd.cuda) and cuda.is_available()
    except ImportError:  # numba-cuda is not installed
        return False


market, shared = dict(spot=100.0, volatility=0.2, rate=0.03), (None, None, None, None, 0)
given = *market.values(), nd.random.key(7)
if has_gpu():
    op = nd.cuda.value_and_grad(payoff, (0, 1, 2))
    price, greeks = nd.cuda.batch(op, shared, reduce="mean")(*given, np.arange(10_000_000))
else:
    print("no CUDA GPU here: fewer paths, on the CPU")
    op = nd.value_and_grad(payoff, (0, 1, 2))
    values, slopes = nd.batch(op, shared)(*given, np.arange(200_000))
    price, greeks = values.mean(), [slope.mean() for slope in slopes]
print(f"price {price:.3f}, exact {exact(**market):.3f}")
for (name, x), slope in zip(market.items(), greeks, strict=True):
    up, down = {**market, name: x + 1e-5}, {**market, name: x - 1e-5}
    true = (exact(**up) - exact(**down)) / 2e-5
    print(f"{name:>10}: {slope:8.3f}, exact {true:8.3f}")
    assert abs(slope - true) < 0.01 * abs(true)
