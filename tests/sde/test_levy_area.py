"""Levy areas: their law given increments, Chen's relation, and methods of strong order 1 that take them."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.sde.brownian import increments
from numbad.sde.levy_area import levy_increments, pair_count

from .problems import Equation, nested_paths
from .test_convergence import LEVELS, SLACK, strong_errors

KEY = nd.random.key(21)
DT = 0.7


@njit
def _sample(key, steps, channels, dt):
    cells = np.arange(3, 3 + steps)
    parts = np.zeros((steps, 2))
    parts[:, 1] = 1.0
    ws, hs = increments(key, 5, cells, parts, dt, channels, True)
    again, areas = levy_increments(key, 5, cells, parts, dt, channels)
    return ws, hs, again, areas


@pytest.fixture(scope="module")
def sample():
    ws, hs, again, areas = _sample(KEY, 60_000, 3, DT)
    assert (again == ws).all()  # all methods see one Brownian path
    return ws, hs, areas


_PAIRS = [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize(("pair", "channels"), list(enumerate(_PAIRS)))
def test_the_law_of_an_area_given_increments(sample, pair, channels):
    """Variances of Foster's thesis. torchsde's areas have 0.332 and 0.219 at size 1 in place of 0.25."""
    ws, hs, areas = sample
    j, k = channels
    area, mean = areas[:, pair], hs[:, j] * ws[:, k] - ws[:, j] * hs[:, k]
    assert area.var() == pytest.approx(DT**2 / 4.0, rel=0.03)
    assert (area * mean).mean() / (mean**2).mean() == pytest.approx(1.0, abs=0.02)
    rest = area - mean
    assert rest.var() == pytest.approx(DT**2 / 12.0, rel=0.03)
    constant = np.ones(len(area))
    sizes = hs[:, j] ** 2 + hs[:, k] ** 2
    (base, slope), *_ = np.linalg.lstsq(np.stack([constant, sizes], 1), rest**2, rcond=None)
    assert base == pytest.approx(DT**2 / 20.0, rel=0.06)
    assert slope == pytest.approx(DT / 5.0, rel=0.12)


def test_areas_of_pairs_are_uncorrelated(sample):
    found = np.corrcoef(sample[2].T)
    np.testing.assert_allclose(found, np.eye(3), atol=0.02)


def _chen(w, areas):
    """Those of unions of two neighbouring steps, from arrays (paths, steps, channels or pairs)."""
    left, right = w[:, ::2], w[:, 1::2]
    cross = [
        left[..., j] * right[..., k] - left[..., k] * right[..., j]
        for j in range(w.shape[2])
        for k in range(j + 1, w.shape[2])
    ]
    return left + right, areas[:, ::2] + areas[:, 1::2] + 0.5 * np.stack(cross, -1)


def test_areas_add_up_by_chens_relation(sample):
    """The area of eight steps, put together, has the law of one: given W and H of them all."""
    ws, hs, areas = (x.reshape(-1, 8, 3) for x in sample)
    integrals = np.zeros((len(ws), 3))
    for k in range(8):
        integrals += DT * (ws[:, :k].sum(axis=1) + 0.5 * ws[:, k] + hs[:, k])
    w, whole = ws, areas
    for _ in range(3):
        w, whole = _chen(w, whole)
    w, area, h = w[:, 0], whole[:, 0, 0], integrals / (8.0 * DT) - 0.5 * w[:, 0]
    mean, size = h[:, 0] * w[:, 1] - w[:, 0] * h[:, 1], 8.0 * DT
    assert area.var() == pytest.approx(size**2 / 4.0, rel=0.08)
    assert (area * mean).mean() / (mean**2).mean() == pytest.approx(1.0, abs=0.06)
    assert (area - mean).var() == pytest.approx(size**2 / 12.0, rel=0.08)


def test_the_number_of_pairs():
    assert [pair_count(m) for m in (1, 2, 3, 4)] == [0, 1, 3, 6]


# -- methods -------------------------------------------------------------------------------------------


@njit
def _nothing(t, y):
    return 0.0, 0.0


@njit
def _area(t, y):
    """y[1] is the integral of W_0 dW_1."""
    return (1.0, 0.0), (0.0, y[0])


INCREMENTS = np.array([[0.3, 0.2], [-0.1, 0.4]]), np.array([[0.05], [-0.02]])


@pytest.mark.dear
@pytest.mark.parametrize("method", ["RKMilGeneral", "LogODE"])
def test_an_integral_of_one_motion_by_another(method):
    solve = nd.sde.solver(_nothing, _area, method=method, noise="general", dt=0.25)
    exact = 0.5 * 0.3 * 0.2 + 0.05 + 0.3 * 0.4 - 0.5 * 0.1 * 0.4 - 0.02
    found = solve((0.0, 0.0), (0.0, 0.5), (), INCREMENTS)[-1]
    np.testing.assert_allclose(found, [0.2, exact], rtol=1e-14)
    slope = nd.grad(lambda a: solve((0.0, 0.0), (0.0, 0.5), (), (INCREMENTS[0], a))[-1, 1])
    np.testing.assert_allclose(slope(INCREMENTS[1]), [[1.0], [1.0]], rtol=1e-12)


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


def test_what_is_refused():
    solve = nd.sde.solver(_nothing, _area, method="LogODE", noise="general", dt=0.25)
    with pytest.raises(nd.DataError, match="output times that are multiples of dt"):
        solve((0.0, 0.0), (0.0, 0.3), (), KEY)
    with pytest.raises(nd.ArgumentError, match="needs the Levy areas .* give \\(W, A\\)"):
        solve((0.0, 0.0), (0.0, 0.5), (), INCREMENTS[0])
    with pytest.raises(nd.DataError, match="a column for each channel"):
        solve((0.0, 0.0), (0.0, 0.5), (), (INCREMENTS[0], INCREMENTS[0]))
    last = njit(lambda ys: ys[-1, 1])
    with pytest.raises(nd.ArgumentError, match="multilevel has no Levy areas"):
        nd.sde.multilevel(solve, (0.0, 0.0), (0.0, 1.0), (), KEY, reduce=last, tolerance=0.1)
