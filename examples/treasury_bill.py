"""The rate of the US Treasury bill: three diffusions by maximum likelihood, and what the data tell of them.

K. C. Chan, G. A. Karolyi, F. A. Longstaff, A. B. Sanders, J. Finance 47 (1992) 1209, compared such models.
"""

import numbad as nd
from numbad.data import load_us_tbill
from numbad.sde import transitions


def drift(t, y, kappa, theta, sigma, gamma):
    return kappa * (theta - y)


def diffusion(t, y, kappa, theta, sigma, gamma):
    return sigma * y**gamma


models = {
    "Vasicek": (transitions.vasicek, {}),
    "CIR": (transitions.cir, {}),
    "CKLS, Euler": (transitions.euler(drift, diffusion), {"gamma": 0.5}),
}
years, rate = load_us_tbill()
fits = {}
for name, (density, more) in models.items():
    start = {"kappa": 0.2, "theta": 0.05, "sigma": 0.05, **more}
    fit = fits[name] = nd.fit.fit_sde(density, years, rate, start)
    estimates = ", ".join(
        f"{key} {fit.params[key]:.4f} ({fit.stderr[key]:.4f})" for key in fit.names
    )
    print(f"{name:>12}: log-likelihood {fit.loglik:.3f}, {estimates}")

# The spread of the rate's changes is known well, the speed at which it reverts to its mean hardly.
for name in ("kappa", "sigma"):
    print(fits["CIR"].profile(name))
assert fits["CIR"].loglik > fits["Vasicek"].loglik
assert fits["CIR"].profile("kappa").low < 1e-6
