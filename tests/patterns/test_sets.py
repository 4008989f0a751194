"""More columns than a small set holds."""

import numpy as np

import numbad as nd
from tests.patterns.test_detect import found


def test_many_columns():
    n = 1000

    def f(x):
        y = x.copy()
        y[0] = x.sum()
        return y

    matrix = nd.sparsity(f)(np.ones(n))
    assert found(matrix) == [list(range(n)), *([i] for i in range(1, n))]
