"""Files of stochastic models."""

import numpy as np
import pytest

from numbad.data import read_table
from numbad.errors import DataError
from numbad.models import assemble_series, load_model

SEEN = """\
def drift(t, y, rate): return (-rate * y[0], 0.0)
def diffusion(t, y, rate): return 1.0, 1.0
likelihood = "unscented_kalman"
mean, spread, noise, dt = (0, 0), [1, 1], [0.1, 0.1], 0.5
p0 = dict(rate=1)
"""


def test_the_series_of_a_stochastic_model(write):
    table = read_table(write("day,a,b\n0,1,2\n1,,3\n", "data.csv"))
    model = load_model(write(SEEN))
    assert (model.likelihood, model.dt, model.p0) == ("unscented_kalman", 0.5, {"rate": 1.0})
    columns, t, y, experiments = assemble_series(model, table)
    assert (columns, experiments) == (["a", "b"], {})
    np.testing.assert_array_equal(t, [0.0, 1.0])
    np.testing.assert_array_equal(y, [[1.0, 2.0], [np.nan, 3.0]])
    columns, _, y, _ = assemble_series(
        load_model(write(SEEN + "observed = ['b', 'a']\n")), table, scale="log"
    )
    assert columns == ["b", "a"]
    np.testing.assert_array_equal(y, np.log([[2.0, 1.0], [3.0, np.nan]]))
    with pytest.raises(DataError, match="line 3, column 'a': 0 has no logarithm"):
        assemble_series(
            model, read_table(write("day,a,b\n0,1,2\n1,0,3\n", "zero.csv")), scale="log"
        )


def test_options_that_are_assigned_several_at_once(write):
    """They are read in files of SDEs, too."""
    model = load_model(
        write(
            "def drift(t, y, rate, vol):\n    return -rate * y\n"
            "def diffusion(t, y, rate, vol):\n    return vol\n"
            "p0 = dict(rate=0.5, vol=1.0)\n"
            "scale, fixed = 'log', ['rate']\n"
        )
    )
    assert model.options == {"scale": "log", "fixed": ["rate"]}
