"""The Brownian path behind a solution, asked for at any time."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.sde.test_brownian_tree import KEY

_TIMES = np.array([0.0, 0.31, 1.0, 1.75, 2.5])


def test_a_path_is_what_drives_a_solution():
    walk = nd.sde.solver(lambda t, y: 0.0, lambda t, y: 1.0, dt=0.25, noise="additive")
    for ts in (_TIMES, _TIMES - 1.3):
        w = nd.sde.brownian_path((KEY, 3), ts, dt=0.25)
        np.testing.assert_allclose(walk(w[0], ts, (), (KEY, 3))[:, 0], w, atol=1e-14)
    w, h = nd.sde.brownian_increments(KEY, _TIMES, dt=0.25)
    np.testing.assert_allclose(w, np.diff(nd.sde.brownian_path(KEY, _TIMES, dt=0.25)), atol=1e-14)
    assert h.shape == w.shape
    assert (
        nd.sde.brownian_path(KEY, _TIMES, 0.25, channel=1)
        != nd.sde.brownian_path(KEY, _TIMES, 0.25)
    )[1:].all()


@pytest.mark.dear
def test_a_path_has_the_same_bits_in_any_order_and_thread():
    ts = np.random.default_rng(1).uniform(-3.0, 3.0, 200)
    at_once = nd.sde.brownian_path(KEY, ts)
    assert (nd.sde.brownian_path(KEY, ts[::-1].copy())[::-1] == at_once).all()
    assert [nd.sde.brownian_path(KEY, float(t)) for t in ts] == list(at_once)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda t: nd.sde.brownian_path(KEY, t), ts)) == list(at_once)

    @njit
    def compiled(key, t, ts):
        w, _ = nd.sde.brownian_increments((key, 0), ts)
        return nd.sde.brownian_path(key, t), nd.sde.brownian_path((key, 0), ts)[1], w[0]

    t, (begin, end) = float(ts[0]), np.sort(ts[:2])
    inside = nd.sde.brownian_path(KEY, end), nd.sde.brownian_increments(KEY, (begin, end))[0][0]
    assert compiled(KEY, t, np.array([begin, end])) == (at_once[0], *inside)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_path_has_no_slope(mode):
    for path in (
        lambda t: nd.sde.brownian_path(KEY, t),
        lambda t: nd.sde.brownian_increments(KEY, (0.0, t))[1][0],
    ):
        with pytest.raises(nd.UnsupportedError, match="a Brownian path has no slope"):
            nd.grad(path, mode=mode)(0.5)


@pytest.mark.parametrize(
    ("key", "t", "options", "told"),
    [
        (3, 0.5, {}, r"takes a key or \(key, path\), not 3; make one"),
        ((KEY, 0.5), 0.5, {}, "takes a key or"),
        ((KEY, -1), 0.5, {}, "number of a path lies between"),
        (KEY, np.nan, {}, "times must be finite"),
        (KEY, 0.5, {"dt": 0.0}, "dt, the width .* must be positive"),
        (KEY, 0.5, {"channel": -1}, "channel is the number"),
    ],
)
def test_refusals(key, t, options, told):
    with pytest.raises(nd.NumbadError, match=told):
        nd.sde.brownian_path(key, t, **options)
