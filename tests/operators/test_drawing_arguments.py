"""A `np.random.Generator` as an argument: right in one call, refused where several would draw others."""

import numpy as np
import pytest
from numba import njit

import numbad as nd


@njit
def weighed(x, rng):
    total = 0.0
    for i in range(x.size):
        total += rng.random() * x[i] * x[i]
    return total


@njit
def products(x, given):
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = given[0].random() * x[i] * x[i]
    return out


def drawn(n):
    return np.random.default_rng(5), np.random.default_rng(5).random(n)


@pytest.mark.parametrize("mode", ["auto", "reverse"])
def test_one_sweep_draws_once(mode):
    rng, u = drawn(20)
    x = np.linspace(1.0, 2.0, 20)
    np.testing.assert_allclose(nd.grad(weighed, mode=mode)(x, rng), 2.0 * u * x, rtol=1e-14)
    assert rng.random() == np.random.default_rng(5).random(21)[-1]  # as one call leaves it


def test_few_enough_inputs_are_one_pass():
    rng, u = drawn(3)
    x = np.linspace(1.0, 2.0, 3)
    np.testing.assert_allclose(nd.grad(weighed, mode="forward")(x, rng), 2.0 * u * x, rtol=1e-14)
    rng, u = drawn(3)
    value, jacobian = nd.value_and_jacobian(products, mode="forward")(x, (rng, 0))
    np.testing.assert_allclose(value, u * x * x, rtol=1e-14)
    np.testing.assert_allclose(jacobian, np.diag(2.0 * u * x), rtol=1e-14)


@pytest.mark.parametrize(
    ("operator", "function"),
    [
        (lambda f: nd.grad(f, mode="forward"), weighed),
        (nd.hessian, weighed),
        (lambda f: nd.jacobian(f, mode="forward"), products),
        (lambda f: nd.value_and_jacobian(f, mode="reverse"), products),
    ],
    ids=["grad", "hessian", "jacobian", "rows"],
)
def test_several_passes_would_draw_other_numbers(operator, function):
    rng, _ = drawn(20)
    with pytest.raises(nd.UnsupportedError, match="would draw other numbers at each call"):
        operator(function)(np.linspace(1.0, 2.0, 20), rng if function is weighed else (rng, 0))
