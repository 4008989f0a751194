"""Levy areas: their law given increments, Chen's relation, and methods of strong order 1 that take them."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.sde.brownian import increments
from numbad.sde.levy_area import levy_increments, pair_count

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
