"""Keys: numbers of different ones are apart, and what is none is refused."""

import numpy as np
import pytest
from numba import njit

import numbad as nd


def test_keys_are_apart():
    key = nd.random.key(7)
    keys = [key, *nd.random.split(key), *nd.random.split(nd.random.key(8), 100)]
    keys += [nd.random.fold_in(key, k) for k in range(100)]
    assert len(set(keys)) == len(keys)
    assert all(isinstance(k, np.uint64) for k in keys[:3])
    assert tuple(nd.random.split(key, 2)) == nd.random.split(key)


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
