"""`np.clip` whose bounds are differentiated: numbers, arrays, one of each."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

X = np.array([0.5, -0.9, 0.2, -0.1])
LOW = np.array([-0.2, -0.3, -0.4, 0.0])


def by_number(x):
    return np.clip(x, LOW, x[0]).sum()


def by_arrays(x):
    return np.clip(x, 2.0 * x[0] * LOW, x[::-1]).sum()


def rows(x):
    return np.clip(x.reshape(2, 2), x[3], np.array([0.4, 0.1])).sum()


def below(x):
    return np.clip(x, None, x[2]).sum()


def into(x):
    out = np.empty(4)
    np.clip(x, LOW, x[0], out)
    return out.sum()


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("f", "gradient"),
    [
        (by_number, [1.0, 0.0, 1.0, 0.0]),  # 0.5, -0.3, 0.2, 0
        (by_arrays, [-0.6, 1.0, 0.0, 1.0]),  # x[3], 2 x[0] LOW[1], x[1], 2 x[0] LOW[3]
        (rows, [0.0, 0.0, 1.0, 2.0]),  # 0.4, x[3], x[2], x[3]
        (below, [0.0, 1.0, 2.0, 1.0]),
        (into, [1.0, 0.0, 1.0, 0.0]),
    ],
)
def test_gradient(f, gradient, mode):
    steps = 1e-6 * np.eye(4)
    compiled = njit(f)
    differences = [(compiled(X + step) - compiled(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(differences, gradient, atol=1e-8)
    np.testing.assert_allclose(nd.grad(f, mode=mode)(X), gradient, atol=1e-14)
