"""Gradients of NumPy's functions of whole arrays: over the primal, over NumPy's calls by hand, over peers.

One core and one BLAS thread; what is by hand returns the value as well, as the gradient does. PyTorch
and JAX run beside, in double precision, where they are installed.
"""

import contextlib
import functools

import numpy as np

from . import measure, peers
from .problems import network


def bell(r):
    """The sum of a Gaussian over all elements."""
    return np.exp(-(r**2)).sum()


def trace(x1, x2):
    """The trace of a product."""
    return np.trace(x1 @ x2)


def trace_by_hand(x1, x2):
    product = x1 @ x2
    seed = np.eye(product.shape[0])
    return np.trace(product), (seed @ x2.T, x1.T @ seed)


def quadratic(x, a, b, c):
    """A quadratic form, with a linear and a constant term."""
    return x @ a @ x + b @ x + c


def quadratic_by_hand(x, a, b, c):
    y = x @ a
    return y @ x + b @ x + c, y + a @ x + b


def _gradient(f, argnums=0, vectors=False):
    import numbad as nd

    with nd.vector_math() if vectors else contextlib.nullcontext():
        return nd.value_and_grad(f, argnums, mode="reverse")


def bell_calls(size=10**6):
    """Primal and gradient over an array, as calls without arguments."""
    from numba import njit

    r = np.random.default_rng(0).normal(size=size)
    return functools.partial(njit(bell), r), functools.partial(_gradient(bell), r)


def trace_calls(n=30):
    """What is by hand and the gradient by both factors."""
    factors = np.random.default_rng(0).normal(size=(2, n, n))
    gradient = _gradient(trace, (0, 1))
    return functools.partial(trace_by_hand, *factors), functools.partial(gradient, *factors)


def trace_torch(n=30):
    """PyTorch's gradient of the same, eager."""
    import torch

    torch.set_num_threads(1)
    factors = np.random.default_rng(0).normal(size=(2, n, n))
    x1, x2 = (torch.tensor(x, requires_grad=True) for x in factors)

    def call():
        value = torch.trace(x1 @ x2)
        return value.item(), [g.numpy() for g in torch.autograd.grad(value, (x1, x2))]

    return call


def trace_jax(n=30):
    """JAX's gradient of the same, compiled."""
    jax = peers.import_jax()
    factors = jax.numpy.asarray(np.random.default_rng(0).normal(size=(2, n, n)))
    gradient = jax.jit(jax.value_and_grad(lambda x1, x2: jax.numpy.trace(x1 @ x2), (0, 1)))
    return lambda: jax.block_until_ready(gradient(*factors))


def quadratic_calls(n=1000):
    """What is by hand and the gradient by `x`."""
    draw = np.random.default_rng(0).normal
    arguments = draw(size=n), draw(size=(n, n)), draw(size=n), 1.5
    by_hand = functools.partial(quadratic_by_hand, *arguments)
    return by_hand, functools.partial(_gradient(quadratic), *arguments)


def _network_arguments():
    return network.draw(np.random.default_rng(0))


def network_calls(activation, vectors=False):
    """What is by hand and the gradient by all weights; `activation` is "relu" or "tanh"."""
    gradient = _gradient(getattr(network, f"with_{activation}"), network.ARGNUMS, vectors)
    arguments = _network_arguments()
    by_hand = functools.partial(network.by_hand(activation), *arguments)
    return by_hand, functools.partial(gradient, *arguments)


def network_torch(activation):
    return network.torch_call(activation, *_network_arguments())


def network_jax(activation):
    return network.jax_call(peers.import_jax(), activation, *_network_arguments())


CASES = {
    "exp(-r**2).sum(), 10^6, over the primal": (bell_calls, 2.5),
    "trace(x1 @ x2), 30 x 30, over NumPy by hand": (trace_calls, 1.3),
    "x @ A @ x + b @ x + c, n = 1000, over NumPy by hand": (quadratic_calls, 1.15),
    "dense layers with relu, over NumPy by hand": (functools.partial(network_calls, "relu"), None),
    "dense layers with tanh, over NumPy by hand": (functools.partial(network_calls, "tanh"), None),
    "dense layers with tanh, nd.vector_math(), over NumPy by hand": (
        functools.partial(network_calls, "tanh", True),
        1.0,
    ),
}

PEERS = {
    "trace(x1 @ x2), 30 x 30": (trace_calls, trace_torch, trace_jax, 1.0),
    "dense layers with relu": (
        *(functools.partial(f, "relu") for f in (network_calls, network_torch, network_jax)),
        1.0,
    ),
    "dense layers with tanh": (
        *(functools.partial(f, "tanh") for f in (network_calls, network_torch, network_jax)),
        None,
    ),
    "dense layers with tanh, nd.vector_math()": (
        functools.partial(network_calls, "tanh", True),
        *(functools.partial(f, "tanh") for f in (network_torch, network_jax)),
        1.0,
    ),
}
"""Calls by hand and the gradient; PyTorch's; JAX's; the bar. Numba's tanh is one number at a time."""


class WholeArrays:
    """Ratio of each gradient to its base."""

    params = tuple(CASES)
    param_names = ("case",)
    timeout = 300

    def track_ratio(self, case):
        measure.pin()
        base, gradient = CASES[case][0]()
        return measure.beside(base, {"gradient": gradient})["gradient"].ratio

    track_ratio.unit = "ratio"


def rows(options):
    found = []
    for name, (calls, bar) in CASES.items():
        base, gradient = calls()
        timing = measure.beside(base, {"gradient": gradient}, samples=options.samples)
        found.append(measure.ratio_row(name, timing["gradient"], bar))
    return found


def peer_rows(options):
    """The gradient over that of each peer that is installed."""
    found = []
    for name, (calls, torch, jax, bar) in PEERS.items():
        _, gradient = calls()
        for peer, build in (("PyTorch eager", torch), ("JAX jit", jax)):
            with measure.skipping(peer):
                base = build()
                timing = measure.beside(base, {"gradient": gradient}, samples=options.samples)
                row = measure.ratio_row(f"{name}, over {peer}", timing["gradient"], bar)
                found.append(row)
    return found


def main():
    options = measure.options(__doc__)
    found = rows(options)
    if not options.no_peers:
        found += peer_rows(options)
    return 0 if measure.print_table("Gradients of whole arrays", found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
