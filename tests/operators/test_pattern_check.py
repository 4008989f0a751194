"""Patterns that lack an entry are found."""

import numpy as np
import pytest
from scipy import sparse

import numbad as nd
from tests.operators.test_sparse import RING, N, X, by_complex_step, ring


@pytest.mark.parametrize("row", range(N))
def test_a_missing_entry_is_found(row):
    dense = RING.toarray()
    dense[row, (row + 1) % N] = 0.0
    jacobian = nd.jacobian(ring, sparsity=sparse.csr_array(dense))
    with pytest.raises(nd.SparsityError, match=f"row {row} "):
        jacobian(X)
    nd.jacobian(ring, sparsity=sparse.csr_array(dense), check_sparsity=False)(X)


def test_missing_entries_that_cancel_are_found():
    def f(x):
        y = 2.0 * x
        y[0] = x[0] + x[3] - x[4]
        return y

    jacobian = nd.jacobian(f, sparsity=sparse.eye_array(N))
    with pytest.raises(nd.SparsityError, match="row 0 "):
        jacobian(X)


def test_a_pattern_that_is_too_large_is_right():
    full = nd.jacobian(ring, sparsity=np.ones((N, N)))
    np.testing.assert_allclose(full(X).toarray(), by_complex_step(ring, X), rtol=1e-14)
