"""Eigenvectors that do not span."""

import numpy as np
import pytest

import numbad as nd
from tests.rules.linalg.test_edges import both

pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")


@pytest.mark.deep(but=["reverse"])
@both
def test_eigenvectors_that_do_not_span_raise(mode):
    with pytest.raises(np.linalg.LinAlgError, match="linearly independent"):
        nd.grad(lambda a: np.linalg.eigvals(a)[0], mode=mode)(np.array([[1.0, 1.0], [0.0, 1.0]]))
