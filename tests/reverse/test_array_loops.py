"""Assignments of arrays to parts of others, element by element."""

from types import SimpleNamespace

import numpy as np
import pytest

import numbad as nd
from numbad.reverse.ops.array import Fresh
from tests.reverse.stages import sweep_of


def assigned_to_a_row(y):
    rows = np.zeros((3, 5))
    rows[0, :] = (y * y).reshape(1, 5)
    rows[1] = y.reshape(1, 1, 5)
    rows[:, 1:] = rows[::-1, 1:].copy().reshape(1, 3, 4)
    return rows[2, 4] * rows[0, 0] + rows[1, 2]


def test_axes_of_length_one_in_front_of_what_is_assigned():
    y = np.arange(1.0, 6.0)
    expected = np.zeros(5)
    expected[0], expected[4], expected[2] = 2.0 * y[0] * y[4] ** 2, y[0] ** 2 * 2.0 * y[4], 1.0
    np.testing.assert_allclose(nd.grad(assigned_to_a_row, mode="reverse")(y), expected)


def test_axes_of_another_length_are_refused_as_numba_does():
    def wrong(y):
        rows = np.zeros(5)
        rows[:] = y.reshape(5, 1)
        return rows[4]

    with pytest.raises(ValueError, match="cannot assign slice"):
        nd.grad(wrong, mode="reverse")(np.ones(5))


def steps_of_a_wave(u, v):
    for _ in range(3):
        u[1:-1, 1:] -= 0.3 * (v[2:, 1:] - v[:-2, :-1])
        v[:-1] += 0.2 * u[1:] * u[:-1]
    return (u * v).sum()


def steps_of_a_wave_by_elements(u, v):
    n, m = u.shape
    for _ in range(3):
        for i in range(1, n - 1):
            for j in range(1, m):
                u[i, j] -= 0.3 * (v[i + 1, j] - v[i - 1, j - 1])
        for i in range(n - 1):
            for j in range(m):
                v[i, j] += 0.2 * u[i + 1, j] * u[i, j]
    return (u * v).sum()


def _by_complex_steps(f, *arrays):
    found = []
    for k, a in enumerate(arrays):
        slopes = np.empty(a.shape)
        for where in np.ndindex(a.shape):
            given = [b.astype(complex) for b in arrays]
            given[k][where] += 1e-30j
            slopes[where] = f(*given).imag / 1e-30
        found.append(slopes)
    return found


def test_parts_that_are_added_to():
    """Neither the parts nor what is added to them are copied, and steps need no record but of the arrays."""
    u, v = np.random.default_rng(0).normal(size=(2, 6, 5))
    expected = _by_complex_steps(steps_of_a_wave_by_elements, u, v)
    found = nd.grad(steps_of_a_wave, argnums=(0, 1), mode="reverse")(u.copy(), v.copy())
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    sweep = sweep_of(steps_of_a_wave, SimpleNamespace(runs=[(u, v)], wrt=(0, 1)))
    made = [op for op in sweep.activity.every() if isinstance(op, Fresh)]
    assert len(made) == 2  # an expression each; not the parts again, nor copies of them


def repeated_axes(column, row, number):
    table = np.zeros((4, 3))
    table[:, :] = column * row + np.exp(-number * column)
    table[1:3] += row
    table *= column
    return (table * table).sum()


def test_axes_that_are_repeated():
    column, row = np.linspace(0.3, 1.2, 4).reshape(4, 1), np.array([0.5, -0.7, 1.1])
    expected = _by_complex_steps(repeated_axes_by_numpy, column, row)
    found = nd.grad(repeated_axes, argnums=(0, 1), mode="reverse")(column, row, 0.4)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def repeated_axes_by_numpy(column, row):
    table = column * row + np.exp(-0.4 * column)
    table[1:3] += row
    table = table * column
    return (table * table).sum()


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (lambda a, b: (a * b).sum(), "unable to broadcast argument"),
        (lambda a, b: (np.exp(a) - b * b).sum(), "unable to broadcast argument"),
        (lambda a, b: np.add(a, b)[:].sum(), "unable to broadcast argument"),
    ],
)
def test_axes_that_do_not_fit(operation, message):
    """As without derivatives, where the axes have lengths of which neither is one."""
    for mode in ("forward", "reverse"):
        with pytest.raises(ValueError, match=message):
            nd.grad(operation, mode=mode)(np.ones(3), np.ones(4))
    assert nd.grad(operation, mode="reverse")(np.ones(3), np.ones(1)).shape == (3,)
    assert nd.grad(operation, mode="reverse")(np.ones(0), np.ones(1)).shape == (0,)
