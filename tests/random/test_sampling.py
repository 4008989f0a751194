"""Random numbers: their laws, the same bits in any order, derivatives."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import numbad as nd


def test_laws_of_the_numbers():
    a, b = nd.random.split(nd.random.key(11))
    z, w, u = (
        nd.random.normals(a, 100_000),
        nd.random.normals(b, 100_000),
        nd.random.uniforms(a, 100_000),
    )
    assert stats.kstest(z, "norm").pvalue > 1e-3
    assert stats.kstest(w, "norm").pvalue > 1e-3
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    for left, right in ((z, w), (z[1:], z[:-1]), (z[64:], z[:-64]), (z, stats.norm.ppf(u))):
        assert abs(np.corrcoef(left, right)[0, 1]) < 4.0 / math.sqrt(left.size)


def test_numbers_are_a_function_of_key_and_number():
    key = nd.random.key(7)
    many, uniforms = nd.random.normals(key, 300), nd.random.uniforms(key, 300)
    for i in (299, 0, 63, 64, 127, 128, 256):
        assert nd.random.normal(key, i) == many[i]
        assert nd.random.uniform(key, i) == uniforms[i]
    assert nd.random.normal(key, -1) != nd.random.normal(key, 2**40)


@njit
def _price(vol, seed, paths):
    first, second = nd.random.split(nd.random.key(seed))
    total = 0.0
    for i in range(paths):
        z = nd.random.normal(nd.random.fold_in(first, i), 0) + nd.random.uniform(second, i)
        total += math.exp(vol * z)
    return total / paths


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_draws_are_constants_of_derivatives(mode):
    first, second = nd.random.split(nd.random.key(3))
    z = np.array([nd.random.normal(nd.random.fold_in(first, i), 0) for i in range(50)])
    z += [nd.random.uniform(second, i) for i in range(50)]
    slope = nd.grad(_price, mode=mode)(0.3, 3, 50)
    assert slope == pytest.approx(np.mean(z * np.exp(0.3 * z)), rel=1e-13)
