"""Black and Scholes' prices of many options, their derivatives by all five parameters, implied volatilities.

Beside the loop over the function, derivatives in closed form written by hand, and `jax.vmap` where JAX is
installed (double precision). Implied volatilities, by Newton's method until it converges, stand beside the
same one by one. One core.
"""

import functools
import math

import numpy as np
from numba import njit

import numbad as nd

from . import measure, peers

SIZE = 20_000
EVERY = 0, 1, 2, 3, 4
PRICE_BAR, SLOPE_BAR, ROOT_BAR = 0.4, 0.6, 0.6


def price(spot, strike, years, rate, spread):
    """A call's price."""
    root = spread * math.sqrt(years)
    up = (math.log(spot / strike) + (rate + 0.5 * spread * spread) * years) / root
    above = 0.5 * (1.0 + math.erf(up * math.sqrt(0.5)))
    below = 0.5 * (1.0 + math.erf((up - root) * math.sqrt(0.5)))
    return spot * above - strike * math.exp(-rate * years) * below


price_of = njit(price)


@njit
def by_hand(spot, strike, years, rate, spread):
    """Delta and the derivatives by strike, years, rate and spread, in closed form."""
    stem = math.sqrt(years)
    root = spread * stem
    up = (math.log(spot / strike) + (rate + 0.5 * spread * spread) * years) / root
    above = 0.5 * (1.0 + math.erf(up * math.sqrt(0.5)))
    below = 0.5 * (1.0 + math.erf((up - root) * math.sqrt(0.5)))
    density = math.exp(-0.5 * up * up) / math.sqrt(2.0 * math.pi)
    discount = math.exp(-rate * years)
    kept = strike * discount * below
    by_years = spot * density * spread / (2.0 * stem) + rate * kept
    return above, -discount * below, by_years, years * kept, spot * density * stem


@njit
def vega(spot, strike, years, rate, spread):
    return by_hand(spot, strike, years, rate, spread)[4]


@njit
def implied(value, spot, strike, years, rate):
    """The spread at which a call has a value."""
    spread = 0.3
    for _ in range(50):
        gap = price_of(spot, strike, years, rate, spread) - value
        step = gap / vega(spot, strike, years, rate, spread)
        spread -= step
        if abs(step) < 1e-12:
            break
    return spread


def arguments():
    rng = np.random.default_rng(0)
    ranges = (80.0, 120.0), (80.0, 120.0), (0.1, 2.0), (0.01, 0.05), (0.1, 0.4)
    return tuple(rng.uniform(*each, SIZE) for each in ranges)


def loops():
    """The loop over the function, and over the derivatives by hand."""

    @njit
    def prices(spot, strike, years, rate, spread):
        out = np.empty(spot.size)
        for i in range(spot.size):
            out[i] = price_of(spot[i], strike[i], years[i], rate[i], spread[i])
        return out

    @njit
    def slopes(spot, strike, years, rate, spread):
        out = np.empty((5, spot.size))
        for i in range(spot.size):
            found = by_hand(spot[i], strike[i], years[i], rate[i], spread[i])
            out[0, i], out[1, i], out[2, i], out[3, i], out[4, i] = found
        return out

    return prices, slopes


def batches():
    """`nd.batch` of the function and of its gradient: as they are, and with `nd.vector_math()`."""
    plain = nd.batch(price), nd.batch(nd.grad(price, argnums=EVERY))
    with nd.vector_math():
        return plain, (nd.batch(price), nd.batch(nd.grad(price, argnums=EVERY)))


def root_calls():
    """Implied volatilities one by one and in lanes, then their derivatives by value and strike.

    Of prices that are large enough to tell them.
    """
    spot, strike, years, rate, spread = arguments()
    years, spread = years + 0.4, spread + 0.1
    given = loops()[0](spot, strike, years, rate, spread), spot, strike, years, rate
    slope = nd.grad(implied, argnums=(0, 2))
    apart = [nd.batch(f, lanes=None) for f in (implied, slope)]
    with nd.vector_math():
        vectors = [nd.batch(f) for f in (implied, slope)]
    return [
        (functools.partial(one, *given), {"in lanes": functools.partial(many, *given)})
        for one, many in zip(apart, vectors, strict=True)
    ]


def by_jax():
    jax = peers.import_jax()
    jnp, erf = jax.numpy, jax.scipy.special.erf

    def jax_price(spot, strike, years, rate, spread):
        root = spread * jnp.sqrt(years)
        up = (jnp.log(spot / strike) + (rate + 0.5 * spread * spread) * years) / root
        above = 0.5 * (1.0 + erf(up * math.sqrt(0.5)))
        below = 0.5 * (1.0 + erf((up - root) * math.sqrt(0.5)))
        return spot * above - strike * jnp.exp(-rate * years) * below

    given = tuple(map(jnp.asarray, arguments()))
    compiled = jax.jit(jax.vmap(jax_price)), jax.jit(jax.vmap(jax.grad(jax_price, EVERY)))
    return [lambda f=f: jax.block_until_ready(f(*given)) for f in compiled]


def calls():
    """`(base, contenders)` for prices, and for derivatives."""
    given, bases, (plain, vectors) = arguments(), loops(), batches()
    named = {"as they are": plain, "with vector_math": vectors}
    found = [
        (
            functools.partial(bases[k], *given),
            {name: functools.partial(pair[k], *given) for name, pair in named.items()},
        )
        for k in range(2)
    ]
    with measure.skipping("JAX"):
        for (_, contenders), call in zip(found, by_jax(), strict=True):
            contenders["JAX"] = call
    return found


class OptionPrices:
    """Over the loop: prices by `nd.batch`, and all derivatives over those by hand."""

    def _ratio(self, k, name):
        measure.pin()
        base, contenders = calls()[k]
        return measure.beside(base, {name: contenders[name]})[name].ratio

    def track_prices(self):
        return self._ratio(0, "with vector_math")

    def track_derivatives(self):
        return self._ratio(1, "with vector_math")

    track_prices.unit = track_derivatives.unit = "ratio"


def rows(base, contenders, bar, samples):
    timings = measure.beside(base, contenders, samples=samples)
    bars = {"with vector_math": bar, "in lanes": bar}
    return [
        measure.ratio_row(
            name, timing, bars.get(name), f"{timing.median / SIZE * 1e9:.3g} ns an option"
        )
        for name, timing in timings.items()
    ]


def main():
    options = measure.options(__doc__)
    titles = (
        *("Prices, over the loop", "All derivatives, over those by hand"),
        *("Implied volatilities, over one by one", "Their derivatives by value and strike"),
    )
    bars = PRICE_BAR, SLOPE_BAR, ROOT_BAR, ROOT_BAR
    met = [
        measure.print_table(title, rows(*pair, bar, options.samples))
        for title, pair, bar in zip(titles, [*calls(), *root_calls()], bars, strict=True)
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
