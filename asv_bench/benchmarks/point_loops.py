"""Likelihoods as loops over points: values and gradients over the functions, as they are and in lanes.

A logistic regression, an exponential decay, two of them written to an array, counts in groups with levels of
their own, and a small network; 100,000 points each. Beside JAX's `value_and_grad` of whole arrays where it is
installed (double precision). One core.
"""

import functools
import math

import numpy as np
from numba import njit

import numbad as nd

from . import measure, peers

SIZE, GROUPS, UNITS = 100_000, 1000, 8
BARS = {"logistic": 0.6, "decay": 0.6, "model": 0.8, "groups": 1.1, "network": 0.25}


@njit
def logistic(p, x, y):
    total = 0.0
    for i in range(y.size):
        z = p[0]
        for j in range(x.shape[1]):
            z += p[j + 1] * x[i, j]
        total += math.log(1.0 + math.exp(z)) - y[i] * z
    return total


@njit
def decay(p, t, y):
    total = 0.0
    for i in range(y.size):
        residual = y[i] - p[0] * math.exp(-p[1] * t[i]) - p[2]
        total += residual * residual
    return total


@njit
def model(p, t, y):
    m = np.empty(y.size)
    for i in range(y.size):
        m[i] = p[0] * math.exp(-p[1] * t[i]) + p[2] * math.exp(-p[3] * t[i])
    return np.sum((m - y) ** 2)


@njit
def groups(p, levels, group, x, counts):
    total = 0.0
    for i in range(counts.size):
        log_rate = levels[group[i]] + p[0] * x[i]
        total += math.exp(log_rate) - counts[i] * log_rate
    for k in range(levels.size):
        total += 0.5 * (levels[k] - p[1]) ** 2
    return total


@njit
def network(p, x, y):
    total = 0.0
    for i in range(y.size):
        out = p[0]
        for k in range(UNITS):
            out += p[3 * k + 1] * math.tanh(p[3 * k + 2] * x[i] + p[3 * k + 3])
        total += (y[i] - out) ** 2
    return total


FUNCTIONS = {
    "logistic": (logistic, 0),
    "decay": (decay, 0),
    "model": (model, 0),
    "groups": (groups, (0, 1)),
    "network": (network, 0),
}


def arguments(name):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=SIZE), rng.normal(size=SIZE)
    if name == "logistic":
        return rng.normal(size=6), rng.normal(size=(SIZE, 5)), (y > 0.0).astype(np.float64)
    if name == "decay":
        return np.array([1.0, 0.5, 0.1]), rng.uniform(0.0, 4.0, SIZE), y
    if name == "model":
        return np.array([1.0, 0.5, 0.5, 3.0]), rng.uniform(0.0, 4.0, SIZE), y
    if name == "groups":
        levels, group = rng.normal(size=GROUPS), rng.integers(0, GROUPS, SIZE)
        return np.array([0.3, 0.1]), levels, group, x, rng.poisson(2.0, SIZE)
    return rng.normal(size=3 * UNITS + 1), x, y


def gradients(name):
    """The gradient as it is, and within `nd.vector_math()`."""
    f, argnums = FUNCTIONS[name]
    plain = nd.value_and_grad(f, argnums, mode="reverse")
    with nd.vector_math():
        return plain, nd.value_and_grad(f, argnums, mode="reverse")


def by_jax(name):
    jax = peers.import_jax()
    jnp = jax.numpy

    def jax_logistic(p, x, y):
        z = p[0] + x @ p[1:]
        return jnp.sum(jnp.log(1.0 + jnp.exp(z)) - y * z)

    def jax_decay(p, t, y):
        return jnp.sum((y - p[0] * jnp.exp(-p[1] * t) - p[2]) ** 2)

    def jax_model(p, t, y):
        return jnp.sum((p[0] * jnp.exp(-p[1] * t) + p[2] * jnp.exp(-p[3] * t) - y) ** 2)

    def jax_groups(p, levels, group, x, counts):
        log_rate = levels[group] + p[0] * x
        penalty = 0.5 * jnp.sum((levels - p[1]) ** 2)
        return jnp.sum(jnp.exp(log_rate) - counts * log_rate) + penalty

    def jax_network(p, x, y):
        out = p[0]
        for k in range(UNITS):
            out += p[3 * k + 1] * jnp.tanh(p[3 * k + 2] * x + p[3 * k + 3])
        return jnp.sum((y - out) ** 2)

    every = jax_logistic, jax_decay, jax_model, jax_groups, jax_network
    f = {f.__name__: f for f in every}[f"jax_{name}"]
    given = tuple(map(jnp.asarray, arguments(name)))
    compiled = jax.jit(jax.value_and_grad(f, FUNCTIONS[name][1]))
    return lambda: jax.block_until_ready(compiled(*given))


def calls(name):
    """The function, and what is measured beside it, as calls without arguments."""
    given = arguments(name)
    plain, vectors = gradients(name)
    found = {
        "as it is": functools.partial(plain, *given),
        "with vector_math": functools.partial(vectors, *given),
    }
    with measure.skipping("JAX"):
        found["JAX"] = by_jax(name)
    return functools.partial(FUNCTIONS[name][0], *given), found


class PointLoops:
    """Gradients within `nd.vector_math()` over the functions."""

    params = tuple(FUNCTIONS)
    param_names = ("likelihood",)

    def track_gradient(self, name):
        measure.pin()
        function, contenders = calls(name)
        own = {"own": contenders["with vector_math"]}
        return measure.beside(function, own)["own"].ratio

    track_gradient.unit = "ratio"


def rows(name, samples):
    function, contenders = calls(name)
    timings = measure.beside(function, contenders, samples=samples)
    return [
        measure.ratio_row(
            f"{name}, {each}",
            timing,
            BARS[name] if each == "with vector_math" else None,
            f"{timing.median / SIZE * 1e9:.3g} ns a point",
        )
        for each, timing in timings.items()
    ]


def main():
    options = measure.options(__doc__)
    found = [row for name in FUNCTIONS for row in rows(name, options.samples)]
    title = "Value and gradient over the function"
    return 0 if measure.print_table(title, found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
