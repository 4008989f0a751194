"""Elementary functions in vectors: against mpmath, and at special values."""

import math

import numpy as np
import pytest
from mpmath import mp

from tests.elementary.compiled import of_arrays

INF, NAN, TINY, NORMAL = math.inf, math.nan, 5e-324, 2.0**-1022
LARGE = 1.7976931348623157e308


def _spread(rng, low, high, n):
    """Numbers of either sign with exponents of ten from `low` to `high`."""
    return rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(low, high, n)


def _of_line(rng, n):
    return np.concatenate([rng.uniform(-2.0, 2.0, n), _spread(rng, -20, 1, n)])


def _of_angle(rng, n):
    near = np.rint(rng.uniform(0.0, 6e5, n)) * (np.pi / 2.0)  # where what is left of x is small
    return np.concatenate(
        [rng.uniform(-10.0, 10.0, n), rng.uniform(-1e6, 1e6, n), near, _spread(rng, 6, 300, n // 4)]
    )


def _of_power(rng, n):
    x = np.concatenate([rng.uniform(0.2, 4.0, n), 10.0 ** rng.uniform(-300, 300, n)])
    y = rng.uniform(-1.0, 1.0, 2 * n) * 707.0 / np.maximum(abs(np.log(x)), 1e-3)
    return x, y


ARGUMENTS = {
    "exp": lambda rng, n: np.concatenate([rng.uniform(-1, 1, n), rng.uniform(-745, 709.7, n)]),
    "expm1": lambda rng, n: np.concatenate([_of_line(rng, n), rng.uniform(-50, 709.7, n)]),
    "log": lambda rng, n: np.concatenate(
        [rng.uniform(0.5, 2, n), 10.0 ** rng.uniform(-320, 308, n)]
    ),
    "log1p": lambda rng, n: np.concatenate(
        [rng.uniform(-1, 2, n), 10.0 ** rng.uniform(-20, 308, n)]
    ),
    "sin": _of_angle,
    "cos": _of_angle,
    "tanh": _of_line,
    "erf": _of_line,
    "expit": lambda rng, n: np.concatenate([_of_line(rng, n), rng.uniform(-700, 40, n)]),
    "log_expit": lambda rng, n: np.concatenate([_of_line(rng, n), rng.uniform(-700, 700, n)]),
    "pow": _of_power,
}
MOST = {  # ulp: what asv_bench measured on 10^7 arguments, a little up
    "exp": 0.65,
    "expm1": 0.95,
    "log": 0.85,
    "log1p": 0.9,
    "sin": 0.8,
    "cos": 0.8,
    "tanh": 0.8,
    "erf": 0.98,
    "expit": 0.7,
    "log_expit": 1.4,
    "pow": 0.9,
}


def _exactly(name, *given):
    special = {
        "pow": mp.power,
        "expit": lambda x: 1 / (1 + mp.exp(-x)),
        "log_expit": lambda x: -mp.log1p(mp.exp(-x)),
    }
    function = special.get(name) or getattr(mp, name)
    return function(*(mp.mpf(float(v)) for v in given))


def _errors(name, given, found):
    """Distances from the truth in units of the last place of the truth."""
    with mp.workprec(220):
        truth = [_exactly(name, *v) for v in zip(*given, strict=True)]
        spacing = np.spacing(np.abs(np.array([float(v) for v in truth])))
        return np.array(
            [
                float(abs(mp.mpf(float(y)) - t) / mp.mpf(float(u)))
                for y, t, u in zip(found, truth, spacing, strict=True)
            ]
        )


@pytest.mark.parametrize("name", ARGUMENTS)
def test_within_one_ulp(name):
    given = ARGUMENTS[name](np.random.default_rng(5), 700)
    given = given if isinstance(given, tuple) else (given,)
    found = of_arrays(name)(*given)
    assert _errors(name, given, found).max() < MOST[name]


# C11, annex F; where it says nothing, the limit, rounded.
SPECIAL = {
    "exp": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (INF, INF),
        (-INF, 0.0),
        (NAN, NAN),
        (710.0, INF),
        (1e300, INF),
        (-746.0, 0.0),
        (-1e300, 0.0),
        (TINY, 1.0),
        (709.782712893384, 1.7976931348622732e308),
    ],
    "expm1": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, INF),
        (-INF, -1.0),
        (NAN, NAN),
        (TINY, TINY),
        (-TINY, -TINY),
        (710.0, INF),
        (-40.0, -1.0),
        (-1e300, -1.0),
        (1e300, INF),
    ],
    "log": [
        (1.0, 0.0),
        (0.0, -INF),
        (-0.0, -INF),
        (INF, INF),
        (-1.0, NAN),
        (-INF, NAN),
        (NAN, NAN),
        (TINY, -744.4400719213812),
        (LARGE, 709.782712893384),
    ],
    "log1p": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (-1.0, -INF),
        (-1.5, NAN),
        (INF, INF),
        (-INF, NAN),
        (NAN, NAN),
        (TINY, TINY),
        (-TINY, -TINY),
        (LARGE, 709.782712893384),
        (1e-300, 1e-300),
    ],
    "sin": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, NAN),
        (-INF, NAN),
        (NAN, NAN),
        (TINY, TINY),
        (-TINY, -TINY),
        (1e22, -0.8522008497671888),
        (LARGE, 0.004961954789184062),
    ],
    "cos": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (INF, NAN),
        (-INF, NAN),
        (NAN, NAN),
        (TINY, 1.0),
        (1e22, 0.5232147853951389),
        (LARGE, -0.9999876894265599),
    ],
    "tanh": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, 1.0),
        (-INF, -1.0),
        (NAN, NAN),
        (TINY, TINY),
        (-TINY, -TINY),
        (LARGE, 1.0),
        (-40.0, -1.0),
        (1e-200, 1e-200),
    ],
    "erf": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, 1.0),
        (-INF, -1.0),
        (NAN, NAN),
        (40.0, 1.0),
        (-LARGE, -1.0),
        (6.0, 1.0),
        (1e-300, 1.1283791670955126e-300),
    ],
}
SPECIAL["expit"] = [
    *((0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (LARGE, 1.0), (-LARGE, 0.0)),
    *((-745.0, TINY), (-710.0, 4.47628622567513e-309), (40.0, 1.0), (TINY, 0.5)),
]
SPECIAL["log_expit"] = [
    *((0.0, -math.log(2.0)), (INF, 0.0), (-INF, -INF), (NAN, NAN), (-LARGE, -LARGE), (-1e5, -1e5)),
    *((745.0, -TINY), (710.0, -4.47628622567513e-309), (LARGE, 0.0), (50.0, -math.exp(-50.0))),
]


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name):
    given, wanted = (np.array(v) for v in zip(*SPECIAL[name], strict=True))
    _assert_same(of_arrays(name)(given), wanted)


def _assert_same(found, wanted):
    """The same numbers, zeros with their signs; what is no end of the range may be off by its last place."""
    exact = (wanted == 0.0) | ~np.isfinite(wanted) | (abs(wanted) == 1.0)
    np.testing.assert_array_equal(found[exact], wanted[exact])
    np.testing.assert_array_equal(
        np.signbit(found[wanted == 0.0]), np.signbit(wanted[wanted == 0.0])
    )
    np.testing.assert_array_max_ulp(found[~exact], wanted[~exact], 1)
