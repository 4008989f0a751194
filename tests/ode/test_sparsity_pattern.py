"""Sparse Jacobians: bands, colours, the same steps as by a dense one, and what does not fit."""

import numba
import numpy as np
import pytest
import scipy.linalg

import numbad as nd
from numbad.errors import ArgumentError
from numbad.ode.sparsity_pattern import checked_sparsity


def brusselator(t, y, dy, p):
    """In one dimension, species interleaved: Hairer & Wanner, II, IV.10, (10.4)."""
    n = len(y) // 2
    spread = p[2] * (n + 1) ** 2
    for i in range(n):
        u, v = y[2 * i], y[2 * i + 1]
        left_u, left_v = (1.0, 3.0) if i == 0 else (y[2 * i - 2], y[2 * i - 1])
        right_u, right_v = (1.0, 3.0) if i == n - 1 else (y[2 * i + 2], y[2 * i + 3])
        dy[2 * i] = p[0] + u * u * v - (p[1] + 1.0) * u + spread * (left_u - 2.0 * u + right_u)
        dy[2 * i + 1] = p[1] * u - u * u * v + spread * (left_v - 2.0 * v + right_v)


@pytest.fixture(scope="module")
def diffusing():
    """A start, parameters, the pattern, and solvers: dense, and by the pattern."""
    options = dict(method="Rodas5P", inplace=True, rtol=1e-7, atol=1e-9)
    y, p = np.linspace(0.5, 3.0, 24), np.array([1.0, 3.0, 0.02])
    pattern = nd.sparsity(brusselator, 1, out=2)(0.0, y, np.empty_like(y), p)
    dense = nd.ode.solver(brusselator, **options)
    return y, p, pattern, dense, nd.ode.solver(brusselator, jac_sparsity=pattern, **options)


@pytest.mark.dear
def test_a_sparse_jacobian_gives_the_same_steps(diffusing):
    y, p, _, dense, banded = diffusing
    ts = np.linspace(0.0, 3.0, 4)
    np.testing.assert_allclose(banded(y, ts, (p,)), dense(y, ts, (p,)), rtol=1e-12)


@pytest.mark.deep
def test_derivatives_through_a_sparse_jacobian(diffusing):
    y, p, _, dense, banded = diffusing

    def by(solve):
        return nd.jacobian(lambda p: solve(y, (0.0, 2.0), (p,))[-1])(p)

    np.testing.assert_allclose(by(banded), by(dense), rtol=1e-10, atol=1e-12)


def test_components_in_any_order_have_a_narrow_band(diffusing):
    pattern = diffusing[2]
    mixed = np.random.default_rng(0).permutation(24)
    widths = checked_sparsity(pattern[mixed][:, mixed]).widths
    assert checked_sparsity(pattern).widths[:3] == (2, 2, 4)
    assert max(widths[:2]) <= 4


@pytest.mark.dear
def test_three_colours_take_dual_numbers_of_four_partials():
    """Heat in a rod, against its exponential and that of its slope by the rate."""
    n = 14
    A = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    assert type(checked_sparsity(A)).__name__ == "FewBanded"

    def rod(t, y, dy, rate):
        for i in range(n):
            left, right = (y[i - 1] if i > 0 else 0.0), (y[i + 1] if i < n - 1 else 0.0)
            dy[i] = rate * (left - 2.0 * y[i] + right)

    solve = nd.ode.solver(
        rod, method="Rodas5P", inplace=True, jac_sparsity=A, rtol=1e-9, atol=1e-12
    )
    start = np.arange(float(n))

    def end(rate):
        return solve(start, (0.0, 0.3), rate)[-1]

    exact = scipy.linalg.expm(0.3 * 40.0 * A) @ start
    np.testing.assert_allclose(end(40.0), exact, rtol=1e-7)
    slope = nd.jacobian(end, mode="reverse")(40.0)
    np.testing.assert_allclose(slope, 0.3 * A @ exact, rtol=1e-6, atol=1e-9)


@pytest.mark.deep
def test_the_band_of_solve_ivp(diffusing):
    y, p, pattern, _, _ = diffusing

    def fun(t, y, p):
        dy = np.empty_like(y)
        brusselator_compiled(t, y, dy, p)
        return dy

    given = dict(method="BDF", args=(p,), rtol=1e-7, atol=1e-9)
    by_widths = nd.ode.solve_ivp(fun, (0.0, 1.0), y, lband=2, uband=2, **given)
    by_pattern = nd.ode.solve_ivp(fun, (0.0, 1.0), y, jac_sparsity=pattern, **given)
    np.testing.assert_array_equal(by_widths.y[:, -1], by_pattern.y[:, -1])


brusselator_compiled = numba.njit(brusselator)


@pytest.mark.dear
@pytest.mark.parametrize(
    ("pattern", "error", "message"),
    [
        (np.eye(24), nd.IntegrationError, "entries that are not in jac_sparsity"),
        (np.eye(23), ArgumentError, "a row and a column for each component"),
        (np.ones((2, 3)), ArgumentError, "must be a square matrix"),
    ],
)
def test_patterns_that_do_not_fit(diffusing, pattern, error, message):
    y, p = diffusing[:2]
    with pytest.raises(error, match=message):
        nd.ode.solver(brusselator, method="Rodas5P", inplace=True, jac_sparsity=pattern)(
            y, (0.0, 1.0), (p,)
        )


@pytest.mark.dear
def test_a_pattern_without_entries():
    solve = nd.ode.solver(
        lambda t, y: 0.0 * y + np.cos(t), method="Rodas5P", jac_sparsity=np.zeros((3, 3), bool)
    )
    np.testing.assert_allclose(solve(np.ones(3), (0.0, 1.0))[-1], 1.0 + np.sin(1.0), rtol=1e-6)
