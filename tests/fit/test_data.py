import numpy as np
import pytest

from numbad.errors import DataError
from numbad.fit.data import Observations, check_observations, read_series

NAN, INF = np.nan, np.inf
T = [0.0, 1.0, 2.0]


class Frame:
    """As much of a data frame as matters."""

    def __init__(self, **columns):
        self.columns = list(columns)
        self.table = np.column_stack(list(columns.values()))

    def __array__(self, dtype=None, copy=None):
        return np.array(self.table, dtype=dtype)


def read(t, y, sigma=None, observed=None, components=None, log=False, t0=None):
    series, shape, components = read_series(t, y, sigma, observed, components)
    check_observations(series, shape, log)
    start = min(s.times[0] for s in series) if t0 is None else t0
    return Observations(series, start, shape, log), components


def flat(*args, **kwargs):
    return [part.tolist() for part in read(*args, **kwargs)[0].flat]


def test_what_an_array_masks_is_missing():
    masked = np.ma.masked_array([[1, 4], [999, 5], [3, 999]], mask=[[0, 0], [1, 0], [0, 1]])
    assert flat(T, masked) == flat(T, [[1, 4], [NAN, 5], [3, NAN]])
    by_component = {0: masked[:, 0], 1: masked[:, 1]}
    assert flat(T, by_component) == flat(T, {0: [1, NAN, 3], 1: [4, 5, NAN]})


