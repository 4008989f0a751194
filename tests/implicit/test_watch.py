"""Functions that write to their arguments, which a search cannot have."""

import numpy as np
import pytest

import numbad as nd


def test_a_function_that_changes_its_arguments():
    def changes(x, a):
        a[0] += 1.0
        return x - 2.0 * a[0]

    with pytest.raises(nd.ArgumentError, match="changes its argument 'a'"):
        nd.root(changes, 1.0, (np.ones(1),), maxiter=1000)
    with pytest.raises(nd.ArgumentError, match="changes its argument 'a'"):
        nd.quad(changes, 0.0, 1.0, (np.ones(1),), 1.0, 1.0)
