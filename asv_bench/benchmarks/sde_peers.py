"""SDEs beside torchsde and diffrax: the same increments, then times of prices and Greeks, drawing inside.

Euler and Maruyama's method on a call under geometric Brownian motion and Heston's model, 10,000 paths of 100
steps, one thread; `python -m asv_bench.benchmarks.sde_peers` prints the table of what is installed.
"""

import functools

import numpy as np
from numba import njit

import numbad as nd

from . import measure, sde
from .peers import import_jax

STEPS, DT, FEW = 100, 0.01, 50
PEER_BAR, AGREEMENT_BAR = 10.0, 1e-11
MARKETS = {"GBM": sde.GBM, "Heston": sde.HESTON}
CHANNELS = {"GBM": 1, "Heston": 2}


@functools.cache
def own_price(model):
    """`price(*market, increments)` of paths with given increments, shape (paths, steps, channels)."""
    payoff = sde._payoff
    if model == "GBM":
        solve = nd.sde.solver(sde._growth, sde._spread, dt=DT)

        @njit
        def price(spot, rate, vol, increments):
            total = 0.0
            for given in increments:
                total += payoff(solve(spot, (0.0, 1.0), (rate, vol), given))
            return np.exp(-rate) * total / len(increments)

        return price
    solve = nd.sde.solver(sde._heston_drift, sde._heston_diffusion, noise="general", dt=DT)

    @njit
    def price(spot, v0, r, kappa, theta, xi, rho, increments):
        total = 0.0
        for given in increments:
            total += payoff(solve((spot, v0), (0.0, 1.0), (r, kappa, theta, xi, rho), given))
        return np.exp(-r) * total / len(increments)

    return price


def torchsde_price(model):
    """`value(market, increments or None)` and `greeks(...)`, the latter by back-propagation."""
    import torch
    import torchsde

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)

    class Given(torchsde.BaseBrownian):
        """Increments that are given, of shape (paths, steps, channels)."""

        def __init__(self, increments):
            super().__init__()
            self.increments = torch.as_tensor(increments)

        def __call__(self, ta, tb=None, return_U=False, return_A=False):
            return self.increments[:, round(float(ta) / DT)]

        def __repr__(self):
            return "Given()"

        dtype, device = torch.float64, torch.device("cpu")
        levy_area_approximation = "none"

        @property
        def shape(self):
            return self.increments.shape[0], self.increments.shape[2]

    class Gbm(torch.nn.Module):
        noise_type, sde_type = "diagonal", "ito"

        def __init__(self, spot, rate, vol):
            super().__init__()
            self.start, self.rate, self.vol = (spot,), rate, vol

        def f(self, t, y):
            return self.rate * y

        def g(self, t, y):
            return self.vol * y

    class Heston(torch.nn.Module):
        noise_type, sde_type = "general", "ito"

        def __init__(self, spot, v0, *rest):
            super().__init__()
            self.start, self.rest, self.rate = (spot, v0), rest, rest[0]

        def f(self, t, y):
            r, kappa, theta, _, _ = self.rest
            return torch.stack((r * y[:, 0], kappa * (theta - y[:, 1])), 1)

        def g(self, t, y):
            _, _, _, xi, rho = self.rest
            root = torch.sqrt(torch.clamp(y[:, 1], min=1e-8))
            spot = torch.stack((root * y[:, 0], torch.zeros_like(root)), 1)
            var = torch.stack((rho * xi * root, torch.sqrt(1.0 - rho * rho) * xi * root), 1)
            return torch.stack((spot, var), 1)

    def price(market, increments):
        problem = (Gbm if model == "GBM" else Heston)(*market)
        paths = sde.PATHS if increments is None else len(increments)
        start = torch.stack([one.expand(paths) for one in problem.start], 1)
        noise = None if increments is None else Given(increments)
        times = torch.tensor([0.0, 1.0])
        ys = torchsde.sdeint(problem, start, times, bm=noise, method="euler", dt=DT)
        return torch.exp(-problem.rate) * torch.clamp(ys[-1, :, 0] - 100.0, min=0.0).mean()

    def value(market, increments=None):
        with torch.no_grad():
            return float(price([torch.tensor(x) for x in market], increments))

    def greeks(market, increments=None):
        inputs = [torch.tensor(x, requires_grad=True) for x in market]
        return [float(x) for x in torch.autograd.grad(price(inputs, increments), inputs)]

    return value, greeks


