"""The gradient of a text classifier by a table of 95,811 words, of which a batch reads a fortieth.

`python -m asv_bench.benchmarks.word_table` prints it beside PyTorch's (dense gradients, one thread), where
that is installed. The sizes are those of PyTorch's tutorial on text classification: batches of 64, vectors of
64 numbers, four classes; a text has 40 words here.
"""

import math

import numpy as np
from numba import njit

import numbad as nd

from . import measure

WORDS, WIDTH, CLASSES, BATCH, LENGTH = 95_811, 64, 4, 64, 40
PRECISIONS = "float32", "float64"


@njit
def loss(table, weights, bias, words, labels):
    """The cross-entropy of classes by the mean vector of a text's words."""
    total = 0.0
    for i in range(words.shape[0]):
        mean = np.zeros(table.shape[1], table.dtype)
        for j in range(words.shape[1]):
            mean += table[words[i, j]]
        mean /= words.shape[1]
        scores = weights @ mean + bias
        largest = scores.max()
        total += largest + math.log(np.sum(np.exp(scores - largest))) - scores[labels[i]]
    return total / words.shape[0]


def problem(precision):
    """A table, weights and a bias; words and classes of a batch of texts."""
    rng = np.random.default_rng(0)
    shapes = (WORDS, WIDTH), (CLASSES, WIDTH), (CLASSES,)
    numbers = [0.1 * rng.normal(size=shape).astype(precision) for shape in shapes]
    return *numbers, rng.integers(0, WORDS, (BATCH, LENGTH)), rng.integers(0, CLASSES, BATCH)


def by_torch(precision):
    """A call that evaluates loss and gradient in PyTorch."""
    import torch

    torch.set_num_threads(1)
    table, weights, bias, words, labels = map(torch.tensor, problem(precision))
    parameters = [x.requires_grad_() for x in (table, weights, bias)]

    def call():
        for x in parameters:
            x.grad = None
        means = torch.nn.functional.embedding_bag(words, table, mode="mean")
        scores = torch.nn.functional.linear(means, weights, bias)
        torch.nn.functional.cross_entropy(scores, labels).backward()
        return [x.grad for x in parameters]

    return call


class Gradients:
    """Milliseconds of a gradient."""

    params = PRECISIONS
    param_names = ("precision",)

    def setup(self, precision):
        measure.pin()
        self.call = ours(precision)
        self.call()

    def time_gradient(self, precision):
        self.call()


def ours(precision):
    """A call that evaluates loss and gradient."""
    gradient, given = nd.value_and_grad(loss, argnums=(0, 1, 2), mode="reverse"), problem(precision)
    return lambda: gradient(*given)[1]


def rows(samples, peers=True):
    """The rows of the table."""
    for precision in PRECISIONS:
        call, cases = ours(precision), {}
        with measure.skipping("PyTorch"):
            if peers:
                cases["PyTorch"] = by_torch(precision)
                for one, other in zip(call(), cases["PyTorch"](), strict=True):
                    np.testing.assert_allclose(one, other.numpy(), rtol=1e-3, atol=1e-6)
        timings = measure.beside(call, {"numbad": call} | cases, samples=samples)
        own = timings.pop("numbad")
        yield measure.Row(f"gradient, {precision}", 1e3 * own.median, "ms", best=1e3 * own.best)
        for peer, timing in timings.items():
            yield measure.ratio_row(f"{peer} over it, {precision}", timing)


def main():
    options = measure.options(__doc__.splitlines()[0])
    table = list(rows(options.samples, not options.no_peers))
    return 0 if measure.print_table("Text classifier", table) else 1


if __name__ == "__main__":
    raise SystemExit(main())
