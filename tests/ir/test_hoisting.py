"""Members of tuples and fields of instances in loops: fetched before, unless the loop changes them."""

import math
import re
from collections import namedtuple

import numpy as np
import pytest
from numba import float64, int64, njit
from numba.experimental import jitclass

import numbad as nd

Layer = namedtuple("Layer", "w b")
RNG = np.random.default_rng(0)
W, B, X = RNG.random((4, 3)), RNG.random(4), RNG.random((5, 3))


@jitclass([("w", float64[:, :]), ("b", float64[:]), ("scale", float64), ("calls", int64)])
class Dense:
    def __init__(self, w, b):
        self.w, self.b, self.scale, self.calls = w, b, 1.0, 0

    def forward(self, x, out):
        for k in range(self.b.size):
            total = self.b[k]
            for j in range(x.size):
                total += self.w[k, j] * x[j]
            out[k] = math.tanh(total * self.scale)

    def swap(self, b):
        self.b = b


def plain(w, b, x):
    total = 0.0
    for i in range(x.shape[0]):
        for k in range(b.size):
            q = b[k]
            for j in range(x.shape[1]):
                q += w[k, j] * x[i, j]
            total += math.tanh(q)
    return total


@njit
def of_tuple(layer, x):
    total = 0.0
    for i in range(x.shape[0]):
        for k in range(layer.b.size):
            q = layer.b[k]
            for j in range(x.shape[1]):
                q += layer.w[k, j] * x[i, j]
            total += math.tanh(q)
    return total


def of_tuple_made_here(w, b, x):
    return of_tuple(Layer(w, b), x)


def of_instance(w, b, x):
    layer, total = Dense(w, b), 0.0
    for i in range(x.shape[0]):
        for k in range(layer.b.size):
            q = layer.b[k]
            for j in range(x.shape[1]):
                q += layer.w[k, j] * x[i, j]
            total += math.tanh(q)
    return total


def taped(function, *args):
    """The bytes that an iteration of each loop puts down, outermost first."""
    text = str(nd.inspect_adjoint(function, *args))
    return [int(n) for n in re.findall(r"(\d+) bytes an iteration", text)]


@pytest.mark.parametrize("function", [of_tuple_made_here, of_instance], ids=lambda f: f.__name__)
def test_nothing_is_put_down_for_a_member(function):
    assert taped(function, W, B, X) == taped(plain, W, B, X)
    found, expected = (nd.grad(f, (0, 1, 2), mode="reverse")(W, B, X) for f in (function, plain))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_nothing_is_put_down_for_a_tuple_that_is_given():
    assert taped(of_tuple, Layer(W, B), X) == taped(plain, W, B, X)
    found = nd.grad(of_tuple, mode="reverse")(Layer(W, B), X)
    np.testing.assert_allclose(found.w, nd.grad(plain, mode="reverse")(W, B, X), rtol=1e-14)


def swapped(w, b, x):
    layer, out, total = Dense(w, b), np.empty(b.size), 0.0
    for i in range(x.shape[0]):
        layer.forward(x[i], out)
        layer.swap(out * 2.0)
        total += layer.b[1] * out[0]
    return total


def set_by_name(w, b, x):
    layer, out, total = Dense(w, b), np.empty(b.size), 0.0
    for i in range(x.shape[0]):
        layer.forward(x[i], out)
        layer.scale = 0.9 * layer.scale + out[1]
        total += layer.scale * layer.b[0]
    return total


def set_by_another_name(w, b, x):
    layer = Dense(w, b)
    same, total = layer, 0.0
    for i in range(x.shape[0]):
        total += layer.b[0] * layer.scale
        same.b = x[i] * total
        same.scale += total
    return total


@njit
def countdown(layer, x, n):
    if n > 0:
        layer.scale *= x
        countdown(layer, x, n - 1)
    return 0.0


def set_by_recursion(w, b, x):
    layer, total = Dense(w, b), 0.0
    for i in range(x.shape[0]):
        total += layer.scale * layer.b[0]
        countdown(layer, x[i, 0], 2)
    return total


def one_of_two(w, b, x):
    first, second, total = Dense(w, b), Dense(w * w, b * b), 0.0
    for i in range(x.shape[0]):
        layer = first if i % 2 == 0 else second
        total += layer.b[1] * layer.w[1, 0] * first.scale
        layer.b = layer.b * x[i, 0]
        second.scale = total
        first, second = second, first
    return total


def tuple_that_changes(w, b, x):
    pair, total = (w, b), 0.0
    for i in range(x.shape[0]):
        total += pair[1][0] * pair[0][0, 0]
        pair = (pair[0] * x[i, 0], pair[1] * total)
        for k in range(3):
            total += pair[1][k]
    return total


CHANGING = (
    *(swapped, set_by_name, set_by_another_name, set_by_recursion, one_of_two),
    tuple_that_changes,
)


def instance_of_a_branch(x, first):
    if first:
        layer = Dense(x, x[0])
    total = 0.0
    for i in range(x.shape[1]):
        total += layer.b[i] * layer.scale * x[1, i] if first else x[0, i] ** 2
    return total


def tuple_of_a_branch(x, first):
    if first:
        layer = Layer(x, x[0])
    total = 0.0
    for i in range(x.shape[1]):
        total += layer.b[i] * layer.w[1, i] if first else x[0, i] ** 2
    return total


def one_of_some_branches(x, first):
    if first:
        layer = Dense(x, x[0])
    elif x.shape[0] > 7:
        layer = Dense(x, x[1])
    total = 0.0
    for _ in range(2):
        for i in range(x.shape[1]):
            total += layer.b[i] * layer.w[1, i] * 0.5 if first else x[0, i] ** 2 / 2.0
    return total


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    "function",
    [instance_of_a_branch, tuple_of_a_branch, one_of_some_branches],
    ids=lambda f: f.__name__,
)
def test_what_a_branch_may_have_left_out_is_fetched_where_it_is_used(function, first):
    expected = np.zeros(X.shape)
    expected[0] = X[1] if first else 2.0 * X[0]
    expected[1] = X[0] if first else 0.0
    for _ in range(3):  # memory of the instances of calls before lies there
        nd.grad(function, mode="reverse")(X, True)
        found = nd.grad(function, mode="reverse")(X, first)
        np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("function", CHANGING, ids=lambda f: f.__name__)
def test_what_a_loop_changes_is_fetched_in_it(function):
    compiled, h = njit(function), 1e-6
    gradients = nd.grad(function, (0, 1, 2), mode="reverse")(W, B, X)
    for k, gradient in enumerate(gradients):
        for place in np.ndindex(gradient.shape):
            ahead, behind = [W, B, X], [W, B, X]
            ahead[k], behind[k] = ahead[k].copy(), behind[k].copy()
            ahead[k][place] += h
            behind[k][place] -= h
            slope = (compiled(*ahead) - compiled(*behind)) / (2.0 * h)
            assert gradient[place] == pytest.approx(slope, rel=1e-7, abs=1e-8)
