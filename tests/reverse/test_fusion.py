"""Array expressions in one loop, where nothing in them is differentiated as well."""

import numpy as np
import pytest

import numbad as nd

A = np.array([0.53, 1.47, -2.61, 0.77])


def penalty_of_an_argument(x, a):
    return x * x + (a * 2.0).sum()


def penalty_of_a_global(x, a):
    return x * x + (A * A).sum() * x


def penalty_of_an_array_made_here(x, a):
    b = np.zeros(3)
    return x * x + (b + 1.0).sum() * np.sum(b - 2.0)


def method_called_twice(x, a):
    total = (a * 3.0).sum
    return x * total() + total()


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (penalty_of_an_argument, 1.4),
        (penalty_of_a_global, 1.4 + np.sum(A * A)),
        (penalty_of_an_array_made_here, 1.4),
        (method_called_twice, 3.0 * A.sum()),
    ],
)
def test_expressions_without_a_derivative_are_summed(f, slope):
    assert nd.grad(f, mode="reverse")(0.7, A) == pytest.approx(slope, rel=1e-14)
