"""Batches whose sums are taken on the GPU: on the CPU, against closed forms."""

import math

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda
from numbad.cuda import batch_sums
from numbad.errors import ArgumentError, UnsupportedError

from .batches import E, Model, P, X, energy, pair


def misfit(x, y, weights, rate):
    s = 0.0
    for i in range(x.size):
        s += weights[i] * math.exp(-rate * x[i])
    return (s - y) ** 2


WEIGHTS, RATE, Y = np.array([0.4, -0.3, 0.9]), 0.7, np.linspace(0.0, 2.0, 7)


def misfits():
    """Values and derivatives by y, weights and rate of the elements, in closed form."""
    e = np.exp(-RATE * X)
    off = e @ WEIGHTS - Y
    return off**2, -2.0 * off, 2.0 * off[:, None] * e, -2.0 * off * ((X * e) @ WEIGHTS)


@pytest.mark.parametrize("parts", [3, 100])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_sums_by_what_all_share(host, reduce, parts, monkeypatch):
    monkeypatch.setattr(batch_sums, "_MOST_PARTS", parts)
    monkeypatch.setattr(batch_sums, "_FEWEST_PARTS", 1)
    monkeypatch.setattr(batch_sums, "_ROWS", 2)
    op = nd.cuda.value_and_grad(misfit, (3, 1, 2))
    batched = nd.cuda.batch(op, in_axes=(0, 0, None, None), reduce=reduce)
    value, (by_rate, by_y, by_weights) = batched(X, Y, WEIGHTS, RATE)
    values, exact_y, exact_weights, exact_rate = misfits()
    taken = getattr(np, reduce)
    np.testing.assert_allclose(value, taken(values), rtol=1e-14)
    np.testing.assert_allclose(by_y, exact_y, rtol=1e-14)
    np.testing.assert_allclose(by_weights, taken(exact_weights, axis=0), rtol=1e-13)
    np.testing.assert_allclose(by_rate, taken(exact_rate), rtol=1e-13)
    assert np.shape(value) == np.shape(by_rate) == ()


def test_sums_of_what_a_function_returns(host):
    x = np.arange(10, dtype=np.float32)
    product, (total, three) = nd.cuda.batch(pair, in_axes=(0, None), reduce="sum")(x, 0.5)
    assert (product, total, three) == (22.5, 55.0, 30.0)
    assert type(product) is np.float64


def test_sums_in_float32_are_float64(host):
    op = nd.cuda.value_and_grad(energy, 1)
    rows = np.tile(X.astype("f4"), (40, 1))
    value, by_p = nd.cuda.batch(op, in_axes=(0, None), reduce="sum")(rows, P)
    np.testing.assert_allclose(value, 40 * E.sum(), rtol=1e-6)
    np.testing.assert_allclose(by_p, [40 * (X * E).sum(), 40 * E.sum() / P.scale], rtol=1e-6)
    assert value.dtype == by_p.rate.dtype == np.float64
    assert type(by_p) is Model


def test_sums_that_there_are_none_of(host):
    with pytest.raises(ArgumentError, match="reduce is None, 'sum' or 'mean', not 'max'"):
        nd.cuda.batch(pair, reduce="max")
    with pytest.raises(ArgumentError, match="no element to take the sum of"):
        nd.cuda.batch(pair, in_axes=(0, None), reduce="sum")(np.zeros(0), 0.5)
    with pytest.raises(ArgumentError, match="out="):
        nd.cuda.batch(pair, in_axes=(0, None), reduce="sum")(np.ones(2), 0.5, out=np.ones(2))
    with pytest.raises(UnsupportedError, match="reduce= adds.*not.*jacobian"):
        nd.cuda.batch(nd.cuda.jacobian(energy), in_axes=(0, None), reduce="sum")(X, P)
