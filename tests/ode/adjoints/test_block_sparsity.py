"""Sparse systems of several stages at once, against the same written out."""

import numpy as np
import pytest
from numba import njit

from numbad.ode.adjoints.block_sparsity import factor_width, in_blocks, widest
from numbad.ode.adjoints.transposed import factor, solve_transposed
from numbad.ode.methods import METHODS
from numbad.ode.sparsity_pattern import checked_sparsity
from tests.ode.adjoints.test_rosenbrock_adjoint import BAND

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


@pytest.mark.dear
@pytest.mark.deep(but=["True"])
@pytest.mark.parametrize("banded", [True, False])
def test_transposed_systems(banded):
    """A band stays one, of eleven diagonals and what exchanges add; other patterns have none."""
    pattern = BAND if banded else np.ones((12, 12))
    given = checked_sparsity(pattern)
    sparsity = given._make(map(np.array, given))
    rng = np.random.default_rng(5)
    dense = rng.normal(size=(PER, 12, 12)) * pattern
    jacobians = np.zeros((PER, 12, sparsity.widths[2]))
    for r, c in zip(*np.nonzero(pattern), strict=True):
        jacobians[:, r, sparsity.colours[c]] = dense[:, r, c]
    system = np.eye(36) - H * np.block([[A[i, j] * dense[i] for j in range(3)] for i in range(3)])
    x = rng.normal(size=36)
    expected = np.linalg.solve(system.T, x)
    width = solved(sparsity, jacobians, A, H, x)
    np.testing.assert_allclose(x, expected, rtol=1e-10, atol=1e-12)
    assert width == (3 * 5 + 1 if banded else 36)
