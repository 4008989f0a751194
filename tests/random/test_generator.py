"""The generator: known answers, laws of its numbers, the same bits in any order, refusals, derivatives."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import numbad as nd
from numbad.random.box_muller import normal_pair, open_unit
from numbad.random.philox import philox

_ONES = 0xFFFFFFFF
# Random123's kat_vectors for philox4x32-10: counter, key, block.
_KNOWN = (
    ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((_ONES,) * 4, (_ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
)


@pytest.mark.parametrize(("counter", "key", "expected"), _KNOWN)
def test_philox_gives_the_known_answers(counter, key, expected):
    assert tuple(map(int, philox(*map(np.uint32, counter + key)))) == expected


def test_box_muller_is_exact_to_rounding():
    words = np.random.default_rng(0).integers(0, 2**32, (2000, 4), dtype=np.uint32)
    words[:4] = [[0] * 4, [_ONES] * 4, [0, 0, _ONES, _ONES], [_ONES, _ONES, 0, 0]]
    u = np.array([open_unit(a, b) for a, b, _, _ in words])
    v = np.array([open_unit(c, d) for _, _, c, d in words])
    assert (0.0 < u).all()
    assert (u < 1.0).all()
    radius, angle = np.sqrt(-2.0 * np.log(u)), 2.0 * np.pi * (v - np.round(v))
    pairs = np.array([normal_pair(*row) for row in words])
    np.testing.assert_allclose(pairs[:, 0], radius * np.cos(angle), rtol=0, atol=2e-15)
    np.testing.assert_allclose(pairs[:, 1], radius * np.sin(angle), rtol=0, atol=2e-15)


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


def test_keys_are_apart():
    key = nd.random.key(7)
    keys = [key, *nd.random.split(key), *nd.random.split(nd.random.key(8), 100)]
    keys += [nd.random.fold_in(key, k) for k in range(100)]
    assert len(set(keys)) == len(keys)
    assert all(isinstance(k, np.uint64) for k in keys[:3])
    assert tuple(nd.random.split(key, 2)) == nd.random.split(key)


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


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: nd.random.normal(3, 0), r"takes a key, not a plain integer.*nd.random.key\(42\)"),
        (lambda: nd.random.normal(0.5, 0), "takes a key, not a value of type float64"),
        (lambda: nd.random.uniform(nd.random.key(3), 0.5), "takes an integer.*float64"),
        (lambda: nd.random.key("seed"), "nd.random.key takes an integer"),
        (lambda: nd.random.split(3), "nd.random.split takes a key"),
        (lambda: nd.random.split(3, 4), "nd.random.split takes a key"),
        (lambda: nd.random.fold_in(nd.random.key(3), 1.0), "nd.random.fold_in takes an integer"),
    ],
)
def test_what_is_no_key_is_refused(call, told):
    with pytest.raises(nd.ArgumentError, match=told):
        call()


def test_compiled_code_is_told_of_a_wrong_key():
    with pytest.raises(Exception, match=r"takes a key, not a value of type float64"):
        njit(lambda x: nd.random.normal(x, 1))(0.3)
