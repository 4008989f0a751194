"""SDEs: normal numbers, prices of a call under two models and their Greeks, beside code by hand.

10,000 paths of 100 steps, drawing inside; `python -m asv_bench.benchmarks.sde` prints the table.
"""

import functools
import math

import numpy as np
from numba import njit

import numbad as nd

from . import measure
from .reference import counter_paths

PATHS = 10_000
GBM = 100.0, 0.05, 0.2
HESTON = 100.0, 0.09, 0.03, 2.0, 0.09, 0.3, -0.7
METHODS = "EulerMaruyama", "Milstein", "SRIW1"
KEY = nd.random.key(3)
NORMAL_BAR, VALUE_BAR, SRIW1_BAR, GREEKS_BAR, REVERSE_BAR = 1.3, 1.2, 1.3, 1.25, 1.6


@njit
def _growth(t, y, rate, vol):
    return rate * y


@njit
def _spread(t, y, rate, vol):
    return vol * y


@njit
def _heston_drift(t, y, r, kappa, theta, xi, rho):
    return r * y[0], kappa * (theta - y[1])


@njit
def _heston_diffusion(t, y, r, kappa, theta, xi, rho):
    root = math.sqrt(max(y[1], 1e-8))
    return (root * y[0], 0.0), (rho * xi * root, math.sqrt(1.0 - rho * rho) * xi * root)


@njit
def _payoff(ys):
    return max(ys[-1, 0] - 100.0, 0.0)


@functools.cache
def gbm(method):
    """`price(spot, rate, vol, key, paths)` of a call."""
    solve = nd.sde.solver(_growth, _spread, method=method, dt=0.01)

    @njit
    def price(spot, rate, vol, key, paths):
        found = nd.sde.ensemble(solve, spot, (0.0, 1.0), (rate, vol), key, paths, reduce=_payoff)
        return math.exp(-rate) * found.mean

    return price


@functools.cache
def heston():
    """The same under Heston's model."""
    solve = nd.sde.solver(_heston_drift, _heston_diffusion, noise="general", dt=0.01)

    @njit
    def price(spot, v0, r, kappa, theta, xi, rho, key, paths):
        args = r, kappa, theta, xi, rho
        found = nd.sde.ensemble(solve, (spot, v0), (0.0, 1.0), args, key, paths, reduce=_payoff)
        return math.exp(-r) * found.mean

    return price


def _greeks(price, count, mode):
    return nd.value_and_grad(price, tuple(range(count)), mode=mode)


def _calls(price, market, hand):
    """The contenders of a model: values and Greeks."""
    calls = {"value": functools.partial(price, *market, KEY, PATHS)}
    for mode in ("forward", "reverse"):
        calls[f"Greeks, {mode}"] = functools.partial(
            _greeks(price, len(market), mode), *market, KEY, PATHS
        )
    calls["Greeks by hand"] = functools.partial(hand, *market, 3, PATHS)
    return calls


class Prices:
    """Time of a price over that by hand."""

    params = (*METHODS, "Heston")
    param_names = ("model",)
    timeout = 300

    def setup(self, model):
        measure.pin()

    def track_ratio_to_hand(self, model):
        if model == "Heston":
            base = functools.partial(counter_paths.heston_price, *HESTON, 3, PATHS)
            own = functools.partial(heston(), *HESTON, KEY, PATHS)
        else:
            base = functools.partial(counter_paths.gbm(model, False), *GBM, 3, PATHS)
            own = functools.partial(gbm(model), *GBM, KEY, PATHS)
        return measure.beside(base, {"own": own})["own"].ratio

    track_ratio_to_hand.unit = "ratio"


def _normals(samples):
    out = np.empty(65536)
    base = functools.partial(counter_paths.fill, out, 3)
    own = {"normals": functools.partial(nd.random.normals, KEY, out.size)}
    return measure.beside(base, own, samples=samples)["normals"]


def _rows(name, price, market, value, greeks, bar, samples):
    """The rows of a model: the value over that by hand, Greeks over the value and over those by hand."""
    base = functools.partial(value, *market, 3, PATHS)
    calls = _calls(price, market, greeks)
    over_hand = measure.beside(base, {"value": calls["value"]}, samples=samples)["value"]
    own = measure.beside(
        calls["value"],
        {k: v for k, v in calls.items() if k.startswith("Greeks, ")},
        samples=samples,
    )
    reverse = measure.beside(
        calls["Greeks by hand"], {"reverse": calls["Greeks, reverse"]}, samples=samples
    )["reverse"]
    rows = [measure.ratio_row(f"{name}: value over by hand", over_hand, bar)]
    rows += [
        measure.ratio_row(f"{name}: {mode} over the value", timing, GREEKS_BAR)
        for mode, timing in own.items()
    ]
    return [*rows, measure.ratio_row(f"{name}: reverse over Greeks by hand", reverse, REVERSE_BAR)]


def main():
    arguments = measure.options(__doc__.splitlines()[0])
    samples = arguments.samples
    rows = [measure.ratio_row("a normal number over by hand", _normals(samples), NORMAL_BAR)]
    for method in METHODS:
        hand = [counter_paths.gbm(method, greeks) for greeks in (False, True)]
        bar = SRIW1_BAR if method == "SRIW1" else VALUE_BAR
        rows += _rows(f"GBM, {method}", gbm(method), GBM, *hand, bar, samples)
    by_hand = counter_paths.heston_price, counter_paths.heston_greeks
    rows += _rows("Heston", heston(), HESTON, *by_hand, VALUE_BAR, samples)
    return 0 if measure.print_table("SDEs, 10,000 paths x 100 steps", rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
