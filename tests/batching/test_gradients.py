"""Gradients of a batch's elements: by the pullback of the batch in lanes, the same numbers as one by one."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.batching.gradients import Gradients

RNG = np.random.default_rng(5)
SPOT, STRIKE, SPREAD = RNG.uniform(0.5, 1.5, (3, 37))


def price(spot, strike, spread):
    """A call's price for a discount rate of zero and a year (Black and Scholes, 1973)."""
    up = math.log(spot / strike) / spread + 0.5 * spread
    return spot * _normal(up) - strike * _normal(up - spread)


@njit
def _normal(x):
    return 0.5 * (1.0 + math.erf(x * math.sqrt(0.5)))


def _density(x):
    return np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def _by_hand(spot, strike, spread):
    """Delta, the derivative by the strike, and vega."""
    up = np.log(spot / strike) / spread + 0.5 * spread
    normal = np.vectorize(_normal)
    return normal(up), -normal(up - spread), spot * _density(up)


@pytest.fixture
def taken(monkeypatch):
    """The batches whose gradients came from their pullback."""
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")  # code from the disk is not written again
    found, values = [], Gradients.values

    def noted(self, typingctx):
        made = values(self, typingctx)
        found.append(self.gradient.f.py_func.__name__)
        return made

    monkeypatch.setattr(Gradients, "values", noted)
    return found


def test_each_argument(taken):
    found = nd.batch(nd.grad(price, argnums=(0, 1, 2)))(SPOT, STRIKE, SPREAD)
    for own, expected in zip(found, _by_hand(SPOT, STRIKE, SPREAD), strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-12)
    assert taken == ["price"]


def test_with_the_value(taken):
    value, slope = nd.batch(nd.value_and_grad(price, argnums=2))(SPOT, STRIKE, SPREAD)
    np.testing.assert_array_equal(value, nd.batch(price)(SPOT, STRIKE, SPREAD))
    np.testing.assert_allclose(slope, _by_hand(SPOT, STRIKE, SPREAD)[2], rtol=1e-12)
    assert taken == ["price"]


def test_by_what_elements_share(taken):
    """There is a gradient for each element, by their own copy."""
    gradient = nd.batch(nd.grad(price, argnums=(1, 0)), in_axes=(0, None, None))
    by_strike, by_spot = gradient(SPOT, 1.1, 0.4)
    expected = _by_hand(SPOT, np.full(SPOT.size, 1.1), 0.4)
    np.testing.assert_allclose(by_spot, expected[0], rtol=1e-12)
    np.testing.assert_allclose(by_strike, expected[1], rtol=1e-12)
    assert taken == ["price"]


def test_beside_rows_that_elements_have_and_share(taken):
    def energy(x, row, table):
        total = 0.0
        for k in range(row.size):
            total += math.sin(x * row[k]) * table[k]
        return total

    rows, table = RNG.normal(size=(37, 5)), RNG.normal(size=5)
    found = nd.batch(nd.grad(energy), in_axes=(0, 0, None))(SPOT, rows, table)
    expected = (np.cos(SPOT[:, None] * rows) * rows) @ table
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert taken == ["energy"]


def test_with_vectors(monkeypatch):
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")  # code from the disk cannot be inspected
    with nd.vector_math():
        gradient = nd.batch(nd.grad(price, argnums=(0, 1, 2)))
    found = gradient(SPOT, STRIKE, SPREAD)
    for own, expected in zip(found, _by_hand(SPOT, STRIKE, SPREAD), strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-12)
    assert any("numbad.elementary.lanes.erf" in text for text in gradient.inspect_llvm().values())


def test_second_order(taken):
    """Of the batch of gradients: dual numbers go one by one."""
    gradient = nd.batch(nd.grad(lambda x: math.sin(x) * x))
    _, along = nd.jvp(gradient)((SPOT,), (np.ones(SPOT.size),))
    np.testing.assert_allclose(along, 2.0 * np.cos(SPOT) - SPOT * np.sin(SPOT), rtol=1e-12)
    _, (back,) = nd.vjp(gradient)((SPOT,), np.ones(SPOT.size))
    np.testing.assert_allclose(back, along, rtol=1e-12)


def halved(x):
    """Until it is at most 0.7, and times how often; such a count is none of lanes."""
    n = 1
    while x > 0.7:
        x, n = 0.5 * x, n + 1
    return x * n


@pytest.mark.parametrize(
    "gradient",
    [nd.grad(halved), nd.grad(halved, mode="reverse"), nd.grad(halved, mode="forward")],
    ids=["auto", "reverse", "forward"],
)
def test_what_does_not_go_in_lanes_goes_one_by_one(gradient):
    expected = np.where(SPOT > 1.4, 3.0 / 4.0, np.where(SPOT > 0.7, 2.0 / 2.0, 1.0))
    np.testing.assert_array_equal(nd.batch(gradient)(SPOT), expected)


def test_forward_mode_is_obeyed(taken):
    nd.batch(nd.grad(price, mode="forward"))(SPOT, STRIKE, SPREAD)
    assert not taken


def test_one_by_one_is_obeyed(taken):
    nd.batch(nd.grad(price), lanes=None)(SPOT, STRIKE, SPREAD)
    assert not taken


def test_single_precision_goes_one_by_one(taken):
    """A gradient by `float32` is what it is for one element, a double here."""
    x = SPOT.astype(np.float32)
    found = nd.batch(nd.grad(lambda x: math.sin(x) * 2.0))(x)
    np.testing.assert_array_equal(
        found, nd.batch(nd.grad(lambda x: math.sin(x) * 2.0), lanes=None)(x)
    )
    assert not taken


def test_errors_name_the_users_arguments():
    gradient = nd.batch(nd.grad(price))
    with pytest.raises(nd.ArgumentError, match="'spot' and 'strike' have different lengths"):
        gradient(SPOT, STRIKE[:5], SPREAD)
    with pytest.raises(nd.ArgumentError, match="'spot' is a float64, and has no axis 0"):
        gradient(1.0, STRIKE, SPREAD)
    for lanes in ("auto", 8):
        with pytest.raises(nd.ArgumentError, match="nd.grad needs a function that returns a float"):
            nd.batch(nd.grad(lambda x: (x, x)), lanes=lanes)(SPOT)
    with pytest.raises(nd.UnsupportedError, match="halved cannot run in 8 lanes"):
        nd.batch(nd.grad(halved), lanes=8)(SPOT)
