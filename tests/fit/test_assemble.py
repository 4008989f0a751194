"""Arguments of `fit_ode` that cannot be used."""

import math

import pytest

from numbad.errors import DataError, ModelError
from numbad.fit import fit_ode

from . import models
from .models import COUNTS, HARE, YEARS
from .test_ode import NAN, fitted


def three_components(t, y, growth, predation, death, conversion):
    return y[0], y[1], growth


def untyped(t, y, rate):
    return (y[0].undefined * rate,)


T3 = [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"fun": three_components}, ModelError, "three_components returns 3 derivatives, but y"),
        ({"p0": [0.5, NAN, 1, 1]}, ModelError, "predation starts at nan"),
        ({"p0": [0.5, -1, 1, 1]}, ModelError, "predation starts at -1: start it above zero"),
        ({"p0": [1, 2]}, ModelError, "p0 has 2"),
        ({"y0": [1, NAN]}, ModelError, r"y0: y\[1\] is nan; it must be finite"),
        ({"y0": {"hare": math.inf, "lynx": 1}}, ModelError, "y0: hare is inf"),
        ({"y0": [1]}, ModelError, "y0 has 1 values, but component 1 is observed"),
        ({"y0": ["a", 1]}, ModelError, "y0: 'a' is neither a number nor the name of an entry of p0"),
        ({"y0": [1, 2], "components": ["a"]}, ModelError, "y0 has 2 values for 1 components"),
        ({"components": ["a", "a"]}, ModelError, "components: a name appears twice"),
        ({"y": HARE}, DataError, r"y has 1 column\(s\), but the state has 2 components: say"),
        ({"fit_y0": ["fox"]}, ModelError, "fit_y0: no component is called 'fox', only hare, lynx"),
        ({"fit_y0": [True, False]}, ModelError, "fit_y0: True is neither the index nor"),
        ({"fit_y0": [2], "y0": [1, 2]}, ModelError, "fit_y0: component 2 does not exist"),
        ({"bounds": {"growth": (1, 2)}}, ModelError, "growth starts at 0.5, outside its bounds"),
        ({"bounds": {"hare": (1, 2)}}, ModelError, r"hare\(1900\) starts at 30, outside"),
        ({"bounds": {"fox": (1, 2)}}, ModelError, "no unknown is called 'fox'; there are growth"),
        ({"starts": 3}, ModelError, "give growth a finite lower and upper bound"),
        ({"starts": 0}, ModelError, "starts must be a whole number, at least 1; got 0"),
        ({"seed": -1}, ModelError, "seed must be a whole number"),
        ({"scale": "sqrt"}, ModelError, 'scale must be "linear" or "log"'),
        ({"loss": "square"}, ModelError, "loss must be one of linear, soft_l1"),
        ({"rtol": 0.0}, ModelError, "rtol must be a number, positive; got 0"),
        ({"rtol": "tight"}, ModelError, "rtol must be a number, positive; got 'tight'"),
        ({"f_scale": -1.0}, ModelError, "f_scale must be a number, positive; got -1"),
        ({"ftol": None}, ModelError, "ftol must be a number, above 2.2e-16; got None"),
        ({"max_nfev": 0}, ModelError, "max_nfev must be a whole number above 0"),
        ({"t0": "start"}, DataError, "t0 must be a time not after"),
        ({"fit_y0": 2.5}, ModelError, "fit_y0: 2.5 is neither the index nor the name"),
        ({"bounds": 5}, ModelError, "bounds: expected a dict or pairs"),
        ({"sigma": [[1], [1, 2]]}, DataError, "sigma: every entry must be a real number"),
        ({"y0": 30.0}, ModelError, "y0 has 1 values, but component 1 is observed"),
        ({"sensitivity": "backward"}, ModelError, "sensitivity must be one of 'auto', 'forw"),
        ({"names": ["a"]}, ModelError, "names: 1 names for 4 parameters"),
        ({"t0": 1901.0}, DataError, "t0 must be a time not after the first observation, 1900"),
        ({"y": -COUNTS}, DataError, r"y\[0, 0\] \(hare at t = 1900\) is -30; scale=.log."),
        ({"sigma": -1}, DataError, "standard deviations must be positive"),
        ({"t": YEARS[:2], "y": COUNTS[:2]}, DataError, "4 observations cannot determine 6 unknown"),
        ({"t": [], "y": []}, DataError, "t is empty"),
        ({"y0": None, "components": ["hare", "lynx", "fox"], "observed": [0, 1]}, ModelError,
         "y0: fox is not observed at t = 1900; give y0$"),
        ({"method": "Euler"}, Exception, "Euler"),
    ],
)  # fmt: skip
def test_unusable_input_is_named(options, error, said):
    with pytest.raises(error, match=said):
        fitted(**options)


def test_other_unusable_input_is_named():
    with pytest.raises(ModelError, match="(?s)Numba cannot compile untyped.*undefined"):
        fit_ode(untyped, T3, [1.0, 2.0, 3.0], 1.0)
    with pytest.raises(ModelError, match="y0: y.0. is not observed at t = 0; give y0"):
        fit_ode(models.decay, T3, [NAN, 2.0, 3.0], 1.0)
    with pytest.raises(ModelError, match="nothing to fit"):
        fit_ode(lambda t, y: (-y[0],), T3, [1.0, 2.0, 3.0], [])
