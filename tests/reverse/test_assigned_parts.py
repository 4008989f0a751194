"""Expressions that are written where they are assigned, unless they read what they would write to."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.reverse.ops.array import Fresh
from tests.complex_steps import by_complex_steps
from tests.reverse.stages import sweep_of


def apart(u, v):
    w = u.copy()
    w[1:] = 2.0 * v[:-1] * v[1:]
    w[:-1] -= 0.5 * (v[1:] + u[1:])
    w *= np.exp(-v)
    return (w * w).sum()


def shifted(u, v):
    w = u.copy()
    w[1:] = 2.0 * w[:-1] * v[1:]
    w[:-1] -= 0.5 * (w[1:] + v[1:])
    return (w * w).sum()


def shifted_by_another_name(u, v):
    w = u.copy()
    x = w[:]
    w[1:] = 2.0 * x[:-1] * v[1:]
    x[:-1] -= 0.5 * (w[1:] + v[1:])
    return (w * w).sum()


def shifted_in_another_shape(u, v):
    w = u.copy()
    x = w.reshape(u.size)
    w[1:] = 2.0 * x[:-1] * v[1:]
    return (w * w).sum()


def shifted_in_a_tuple(u, v):
    w = u.copy()
    pair = (w, v)
    w[1:] = 2.0 * pair[0][:-1] * pair[1][1:]
    return (w * w).sum()


def shifted_by_a_branch(u, v):
    w = u.copy()
    x = w if u[0] > -10.0 else v
    w[1:] = 2.0 * x[:-1] * v[1:]
    return (w * w).sum()


@njit
def same(x):
    return x


def shifted_by_a_callee(u, v):
    w = u.copy()
    w[1:] = 2.0 * same(w)[:-1] * v[1:]
    return (w * w).sum()


def turned(u, v):
    w = np.outer(u, v)
    w[1:] = 2.0 * w.T[1:] * v
    return (w * w).sum()


def taken_by_a_list(u, v):
    w = u.copy()
    kept = [w, v]
    w[1:] = 2.0 * kept[0][:-1] * v[1:]
    return (w * w).sum()


def turned_onto_itself(u, v):
    w = u * v
    w[::-1] = w
    w[...] = w[::-1] * u
    x = w if u.size > 2 else u
    x[::-1] = w
    return (w * np.exp(u)).sum()


def numbers_of_a_row(u, v):
    """An expression of fewer axes is computed once, not for each row."""
    w = 0.0 * np.outer(np.ones(3), u)
    w[:, :] = np.sin(u) * v
    w[1, :] += np.cos(v) * u
    return (w * w).sum()


OVERLAPPING = (
    shifted,
    shifted_by_another_name,
    shifted_in_another_shape,
    shifted_in_a_tuple,
    shifted_by_a_branch,
    shifted_by_a_callee,
    turned,
    taken_by_a_list,
    turned_onto_itself,
)


def _copied(f):
    """NumPy computes the right-hand side first."""

    def plain(*arrays):
        return f(*(a.copy() for a in arrays))

    return plain


@pytest.mark.parametrize("f", [apart, *OVERLAPPING, numbers_of_a_row])
def test_values_and_gradients(f):
    u, v = np.random.default_rng(3).normal(size=(2, 5))
    used = _shifted_once if f in (shifted_by_a_branch, shifted_by_a_callee) else f
    expected = by_complex_steps(_copied(used), u, v)
    value, found = nd.value_and_grad(f, argnums=(0, 1), mode="reverse")(u, v)
    assert value == pytest.approx(used(u.copy(), v.copy()), rel=1e-14)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def _shifted_once(u, v):
    w = u.copy()
    w[1:] = 2.0 * w[:-1] * v[1:]
    return (w * w).sum()


@njit
def shifted_argument(u, v):
    u[1:] = 2.0 * v[:-1] * v[1:]
    return (u * u).sum()


def test_arguments_may_be_one_array():
    u = np.array([0.3, -1.2, 0.8, 0.5])
    expected = u.copy()
    expected[1:] = 2.0 * u[:-1] * u[1:]
    value, _ = nd.value_and_grad(lambda u: shifted_argument(u, u), mode="reverse")(u.copy())
    assert value == pytest.approx((expected * expected).sum(), rel=1e-14)


def made(f):
    u, v = np.random.default_rng(3).normal(size=(2, 5))
    sweep = sweep_of(f, SimpleNamespace(runs=[(u, v)], wrt=(0, 1)))
    return sum(isinstance(op, Fresh) for op in sweep.activity.every())


def test_an_expression_that_is_assigned_apart_makes_no_array():
    assert made(apart) == 1  # the copy
    assert made(shifted) == 3
    assert (
        made(numbers_of_a_row) == 4
    )  # zeros of two kinds, an outer product, and what all rows get
