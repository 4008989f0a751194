"""The places of LU factors that are not zero, against an elimination of numbers."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from numbad.ode.fill import fill_of, multiplications
from tests.ode.grids import grid_pattern


def eliminated(A):
    """The LU factors in one matrix, without exchanges, and how many multiplications they took."""
    A, count = A.copy(), 0
    for k in range(len(A)):
        for i in range(k + 1, len(A)):
            if A[i, k] != 0.0:
                A[i, k] /= A[k, k]
                A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
                count += np.count_nonzero(A[k, k + 1 :])
    return A, count


@pytest.mark.parametrize("pattern", ["grid", "random"])
def test_entries_of_the_factors(pattern):
    rng = np.random.default_rng(3)
    given = (
        grid_pattern(6, 5) if pattern == "grid" else random_array((40, 40), density=0.04, rng=rng)
    )
    given = csr_array(given != 0)
    given = csr_array((given + given.T + np.eye(given.shape[0])) != 0)
    fill, n = fill_of(given), given.shape[0]
    A = given.toarray() * rng.uniform(0.5, 1.5, (n, n)) + 40.0 * np.eye(n)
    LU, count = eliminated(A[np.ix_(fill.eliminated, fill.eliminated)])
    rows = np.repeat(np.arange(n), np.diff(fill.starts))
    np.testing.assert_array_equal(np.argwhere(LU), np.stack([rows, fill.columns], 1))
    np.testing.assert_array_equal(fill.columns[fill.diagonal], np.arange(n))
    np.testing.assert_array_equal(fill.place[fill.eliminated], np.arange(n))
    assert multiplications(fill) == count
    for p in range(n):
        for k in range(p, p + fill.alike[p]):
            np.testing.assert_array_equal(
                np.flatnonzero(LU[p, k + 1 :]), np.flatnonzero(LU[k, k + 1 :])
            )
    assert fill.alike.max() >= 4


def test_the_order_fills_little_in():
    """A hub that all are joined to goes last: no entry is filled in."""
    n = 50
    hub = np.eye(n)
    hub[0] = hub[:, 0] = 1.0
    assert len(fill_of(csr_array(hub)).columns) == 3 * n - 2
