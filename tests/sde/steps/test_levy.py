"""Methods with Levy areas: strong order 1, structures, ensembles."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.sde.problems import Equation, nested_paths
from tests.sde.test_convergence import LEVELS, SLACK, strong_errors
from tests.sde.test_levy_area import KEY, _area, _chen, _nothing


@njit
def _still(t, z):
    return 0.0, 0.0


@njit
def _curved(t, z):
    """z = (sinh(W_0 / 2), exp of a fifth of the integral of W_0 dW_1), in Stratonovich's calculus."""
    return (0.5 * math.sqrt(1.0 + z[0] ** 2), 0.0), (0.0, 0.4 * z[1] * math.asinh(z[0]))


@njit
def _ito_drift(t, z):
    """The same equation in Ito's calculus."""
    return 0.125 * z[0], 0.08 * z[1] * math.asinh(z[0]) ** 2


def _with_areas(channels, finest, coarsest):
    """As `nested_paths`, with Levy areas by Chen's relation in the place of H."""
    w, _ = nested_paths(channels, finest, coarsest)[finest]
    rng, h = np.random.default_rng(6), 2.0**-finest
    areas = rng.normal(size=(*w.shape[:2], 1)) * (0.5 * h)
    found = {finest: (w, areas)}
    for level in range(finest - 1, coarsest - 1, -1):
        w, areas = _chen(w, areas)
        found[level] = np.ascontiguousarray(w), np.ascontiguousarray(areas)
    return found


def _equation(drift, calculus):
    """The second component comes first, as `strong_errors` looks at that."""
    w, areas = _with_areas(2, 0 + LEVELS[-1], 0)[0]
    exact = np.exp(0.2 * (0.5 * w[:, 0, 0] * w[:, 0, 1] + areas[:, 0, 0]))

    @njit
    def f(t, y):
        a, b = drift(t, (y[1], y[0]))
        return b, a

    @njit
    def g(t, y):
        a, b = _curved(t, (y[1], y[0]))
        return b, a

    return Equation(f, g, (1.0, 0.0), (), "general", calculus, 2, lambda args, w: exact)


@pytest.mark.deep(but=["RKMilGeneral-ito", "LogODE-stratonovich"])
@pytest.mark.parametrize(
    ("method", "calculus"),
    [
        pytest.param("RKMilGeneral", "ito", id="RKMilGeneral-ito"),
        pytest.param("RKMilGeneral", "stratonovich", id="RKMilGeneral-stratonovich"),
        pytest.param("LogODE", "ito", id="LogODE-ito"),
        pytest.param("LogODE", "stratonovich", id="LogODE-stratonovich"),
        pytest.param("Heun", "stratonovich", id="Heun"),
    ],
)
def test_strong_order_for_noise_that_does_not_commute(method, calculus):
    equation = _equation(_ito_drift if calculus == "ito" else _still, calculus)
    errors = strong_errors(method, equation, _with_areas)
    order = np.polyfit(LEVELS, -np.log2(errors), 1)[0]
    if method == "Heun":  # which takes no areas: what the others are for
        assert order < 0.7
    else:
        assert order >= 1.0 - SLACK
        assert errors[-1] < 1e-3


@njit
def _array_nothing(t, y):
    return np.zeros(2)


@njit
def _array_curved(t, y):
    out = np.zeros((2, 3))
    out[0, 0], out[0, 2] = math.sqrt(1.0 + y[0] ** 2), 0.3 * y[1]
    out[1, 1], out[1, 2] = y[1] * math.asinh(y[0]), 0.1
    return out


@njit
def _tuple_curved(t, y):
    first = math.sqrt(1.0 + y[0] ** 2), 0.0, 0.3 * y[1]
    return first, (0.0, y[1] * math.asinh(y[0]), 0.1)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["RKMilGeneral", "LogODE"])
def test_arrays_and_tuples_agree(method):
    options = {"method": method, "noise": "general", "dt": 0.125}
    tuples = nd.sde.solver(_nothing, _tuple_curved, **options)
    arrays = nd.sde.solver(_array_nothing, _array_curved, **options)
    expected = tuples((0.1, 1.0), (0.0, 0.5, 1.0), (), KEY)
    found = arrays(np.array([0.1, 1.0]), (0.0, 0.5, 1.0), (), KEY)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.deep
def test_an_ensemble_takes_its_paths():
    """Mirrored paths have their increments' signs changed, their areas' not."""
    solve = nd.sde.solver(_nothing, _area, method="RKMilGeneral", noise="general", dt=0.25)
    last = njit(lambda ys: ys[-1, 1])
    for mirrored in (False, True):
        given = (0.0, 0.0), (0.0, 1.0), (), KEY, 40
        found = nd.sde.ensemble(solve, *given, reduce=last, antithetic=mirrored)
        count = 20 if mirrored else 40
        ends = [solve(*given[:3], (KEY, p))[-1, 1] for p in range(count)]  # even in W
        assert found.mean == pytest.approx(np.mean(ends), rel=1e-13)
