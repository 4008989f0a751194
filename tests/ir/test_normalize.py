"""Statements that Numba's IR says in many ways."""

from types import SimpleNamespace

import numpy as np
import pytest

import numbad as nd
from numbad.reverse.ops.array import Fresh
from tests.complex_steps import by_complex_steps
from tests.reverse.stages import sweep_of


def counted_by_floats(a, first, last):
    """Numba's `range` of floats runs over integers: it drops what stands behind the point."""
    total = 0.0
    for k in range(first, last):
        total += a[0] * a[1] * k
        a[0] = a[0] * a[1]
    return total


def _by_integers(a, first, last):
    total = 0.0
    for k in range(int(first), int(last)):
        total += a[0] * a[1] * k
        a[0] = a[0] * a[1]
    return total


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_range_of_floats(mode):
    gradient = nd.grad(counted_by_floats, 0, mode=mode)
    for first, last in ((1.7, 4.9), (-1.7, 2.0)):
        steps = 1e-30j * np.eye(2)
        a = np.array([1.3, 0.7])
        exact = [_by_integers(a + step, first, last).imag / 1e-30 for step in steps]
        np.testing.assert_allclose(gradient(a.copy(), first, last), exact, rtol=1e-14)


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


def test_parts_that_are_added_to():
    """Neither the parts nor what is added to them are copied, and steps need no record but of the arrays."""
    u, v = np.random.default_rng(0).normal(size=(2, 6, 5))
    expected = by_complex_steps(steps_of_a_wave_by_elements, u, v)
    found = nd.grad(steps_of_a_wave, argnums=(0, 1), mode="reverse")(u.copy(), v.copy())
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    sweep = sweep_of(steps_of_a_wave, SimpleNamespace(runs=[(u, v)], wrt=(0, 1)))
    made = [op for op in sweep.activity.every() if isinstance(op, Fresh)]
    assert len(made) == 2  # an expression each; not the parts again, nor copies of them


def part_moved(u, w):
    part = u[1:]
    part -= u[:-1] * w[1:]
    u[:-1] = part
    first = slice(0, 2)
    other = u[first]
    other *= w[first]
    w[first] = other
    return (u * w).sum()


def part_moved_by_copies(u, w):
    u[1:] = u[1:] - u[:-1] * w[1:]
    u[:-1] = u[1:].copy()
    u[:2] = u[:2] * w[:2]
    w[:2] = u[:2]
    return (u * w).sum()


def test_a_part_that_is_stored_elsewhere_is_stored():
    u, w = np.random.default_rng(1).normal(size=(2, 5))
    expected = by_complex_steps(part_moved_by_copies, u, w)
    found = nd.grad(part_moved, argnums=(0, 1), mode="reverse")(u.copy(), w.copy())
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
