"""A model and a data file brought together, and the place that each complaint names."""

import numpy as np
import pytest

from numbad.data import read_table
from numbad.errors import DataError, ModelError
from numbad.models import assemble, load_model


@pytest.fixture
def problem(write):
    def build(source, rows, **options):
        model, table = load_model(write(source)), read_table(write(rows, "mass.csv"))
        return assemble(model, table, **options)

    return build


TWO = """\
def rhs(t, y, rate):
    return -rate * y[0], rate * y[0]

p0 = dict(rate=0.5)
y0 = dict(mass=2, ash=0)
"""


def test_an_unobserved_component(problem):
    found = problem(TWO, "t,ash\n0,0\n1,0.75\n")
    assert found.t.tolist() == [0.0, 1.0]
    assert found.observed == ("ash",)
    assert found.y.tolist() == [[0.0], [0.75]]
    assert found.sigma is None


def test_columns_are_mapped_and_ordered_by_component(problem):
    source = TWO + "observed = dict(a='ash', m='mass')\nsigma = dict(ash='sd', mass=3)"
    found = problem(source, "a,t,m,sd\n1,10,2,.1\n3,11,4,.2\n,12,5,\n", time="t")
    assert found.observed == ("mass", "ash")
    np.testing.assert_array_equal(found.y, [[2.0, 1.0], [4.0, 3.0], [5.0, np.nan]])
    assert found.sigma["mass"] == 3
    np.testing.assert_array_equal(found.sigma["ash"], [0.1, 0.2, np.nan])


@pytest.mark.parametrize(
    ("more", "rows", "complaint"),
    [
        ("", "t,x\n0,1\n", "line 1: no column is named like a component"),
        ("", "mass,x\n0,1\n", "line 1: the column 'mass' is taken for the times, .*: --time x"),
        ("observed = dict(m='mass')", "t,x\n0,1\n", "line 1: there is no column 'm'"),
        ("", "t,mass\n0,\n1,\n", "line 1, column 'mass': every observation is missing"),
        ("", "t,mass\n0,1\n1,many\n", "line 3, column 'mass': 'many' is not a number"),
        ("", "t,mass\n0,1\n,2\n", "line 3, column 't': is missing"),
        ("experiment = 'run'", "t,mass\n0,1\n", "line 1: there is no column 'run'"),
        ("sigma = dict(mass='sd')", "t,mass\n0,1\n", "line 1: there is no column 'sd'"),
        ("sigma = dict(mass='sd')", "t,mass,sd\n0,1,0\n", "line 2, column 'sd': 0 is not pos"),
        ("sigma = dict(mass='sd')", "t,mass,sd\n0,1,\n", "line 2, column 'sd': is missing"),
    ],
)
def test_unusable_data(problem, more, rows, complaint):
    with pytest.raises(DataError, match=f"mass.csv, {complaint}"):
        problem(TWO + more, rows)


def test_a_column_that_is_asked_for_as_times_is_not_called_the_first(problem):
    with pytest.raises(DataError, match="no column is named like a component of the model"):
        problem(TWO, "x,mass\n0,1\n1,2\n", time="mass")


def test_log_scale_needs_positive_observations(problem):
    rows = "t,mass\n0,1\n1,\n2,0\n"
    assert problem(TWO, rows).y[2, 0] == 0.0
    with pytest.raises(DataError, match="line 4, column 'mass': 0 has no logarithm"):
        problem(TWO, rows, scale="log")


def test_sigma_for_one_component_only(problem):
    with pytest.raises(ModelError, match="sigma has no entry for 'ash'"):
        problem(TWO + "sigma = dict(mass=1)", "t,mass,ash\n0,1,2\n")
