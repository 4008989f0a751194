"""exp where its results are subnormal."""

import numpy as np

from tests.elementary.compiled import of_arrays
from tests.elementary.test_accuracy import _errors


def test_subnormal_results_of_exp():
    x = np.linspace(-745.1, -708.0, 400)
    assert _errors("exp", (x,), of_arrays("exp")(x)).max() < 0.8
    assert of_arrays("exp")(np.array([-745.2]))[0] == 0.0
