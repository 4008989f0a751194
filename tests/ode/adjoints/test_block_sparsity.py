"""Sparse systems of several stages at once, against the same written out."""

import numpy as np
import pytest
from numba import njit

from numbad.ode.adjoints.block_sparsity import factor_width, in_blocks, widest
from numbad.ode.adjoints.transposed import factor, solve_transposed
from numbad.ode.methods import METHODS
from numbad.ode.sparsity_pattern import checked_sparsity
from tests.ode.adjoints.test_rosenbrock_adjoint import BAND
from tests.ode.grids import grid_pattern

PER, H = 3, 0.3
A = np.array(METHODS["RadauIIA5"].a)


@njit
def solved(sparsity, jacobians, a, h, x):
    """The solution with the transpose of I - h (a_ij J_i), each J_i with a column for each colour."""
    n, count = len(sparsity.colours), sparsity.widths[2]
    block = in_blocks(sparsity, PER)
    system = np.empty((PER * n, widest(block, PER * n)))
    for i in range(PER):
        for j in range(PER):
            for r in range(n):
                for c in range(count):
                    system[i * n + r, j * count + c] = a[i, j] * jacobians[i, r, c]
    LU, exchanges = np.empty((PER * n, factor_width(block, PER * n))), np.empty(PER * n, np.intp)
    factor(LU, exchanges, system, None, block, h, 1.0)
    solve_transposed(LU, exchanges, system, block, h, x)
    return LU.shape[1]


PATTERNS = {"band": BAND, "full": np.ones((12, 12)), "low fill": grid_pattern(12, 12).toarray()}
# A band stays one, of eleven diagonals and what exchanges add; others take the matrix.
WIDTHS = {"band": 3 * 5 + 1, "full": 36, "low fill": 3 * 72 - 2}


@pytest.mark.dear
@pytest.mark.deep(but=["band", "low fill"])
@pytest.mark.parametrize("name", PATTERNS)
def test_transposed_systems(name):
    pattern = PATTERNS[name]
    given, n = checked_sparsity(pattern), len(pattern)
    assert type(given).__name__.startswith("LowFill") == (name == "low fill")
    sparsity = given._make(map(np.array, given))
    rng = np.random.default_rng(5)
    dense = rng.normal(size=(PER, n, n)) * pattern
    jacobians = np.zeros((PER, n, sparsity.widths[2]))
    for r, c in zip(*np.nonzero(pattern), strict=True):
        jacobians[:, r, sparsity.colours[c]] = dense[:, r, c]
    system = np.eye(PER * n) - H * np.block(
        [[A[i, j] * dense[i] for j in range(3)] for i in range(3)]
    )
    x = rng.normal(size=PER * n)
    expected = np.linalg.solve(system.T, x)
    width = solved(sparsity, jacobians, A, H, x)
    np.testing.assert_allclose(x, expected, rtol=1e-10, atol=1e-12)
    assert width == WIDTHS[name]
