"""How a fit keeps the options of its solver."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from numbad.fit.problem import Solving, as_entries
from numbad.fit.store import _load_solving
from numbad.ode.sparsity_pattern import checked_sparsity


@pytest.mark.parametrize("form", [np.array, csr_array, np.ndarray.tolist])
def test_a_pattern_is_kept_by_its_entries(form):
    """Of 1000 components, also in a file."""
    pattern = np.eye(1000, dtype=int) + np.eye(1000, k=3, dtype=int)
    solving = Solving(jac_sparsity=as_entries(form(pattern)), mass_matrix=((2.0, 0.0), (0.0, 0.0)))
    text = json.dumps(solving._asdict())
    assert len(text) < 30_000
    for kept in (solving, _load_solving(json.loads(text))):
        options = kept.options()
        np.testing.assert_array_equal(options["jac_sparsity"].toarray(), pattern)
        np.testing.assert_array_equal(options["mass_matrix"], [[2.0, 0.0], [0.0, 0.0]])
        assert kept == solving


def test_rows_in_tuples():
    """Three of them SciPy would read as values, columns and where rows begin."""
    rows = (1, 0, 0), (0, 1, 0), (0, 1, 1)
    kept = Solving(jac_sparsity=as_entries(rows)).options()["jac_sparsity"]
    np.testing.assert_array_equal(kept.toarray(), rows)
    assert checked_sparsity(rows) == checked_sparsity(np.array(rows))


def test_what_is_no_matrix_is_kept_for_the_solver_to_tell_of():
    assert as_entries("banded") == "banded"
    ragged = Solving(mass_matrix=as_entries([[1.0, 0.0], [0.0]]))
    assert ragged.options()["mass_matrix"] == ((1.0, 0.0), (0.0,))
    assert as_entries(None) is None
