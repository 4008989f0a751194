"""Prices and Greeks under Heston's model by Monte Carlo, against the characteristic function.

All sensitivities come from one reverse sweep through the paths, of which none is kept. The exact values are
those of S. L. Heston, Rev. Financ. Stud. 6 (1993) 327. The picture shows how the errors fall.
"""

import math

from matplotlib.figure import Figure
from numba import njit

import numbad as nd


@njit
def drift(t, y, rate, kappa, theta, xi, rho):
    return rate * y[0], kappa * (theta - y[1])


@njit
def diffusion(t, y, rate, kappa, theta, xi, rho):
    root = math.sqrt(max(y[1], 1e-8))
    return (root * y[0], 0.0), (rho * xi * root, math.sqrt(1.0 - rho**2) * xi * root)


@njit
def payoff(ys):
    return max(ys[-1, 0] - 100.0, 0.0)


solve = nd.sde.solver(drift, diffusion, noise="general", dt=0.01)


@njit
def price(spot, variance, rate, kappa, theta, xi, rho, key, paths):
    args = rate, kappa, theta, xi, rho
    found = nd.sde.ensemble(solve, (spot, variance), (0.0, 1.0), args, key, paths, reduce=payoff)
    return math.exp(-rate) * found.mean


market = dict(spot=100.0, variance=0.09, rate=0.03, kappa=2.0, theta=0.09, xi=0.3, rho=-0.7)
exact = 0.6364163, 27.2540585, 50.5694219, 0.0792744, 36.4580239, -1.1938468, 0.1380825
key = nd.random.key(2026)
greeks = nd.value_and_grad(price, argnums=tuple(range(7)), mode="reverse")
sizes, errors = (2000, 20_000, 200_000), []
for paths in sizes:
    value, slopes = greeks(*market.values(), key, paths)
    errors.append([abs(slope / true - 1.0) for slope, true in zip(slopes, exact, strict=True)])
print(f"price {value:.3f}, exact 13.072")
assert abs(value - 13.0722) < 0.15
for name, slope, true in zip(market, slopes, exact, strict=True):
    print(f"{name:>10}: {slope:8.4f}, exact {true:8.4f}")
    assert abs(slope - true) < 0.03 * abs(true) + 0.05
axes = (figure := Figure()).subplots()
axes.loglog(sizes, errors, "o-", label=list(market))
axes.loglog(sizes, [n**-0.5 for n in sizes], "k--", label="n**-0.5")
axes.set(xlabel="paths", ylabel="relative error")
axes.legend()
figure.savefig("heston_greeks.png")
