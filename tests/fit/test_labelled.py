"""Values with labels, as pandas and xarray give them, go by label: here by objects that look like theirs."""

from dataclasses import dataclass

import numpy as np
import pytest

import numbad as nd
from numbad.fit.labelled import by_label, column_names


class Labelled(np.ndarray):
    """Numbers with the attributes that are asked for."""

    def __new__(cls, values, **attributes):
        made = np.asarray(values, float).view(cls)
        vars(made).update(attributes)
        return made

    def to_dict(self):
        raise AssertionError("labels are read off the index")


def series(**values):
    return Labelled(list(values.values()), index=list(values))


def frame(**columns):
    return Labelled(np.column_stack(list(columns.values())), columns=list(columns))


@dataclass
class Coordinate:
    values: list


def data_array(values, labels):
    return Labelled(values, dims=("t", "c"), coords={"c": Coordinate(labels)})


def test_names_are_taken_and_numbers_are_not():
    assert by_label(series(b=2.0, a=1.0)) == {"b": 2.0, "a": 1.0}
    plain = Labelled([1.0, 2.0], index=[0, 1])
    assert by_label(plain) is plain
    assert by_label(None) is None
    columns = by_label(frame(b=[1.0, 2.0], a=[3.0, 4.0]))
    np.testing.assert_array_equal(columns["a"], [3.0, 4.0])
    assert column_names(data_array([[1.0, 2.0]], ["b", "a"])) == ("b", "a")
    assert column_names(np.ones((2, 2))) is None


def decays(t, y, k, m):
    return -k * y[0], k * y[0] - m * y[1]


T = np.linspace(0.5, 4.0, 8)
DATA = {"gut": 9.0 * np.exp(-1.1 * T) + 0.1, "body": 8.0 * (np.exp(-0.3 * T) - np.exp(-1.1 * T))}


def fitted(p0, y0, sigma, y=None):
    given = {"t0": 0.0, "components": ["gut", "body"], "y0": y0, "sigma": sigma}
    return nd.fit.fit_ode(decays, T, frame(**DATA) if y is None else y, p0, **given).params


def test_a_fit_takes_them_by_label():
    expected = fitted({"k": 1.0, "m": 0.2}, {"gut": 10.0, "body": 0.0}, {"gut": 0.5, "body": 0.1})
    turned = data_array(np.column_stack([DATA["body"], DATA["gut"]]), ["body", "gut"])
    start = series(m=0.2, k=1.0), series(body=0.0, gut=10.0)
    assert fitted(*start, series(body=0.1, gut=0.5), turned) == pytest.approx(expected, rel=1e-12)
    spread = frame(body=np.full(8, 0.1), gut=np.full(8, 0.5))
    assert fitted(*start, spread) == pytest.approx(expected, rel=1e-12)


def test_a_component_without_sigma():
    with pytest.raises(nd.DataError, match="sigma says nothing of gut"):
        fitted({"k": 1.0, "m": 0.2}, {"gut": 10.0, "body": 0.0}, {"body": 0.1})