def test_masked_times_and_deviations_are_refused():
    masked = np.ma.masked_array([0.0, 1.0, 2.0], mask=[False, True, False])
    with pytest.raises(DataError, match=r"t\[1\] is nan"):
        read(masked, [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="sigma"):
        read(T, [1.0, 2.0, 3.0], sigma=masked + 1.0)


def test_a_table_is_read_column_by_column_without_the_missing():
    ts, row, component, value, weight = flat(T, [[1, 4], [NAN, 5], [3, NAN]])
    assert ts == T
    assert row == [0, 2, 0, 1]
    assert component == [0, 0, 1, 1]
    assert value == [1, 3, 4, 5]
    assert weight == [1, 1, 1, 1]


def test_components_with_times_of_their_own_equal_a_table_with_gaps():
    apart = {"b": ([0, 2], [4, 6]), "a": ([0, 1], [1, 2])}
    given = flat(None, apart, components=("a", "b"))
    also = flat({"a": [0, 1], "b": [0, 2]}, {"b": [4, 6], "a": [1, 2]}, components=("a", "b"))
    table = flat(T, [[4, 1], [NAN, 2], [6, NAN]], observed=["b", "a"], components=("a", "b"))
    assert given == also == table


def test_one_array_of_times_serves_all_components():
    assert flat(T, {0: [1, 2, 3], 1: [4, NAN, 6]}) == flat(T, [[1, 4], [2, NAN], [3, 6]])


def test_an_initial_time_before_the_data_is_a_row_of_its_own():
    ts, row, *_ = flat(T, [1, 2, 3], t0=-1.0)
    assert ts == [-1, 0, 1, 2]
    assert row == [1, 2, 3]


def test_log_scale_takes_logarithms():
    assert flat(T, [1, 2, 3], log=True)[3] == np.log([1, 2, 3]).tolist()


@pytest.mark.parametrize(
    ("sigma", "weight"),
    [
        (0.5, [2, 2, 2, 2]),
        ([0.5, 0.25], [2, 2, 4, 4]),
        ([[1, 0.5], [0.25, 0.2], [0.1, NAN]], [1, 10, 2, 5]),
        ([1, 0.5, 0.25], [1, 4, 1, 2]),
        ({0: [1, 0.5, 0.25], 1: 0.1}, [1, 4, 10, 10]),
    ],
)
def test_sigma_may_be_for_all_for_components_for_times_or_for_points(sigma, weight):
    given = flat(T, [[1, 4], [NAN, 5], [3, NAN]], sigma)[4]
    np.testing.assert_allclose(given, weight, rtol=1e-14)


def test_sigma_with_components_apart():
    y = {"a": ([0, 1], [1, 2]), "b": ([0, 2], [4, 6])}
    weight = flat(None, y, {"a": 0.5, "b": [0.25, 0.2]})[4]
    np.testing.assert_allclose(weight, [2, 2, 4, 5], rtol=1e-14)


def test_a_data_frame_names_the_components():
    observations, components = read(T, Frame(hare=[1, 2, 3], lynx=[4, 5, 6]))
    assert components == ("hare", "lynx")
    assert [s.label for s in observations.series] == ["hare", "lynx"]
    observations, _ = read(T, Frame(lynx=[4, 5, 6]), components=("hare", "lynx"))
    assert [s.component for s in observations.series] == [1]


@pytest.mark.parametrize("form", ["table", "apart"])
def test_arrange_puts_numbers_back_into_the_form_of_the_data(form):
    table = np.array([[1, 4], [NAN, 5], [3, NAN]])
    y = table if form == "table" else {"a": (T, table[:, 0]), "b": (T, table[:, 1])}
    observations, _ = read(None if form == "apart" else T, y)
    back = observations.arrange(observations.flat[3])
    if form == "table":
        np.testing.assert_array_equal(back, table)
    else:
        np.testing.assert_array_equal(np.column_stack([back["a"], back["b"]]), table)


def test_arrange_keeps_a_single_column_flat():
    observations, _ = read(T, [1, NAN, 3])
    np.testing.assert_array_equal(observations.arrange(np.array([7.0, 8.0])), [7, NAN, 8])


AB = ("a", "b")


@pytest.mark.parametrize(
    ("t", "y", "options", "said"),
    [
        (T, [1, 2, 3], {"sigma": "guess"}, "sigma: 'guess' is neither a number nor \"estimate\""),
        ([0, NAN, 1], [1, 2, 3], {}, r"t\[1\] is nan; times must be finite"),
        ([], [], {}, "t is empty: no observations"),
        (None, [1, 2], {}, "t: no times given"),
        ([[0, 1]], [1, 2], {}, r"t must be 1-D, it has shape \(1, 2\)"),
        (
            np.array(["1900-01-01"], "M8[D]"),
            [1],
            {},
            "t: .* real number .*datetime64.*; pass days since the first",
        ),
        (T, [1, 2], {}, r"y must have one row for each of the 3 times.*shape \(2,\)"),
        (T, np.ones((2, 3)), {}, r"it has shape \(2, 3\); give y\.T"),
        (T, ["1", "two", "3"], {}, "y: every entry must be a real number .*two"),
        (T, [1, 2j, 3], {}, "y: every entry must be a real number"),
        (T, [[1, 2], [3, INF], [4, 5]], {}, r"y\[1, 1\] \(y\[1\] at t = 1\) is inf; mark"),
        (T, [1, 0, 3], {"log": True}, r"y\[1\] \(y\[0\] at t = 1\) is 0; scale=.log."),
        (T, [1, -2, 3], {"log": True}, r"is -2; scale=.log. takes logarithms"),
        (T, [NAN, NAN, NAN], {}, "every entry is missing"),
        (T, [1, 2, 3], {"sigma": 0.0}, r"sigma\[0\] .* is 0; standard deviations must be positive"),
        (T, [1, 2, 3], {"sigma": [1, NAN, 1]}, r"sigma\[1\] \(y\[0\] at t = 1\) is nan"),
        (T, [1, 2, 3], {"sigma": [1, 2]}, r"sigma has shape \(2,\), which does not fit \(3, 1\)"),
        (T, [1, 2, 3], {"sigma": {"c": 1}}, "sigma: 'c' is not an observed component"),
        (T, [1, 2, 3], {"observed": ["c"], "components": AB}, "no component is called 'c', only a"),
        (T, [1, 2, 3], {"observed": ["a"]}, "'a' is a name, but the components have none"),
        (T, [1, 2, 3], {"observed": [0, 1]}, r"names 2 component\(s\), but y has 1"),
        (T, [1, 2, 3], {"observed": [True]}, "True is neither the index nor the name"),
        (T, [1, 2, 3], {"observed": [2], "components": AB}, "2 is neither the index nor the name"),
        (
            T,
            [[1, 2]] * 3,
            {"components": ("c",)},
            r"2 columns, and the model 1 component\(s\), c; say",
        ),
        (T, [[1, 2]] * 3, {"observed": [1, 1]}, r"component y\[1\] appears twice"),
        (None, {}, {}, "the dict is empty"),
        (None, {"a": [1, 2, 3]}, {}, r"y\['a'\] must be a pair \(times, values\) where t is None"),
        ({"a": T}, {"a": [1, 2, 3], "b": [1]}, {}, "t has no times for b"),
        (T, {"a": [1, 2]}, {}, r"a: 3 times, but values of shape \(2,\)$"),
        (T, {"a": (T, [1, 2, 3])}, {}, r"values of shape \(2, 3\); a pair .* goes with t=None"),
        (T, {"a": [1, 2, 3]}, {"observed": [0]}, "y is given by component"),
        (T, {"a": [1, 2, 3]}, {"sigma": [1, 2, 3]}, "give one number or a dict by component"),
        (T, {"a": [1, 2, 3]}, {"sigma": {"b": 1}}, "sigma: 'b' is not in y"),
        (T, {0: [1, 2, 3], "a": [1, 2, 3]}, {"components": AB}, "gives component a twice"),
        (None, {"a": ([0, 1], [1, INF])}, {}, r"y\[1\] \(a at t = 1\) is inf"),
    ],
)
def test_unusable_data_are_named(t, y, options, said):
    with pytest.raises(DataError, match=said):
        read(t, y, **options)
