"""Problems whose shapes or whose noise are not what was said."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.sde.test_refusals import KEY, TIMES, _drift, _unit


@njit
def _growing(t, y):
    return 0.2 * y


@njit
def _two(t, y):
    return -y[0], -y[1]


@njit
def _coupled(t, y):
    return 0.3 * y[1], 0.2


@pytest.mark.dear
@pytest.mark.parametrize(
    ("functions", "y0", "options", "told"),
    [
        ((_drift, _growing), 1.0, {"noise": "additive"}, "derivative of this one by y is not zero"),
        ((_two, _coupled), (1.0, 2.0), {"method": "Milstein"}, r"depends on y\[i\] alone"),
        ((_two, _coupled), (1.0, 2.0), {"method": "RKMil"}, r"depends on y\[i\] alone"),
        ((_two, _two), (1.0, 2.0), {"noise": "general"}, "must return a matrix with a row"),
        ((_drift, _two), (1.0, 2.0), {}, "cannot compile"),
        ((_two, lambda t, y: (1.0,)), (1.0, 2.0), {}, "diffusion must return 2 number"),
        (
            (_two, lambda t, y: ((1.0,), (2.0, 3.0))),
            (1.0, 2.0),
            {"noise": "general"},
            "a tuple of 2 rows",
        ),
        ((lambda t, y: "a", _unit), 1.0, {}, "drift must return 1 number"),
        ((_drift, _unit), "a", {}, "y0 must be a float, a one-dimensional array"),
        ((_drift, _unit), 1.0 + 1.0j, {}, "y0 must be a float"),
        (
            (lambda t, y: y[:2], lambda t, y: y),
            np.ones(3),
            {},
            "drift must return an array of the length",
        ),
        (
            (lambda t, y: y, lambda t, y: y[::-1].copy()),
            np.ones(3),
            {"method": "Milstein"},
            "alone",
        ),
    ],
)
def test_problems(functions, y0, options, told):
    solve = nd.sde.solver(*functions, dt=0.25, **options)
    with pytest.raises(nd.ModelError, match=told):
        solve(y0, TIMES, (), KEY)
