"""A network of dense layers, 64-128-128-10, and its softmax cross entropy over a batch of 256.

As a user of Numba writes it, as one does by hand in NumPy (`by_hand`), in PyTorch and in JAX;
all in double precision, and all return the loss and its gradient by every weight.
"""

import itertools

import numpy as np
from numba import njit

SIZES = 64, 128, 128, 10
BATCH = 256
ARGNUMS = 0, 1, 2, 3, 4, 5


@njit
def cross_entropy(z, labels):
    """Mean of the logarithm of what softmax gives to each row's class, negative."""
    total = 0.0
    for i in range(labels.size):
        top = z[i].max()
        total += np.log(np.exp(z[i] - top).sum()) + top - z[i, labels[i]]
    return total / labels.size


def with_relu(w1, b1, w2, b2, w3, b3, x, labels):
    """Mean cross entropy of a network with rectified layers."""
    h = np.maximum(x @ w1 + b1, 0.0)
    h = np.maximum(h @ w2 + b2, 0.0)
    return cross_entropy(h @ w3 + b3, labels)


def with_tanh(w1, b1, w2, b2, w3, b3, x, labels):
    """The same with hyperbolic tangents."""
    h = np.tanh(x @ w1 + b1)
    h = np.tanh(h @ w2 + b2)
    return cross_entropy(h @ w3 + b3, labels)


def draw(rng):
    """The arguments: weights and biases of three layers, inputs in rows, the number of the class."""
    weights = []
    for m, n in itertools.pairwise(SIZES):
        weights += [rng.normal(size=(m, n)) / np.sqrt(m), rng.normal(size=n)]
    return *weights, rng.normal(size=(BATCH, SIZES[0])), rng.integers(0, SIZES[-1], BATCH)


def by_hand(activation):
    """Loss and gradient by NumPy; `activation` is "relu" or "tanh"."""
    function = (lambda a: np.maximum(a, 0.0)) if activation == "relu" else np.tanh
    slope = (lambda h: h > 0.0) if activation == "relu" else (lambda h: 1.0 - h * h)

    def value_and_grad(w1, b1, w2, b2, w3, b3, x, labels):
        h1 = function(x @ w1 + b1)
        h2 = function(h1 @ w2 + b2)
        z = h2 @ w3 + b3
        z -= z.max(1, keepdims=True)
        e = np.exp(z)
        total, rows = e.sum(1, keepdims=True), np.arange(labels.size)
        loss = (np.log(total).sum() - z[rows, labels].sum()) / labels.size
        by_z = e / total
        by_z[rows, labels] -= 1.0
        by_z /= labels.size
        by_a2 = (by_z @ w3.T) * slope(h2)
        by_a1 = (by_a2 @ w2.T) * slope(h1)
        last = h2.T @ by_z, by_z.sum(0)
        return loss, (x.T @ by_a1, by_a1.sum(0), h1.T @ by_a2, by_a2.sum(0), *last)

    return value_and_grad


def torch_call(activation, *arguments):
    """Loss and gradient by PyTorch, eager, as a call without arguments."""
    import torch

    torch.set_num_threads(1)
    *weights, x, labels = (torch.tensor(a) for a in arguments)
    for w in weights:
        w.requires_grad_()
    function = getattr(torch, activation)

    def call():
        h = function(x @ weights[0] + weights[1])
        h = function(h @ weights[2] + weights[3])
        loss = torch.nn.functional.cross_entropy(h @ weights[4] + weights[5], labels)
        gradient = torch.autograd.grad(loss, weights)
        return loss.item(), [g.numpy() for g in gradient]

    return call


def jax_call(jax, activation, *arguments):
    """Loss and gradient by JAX, compiled, as a call without arguments."""
    jnp = jax.numpy
    function = (lambda a: jnp.maximum(a, 0.0)) if activation == "relu" else jnp.tanh

    def loss(weights, x, labels):
        w1, b1, w2, b2, w3, b3 = weights
        h = function(x @ w1 + b1)
        h = function(h @ w2 + b2)
        logs = jax.nn.log_softmax(h @ w3 + b3)
        return -jnp.take_along_axis(logs, labels[:, None], 1).mean()

    gradient = jax.jit(jax.value_and_grad(loss))
    *weights, x, labels = map(jnp.asarray, arguments)
    return lambda: jax.block_until_ready(gradient(weights, x, labels))
