"""Branches that constants choose, and functions that raise on every way."""

import pytest

import numbad as nd
from tests.patterns.test_detect import X, found


def test_constants_choose():
    def f(x, n, flag):
        s = 0.0
        for i in range(n):
            s += x[i]
        return s if flag else x[3]

    pattern = nd.sparsity(f)
    assert found(pattern(X, 2, True)) == [[0, 1]]
    assert found(pattern(X, 3, True)) == [[0, 1, 2]]
    assert found(pattern(X, 3, False)) == [[3]]


def test_a_function_that_always_raises():
    def f(x):
        if x.size == 4:
            raise ValueError("four")
        return x

    with pytest.raises(nd.SparsityError, match="raises"):
        nd.sparsity(f)(X)
