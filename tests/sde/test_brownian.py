"""Brownian paths behind solutions: functions of key and time, one for all methods, of the right law."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.sde.test_solution_operator import KEY, W, _diffusion, _drift


def _path_of_w(ts):
    return W(0.0, np.array(ts), (), KEY)[:, 0]


# -- the path ------------------------------------------------------------------------------------------


def test_a_path_is_a_function_of_key_and_time():
    whole = _path_of_w((0.0, 1.0, 1.5, 2.0))
    later = _path_of_w((1.0, 1.5, 2.0))
    np.testing.assert_allclose(later, whole[1:] - whole[1], atol=1e-15)
    refined = _path_of_w((0.0, 0.3, 1.0, 1.4999, 1.5, 2.0))
    np.testing.assert_allclose(refined[[0, 2, 4, 5]], whole, atol=1e-14)
    assert abs(_path_of_w((0.0, 0.3))[1] - refined[1]) < 1e-15
    assert _path_of_w((-1.0, 0.0, 1.0))[2] != whole[1]
    assert W(0.0, np.array([0.0, 1.0]), (), (KEY, 0))[1, 0] == whole[1]
    assert W(0.0, np.array([0.0, 1.0]), (), (KEY, 1))[1, 0] != whole[1]


def test_methods_see_one_brownian_path():
    ends = [
        nd.sde.solver(_drift, _diffusion, method=m, dt=2.0**-10)(1.0, (0.0, 1.0), (0.1, 0.2), KEY)[
            -1, 0
        ]
        for m in ("Milstein", "SRIW1")
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-3)


def test_parts_of_a_cell_have_the_covariance_of_brownian_motion():
    """W and its integral at points within one cell, 20,000 paths."""
    from numbad.sde.brownian import _up_to

    @njit
    def sample(key, points, paths):
        out = np.empty((2 * points.size, paths))
        for p in range(paths):
            for i in range(points.size):
                out[2 * i, p], out[2 * i + 1, p] = _up_to(key, p, 0, 5, points[i], 2.0, None)
        return out

    points = np.array([0.1, 0.375, 0.8, 1.0])
    found = np.cov(sample(KEY, points, 20_000))
    expected = np.empty((8, 8))
    for i, s in enumerate(2.0 * points):
        for j, t in enumerate(2.0 * points):
            u, v = min(s, t), max(s, t)
            expected[2 * i, 2 * j] = u
            expected[2 * i, 2 * j + 1] = s * t - 0.5 * s**2 if s <= t else 0.5 * t**2
            expected[2 * i + 1, 2 * j] = expected[2 * i, 2 * j + 1] if i == j else 0.0
            expected[2 * i + 1, 2 * j + 1] = u**2 * (3.0 * v - u) / 6.0
    for i in range(4):
        for j in range(4):
            expected[2 * i + 1, 2 * j] = expected[2 * j, 2 * i + 1]
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    np.testing.assert_allclose(found / scale, expected / scale, atol=0.03)
