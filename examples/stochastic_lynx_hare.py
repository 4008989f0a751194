"""Lynx and hare with noise in their growth: a Kalman filter tells nature's noise from that of counting.

The logarithms of the numbers follow Lotka and Volterra's equations, each with a Brownian motion of its own;
they are seen once a year, with an error. A deterministic fit takes all that is left over for error.
"""

import math

import numpy as np

import numbad as nd
from numbad.data import load_hudson_bay
from numbad.sde import filters


def drift(t, y, birth, predation, growth, death, hares, lynxes, error):
    return birth - predation * math.exp(y[1]), growth * math.exp(y[0]) - death


def diffusion(t, y, birth, predation, growth, death, hares, lynxes, error):
    return hares, lynxes


def noise(birth, predation, growth, death, hares, lynxes, error):
    return error, error


years, counts = load_hudson_bay()
logs = np.log(counts)
START = {"birth": 0.5, "predation": 0.03, "growth": 0.03, "death": 0.8}
START |= {"hares": 0.2, "lynxes": 0.2, "error": 0.2}

seen = filters.extended_kalman(
    drift, diffusion, mean=logs.mean(axis=0), spread=(1.0, 1.0), noise=noise, dt=0.1
)
fit = nd.fit.fit_sde(seen, years, logs, START)
print(f"log-likelihood {fit.loglik:.2f}, AIC {fit.aic:.1f}")
for name in fit.names:
    print(f"{name:>10} {fit.params[name]:8.4f} +- {fit.stderr[name]:.4f}")

published = {
    "birth": 0.54016,
    "predation": 0.027165,
    "growth": 0.023695,
    "death": 0.79639,
}  # deterministic
assert all(abs(fit.params[name] - value) < fit.stderr[name] for name, value in published.items())
assert (
    fit.params["lynxes"] > 2.0 * fit.stderr["lynxes"]
)  # there is noise in nature, not in the counts alone