def diffrax_price(model):
    """The same; Greeks by `jax.jacfwd`."""
    jax = import_jax()
    import diffrax
    import jax.numpy as jnp

    class Given(diffrax.AbstractPath):
        increments: jax.Array
        t0 = 0.0
        t1 = 1.0

        def evaluate(self, t0, t1=None, left=True):
            return self.increments[jnp.round(t0 / DT).astype(int)]

    def drift(t, y, args):
        if model == "GBM":
            return args[0] * y
        r, kappa, theta, _, _ = args
        return jnp.array([r * y[0], kappa * (theta - y[1])])

    def diffusion(t, y, args):
        if model == "GBM":
            return args[1] * y[:, None]
        _, _, _, xi, rho = args
        root = jnp.sqrt(jnp.maximum(y[1], 1e-8))
        rows = [root * y[0], 0.0], [rho * xi * root, jnp.sqrt(1.0 - rho * rho) * xi * root]
        return jnp.array([*rows])

    def end(market, noise):
        components = 1 if model == "GBM" else 2
        terms = diffrax.MultiTerm(diffrax.ODETerm(drift), diffrax.ControlTerm(diffusion, noise))
        solution = diffrax.diffeqsolve(
            terms,
            diffrax.Euler(),
            0.0,
            1.0,
            DT,
            jnp.array(market[:components]),
            tuple(market[components:]),
            adjoint=diffrax.ForwardMode(),
            max_steps=STEPS + 1,
        )
        return jnp.maximum(solution.ys[-1, 0] - 100.0, 0.0)

    def price(market, increments):
        if increments is None:
            keys = jax.random.split(jax.random.key(1), sde.PATHS)
            shape = (CHANNELS[model],)
            payoffs = jax.vmap(
                lambda key: end(market, diffrax.UnsafeBrownianPath(shape=shape, key=key))
            )(keys)
        else:
            payoffs = jax.vmap(lambda given: end(market, Given(given)))(jnp.asarray(increments))
        return jnp.exp(-market[1 if model == "GBM" else 2]) * payoffs.mean()

    value, slopes = jax.jit(price), jax.jit(jax.jacfwd(price))
    return (
        lambda market, increments=None: float(value(list(market), increments)),
        lambda market, increments=None: [float(x) for x in slopes(list(market), increments)],
    )


PEERS = {"torchsde": torchsde_price, "diffrax": diffrax_price}


def differences(model, peer):
    """Largest relative difference of a price, and of its Greeks, on the same increments."""
    market = MARKETS[model]
    increments = np.random.default_rng(4).normal(size=(FEW, STEPS, CHANNELS[model])) * DT**0.5
    value, greeks = peer
    price = own_price(model)
    found = nd.value_and_grad(price, tuple(range(len(market))))(*market, increments)
    theirs = np.array(greeks(market, increments))
    return abs(found[0] / value(market, increments) - 1.0), np.abs(found[1] / theirs - 1.0).max()


def rows(model, name, samples):
    """Agreement with a peer, and its times over ours."""
    market, peer = MARKETS[model], PEERS[name](model)
    by_value, by_slope = differences(model, peer)
    table = [
        measure.Row(f"{model}, {name}: difference of values", by_value, "rel", AGREEMENT_BAR),
        measure.Row(f"{model}, {name}: difference of Greeks", by_slope, "rel", AGREEMENT_BAR),
    ]
    price = sde.gbm("EulerMaruyama") if model == "GBM" else sde.heston()
    own = sde._calls(price, market, lambda *_: None)
    for what, call, theirs in (
        ("value", own["value"], peer[0]),
        ("Greeks", own["Greeks, reverse"], peer[1]),
    ):
        timing = measure.beside(call, {name: functools.partial(theirs, market)}, samples=samples)
        found = timing[name]
        row = measure.ratio_row(f"{model}, {name}: {what} over ours", found, PEER_BAR)
        row.at_least = True
        table.append(row)
    return table


def main():
    samples = measure.options(__doc__.splitlines()[0]).samples
    table = []
    for model in MARKETS:
        for name in PEERS:
            with measure.skipping(name):
                table += rows(model, name, samples)
    return 0 if measure.print_table("SDEs beside peers", table) else 1


if __name__ == "__main__":
    raise SystemExit(main())
