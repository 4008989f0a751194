"""Ints of a program, which are known: they have no columns."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.patterns.test_detect import X, found


def test_ints_are_those_of_the_machine():
    def f(x):
        seed = 1
        for _ in range(40):
            seed = seed * 6364136223846793005 + 1442695040888963407
        return x[seed % 7 % 4]

    (column,) = found(nd.sparsity(f)(X))[0]
    assert X[column] == njit(f)(X)


def test_ints_have_no_columns():
    with pytest.raises(nd.ArgumentError, match="must hold floats"):
        nd.sparsity(lambda x: x * 2.0)(np.arange(3))
