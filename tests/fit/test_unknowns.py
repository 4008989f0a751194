import numpy as np
import pytest

from numbad.errors import ModelError
from numbad.fit.unknowns import latin_hypercube, make_unknowns


def unknowns(bounds=None, log=False, start=(1.0, 2.0), names=("a", "b"), aliases=None):
    return make_unknowns(names, np.array(start), bounds, "log" if log else "linear", aliases)


def test_bounds_by_name_leave_the_others_free():
    made = unknowns({"b": (0.5, None)})
    np.testing.assert_array_equal(made.lower, [-np.inf, 0.5])
    np.testing.assert_array_equal(made.upper, [np.inf, np.inf])
    assert made.bounded
    assert not unknowns().bounded


def test_bounds_as_pairs_and_by_alias():
    made = unknowns([(0, 3), (None, 5)])
    np.testing.assert_array_equal(made.upper, [3, 5])
    made = unknowns({"hare": (1, 3)}, names=("a", "hare(1900)"), aliases={"hare": ("hare(1900)",)})
    np.testing.assert_array_equal(made.lower, [-np.inf, 1])


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"c": (0, 1)}, "no unknown is called 'c'; there are a, b"),
        ({"a": (2, 1)}, "bounds of a: 2 is above 1"),
        ({"a": (np.nan, 1)}, "bounds of a"),
        ({"a": 3}, "bounds of a: expected \\(low, high\\)"),
        ([(0, 1)], "1 pairs for 2 unknowns"),
        ({"b": (3, 4)}, "b starts at 2, outside its bounds \\[3, 4\\]"),
    ],
)
def test_unusable_bounds_name_the_unknown(bounds, said):
    with pytest.raises(ModelError, match=said):
        unknowns(bounds)


def test_log_scale_needs_a_positive_start():
    with pytest.raises(ModelError, match="b starts at -2: start it above zero"):
        unknowns(log=True, start=(1.0, -2.0))


def test_a_lower_bound_of_zero_is_none_on_the_log_scale():
    made = unknowns({"a": (0, 4)}, log=True)
    np.testing.assert_allclose(made.internal_bounds, [[-np.inf, -np.inf], [np.log(4), np.inf]])


def test_natural_values_stay_within_the_bounds():
    made = unknowns({"a": (0.1, 0.3)}, log=True, start=(0.2, 2.0))
    for edge in made.internal_bounds[:, 0]:
        assert 0.1 <= made.natural(np.array([edge, 0.0]))[0] <= 0.3


def test_names_must_differ():
    with pytest.raises(ModelError, match="two unknowns are called 'a'"):
        unknowns(names=("a", "a"))


@pytest.mark.parametrize("log", [False, True])
def test_latin_hypercube_has_one_start_in_every_stratum(log):
    made = unknowns({"a": (0.5, 8.0), "b": (1.0, 16.0)}, log=log)
    starts = latin_hypercube(made, 33, seed=5)
    np.testing.assert_array_equal(starts[0], [1.0, 2.0])
    low, high = made.internal_bounds
    strata = np.floor((made.internal(starts[1:]) - low) / (high - low) * 32).astype(int)
    for column in strata.T:
        np.testing.assert_array_equal(np.sort(column), np.arange(32))
    np.testing.assert_array_equal(starts, latin_hypercube(made, 33, seed=5))
    assert not np.array_equal(starts, latin_hypercube(made, 33, seed=6))


def test_several_starts_need_finite_bounds():
    with pytest.raises(ModelError, match="give b a finite lower and upper bound"):
        latin_hypercube(unknowns({"a": (0, 1)}), 3, seed=0)
    with pytest.raises(ModelError, match="give a a finite .* above zero"):
        latin_hypercube(unknowns({"a": (0, 1), "b": (1, 3)}, log=True), 3, seed=0)
