"""Axes that are repeated, and those that do not fit."""

import numpy as np
import pytest

import numbad as nd
from tests.complex_steps import by_complex_steps


def repeated_axes(column, row, number):
    table = np.zeros((4, 3))
    table[:, :] = column * row + np.exp(-number * column)
    table[1:3] += row
    table *= column
    return (table * table).sum()


def repeated_axes_by_numpy(column, row):
    table = column * row + np.exp(-0.4 * column)
    table[1:3] += row
    table = table * column
    return (table * table).sum()


def test_axes_that_are_repeated():
    column, row = np.linspace(0.3, 1.2, 4).reshape(4, 1), np.array([0.5, -0.7, 1.1])
    expected = by_complex_steps(repeated_axes_by_numpy, column, row)
    found = nd.grad(repeated_axes, argnums=(0, 1), mode="reverse")(column, row, 0.4)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.parametrize(
    "operation",
    [
        lambda a, b: (a * b).sum(),
        lambda a, b: (np.exp(a) - b * b).sum(),
        lambda a, b: np.add(a, b)[:].sum(),
    ],
)
def test_axes_that_do_not_fit(operation):
    """As without derivatives, where the axes have lengths of which neither is one."""
    for mode in ("forward", "reverse"):
        with pytest.raises(ValueError, match="unable to broadcast argument"):
            nd.grad(operation, mode=mode)(np.ones(3), np.ones(4))
    assert nd.grad(operation, mode="reverse")(np.ones(3), np.ones(1)).shape == (3,)
    assert nd.grad(operation, mode="reverse")(np.ones(0), np.ones(1)).shape == (0,)
