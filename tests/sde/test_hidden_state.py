"""Functions, options and data that do not fit a hidden state."""

import math

import numpy as np
import pytest

import numbad as nd
from numbad.sde import filters
from tests.sde.test_filters import AT, SEEN, TIMES, _drift, _error, _filter, _matrix, _observe


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"mean": (1.0,)}, "drift reads past the state, which has 1 entries"),
        ({"spread": (0.2,)}, r"spread gives 1 number\(s\); there are 2 entries of mean"),
        ({"noise": (0.1,)}, r"noise gives 1 number\(s\); there are 2 columns of y"),
        ({"noise": (0.1, 0.0)}, "noise holds standard deviations, which are positive"),
        ({"spread": (0.1, -1.0)}, "spread holds standard deviations"),
        ({"observe": lambda t, y, a, b, s: (y[0],)}, r"observe gives 1 number\(s\)"),
        ({"diffusion": lambda t, y, a, b, s: (s,)}, r"diffusion gives shape \(1,\)"),
        ({"mean": lambda a: (a, a)}, "cannot compile <lambda>.*\n.*\n.*too many"),
        ({"drift": lambda t, y, a, b, s: nothing}, "cannot compile <lambda>.*\n.*\n.*'nothing'"),  # noqa: F821
        ({"drift": lambda t, y, a, b, s: ((a, b), s)}, "drift fails at the start"),
        ({"noise": lambda a, b, s: 0.1}, r"noise must return a tuple or an array, such as \(x,\)"),
        ({"drift": lambda t, y, a, b, s: (math.nan, a)}, "drift is not finite at the start"),
    ],
)
def test_functions_that_do_not_fit(change, told):
    given = {"drift": _drift, "diffusion": _matrix, "observe": _observe, "noise": _error}
    given |= {"mean": (1.0, 0.5), "spread": (0.2, 0.3), **change}
    kalman = filters.extended_kalman(given.pop("drift"), given.pop("diffusion"), **given, dt=0.1)
    with pytest.raises(nd.ModelError, match=told):
        nd.fit.fit_sde(kalman, TIMES, SEEN, AT)


def test_options_and_data_that_do_not_fit():
    kalman = _filter(filters.extended_kalman)
    for t, y, told in (
        (TIMES[::-1], SEEN, "increase strictly"),
        (TIMES[:3], SEEN, "one entry for each observation"),
        (TIMES, np.full((15, 2), np.nan), "holds no observation"),
        (TIMES, np.where(np.isnan(SEEN), np.inf, SEEN), "y is infinite in row 3"),
    ):
        with pytest.raises(nd.DataError, match=told):
            nd.fit.fit_sde(kalman, t, y, AT)
    with pytest.raises(nd.ArgumentError, match="the drift takes a, b, s; p0 gives a, b"):
        nd.fit.fit_sde(kalman, TIMES, SEEN, {"a": 1.0, "b": 1.0})
    with pytest.raises(nd.ArgumentError, match="dt must be positive"):
        _filter(filters.extended_kalman, dt=0.0)
    with pytest.raises(nd.ArgumentError, match="mean is a sequence of numbers"):
        filters.extended_kalman(_drift, _matrix, mean="a", spread=(1.0,), noise=(1.0,), dt=0.1)
