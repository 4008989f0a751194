"""Hares and lynx again: draws from the posterior by Hamiltonian Monte Carlo, with exact gradients.

The model and the priors of the parameters are those of Stan's case study (B. Carpenter, "Predator-Prey
Population Dynamics: the Lotka-Volterra model in Stan", 2018). Libraries of samplers take `density` as it is;
here the sampler is written out.
"""

import numpy as np

import numbad as nd
from numbad.data import load_hudson_bay

years, counts = load_hudson_bay()


def predator_prey(t, y, prey_growth, predation, predator_death, conversion):
    hare, lynx = y
    return (
        prey_growth * hare - predation * hare * lynx,
        conversion * hare * lynx - predator_death * lynx,
    )


start = dict(prey_growth=0.5, predation=0.03, predator_death=0.8, conversion=0.02)
rate, contact = ("normal", 1.0, 0.5), ("normal", 0.05, 0.05)
priors = dict(prey_growth=rate, predation=contact, predator_death=rate, conversion=contact)
fit = nd.fit.fit_ode(
    predator_prey, years, counts, start, y0=(30.0, 4.0), fit_y0=True, components=("hare", "lynx"),
    scale="log", sigma="estimate", priors=priors,
)  # fmt: skip

density, rng = fit.log_posterior(), np.random.default_rng(1)
root, step = np.linalg.cholesky(density.cov), 0.35
x, (value, slope), draws = density.start, density(density.start), []
for _ in range(1500):
    speed = rng.normal(size=len(x))
    place, energy, force = x, value - 0.5 * speed @ speed, slope
    for _ in range(8):  # leapfrog steps, in coordinates in which the posterior is about round
        speed = speed + 0.5 * step * root.T @ force
        place = place + step * root @ speed
        height, force = density(place)
        speed = speed + 0.5 * step * root.T @ force
    if np.log(rng.uniform()) < height - 0.5 * speed @ speed - energy:
        x, value, slope = place, height, force
    draws.append(density.natural(x))

mean, spread = np.mean(draws, axis=0), np.std(draws, axis=0)
rows = zip(density.names, mean, spread, fit.x, fit.stderr.values(), strict=True)
for name, *row in rows:
    print("{:16} mean {:8.4f} +- {:6.4f}   mode {:8.4f} +- {:6.4f}".format(name, *row))
assert (np.abs(mean - fit.x) < spread).all()
# The posterior is wider than a normal one with the curvature of its mode.
assert (spread[:4] > np.array(list(fit.stderr.values()))[:4]).all()
