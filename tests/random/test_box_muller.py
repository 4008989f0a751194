"""Normal numbers of a block, exact to rounding."""

import numpy as np

from numbad.random.box_muller import normal_pair, open_unit
from tests.random.test_philox import _ONES


def test_box_muller_is_exact_to_rounding():
    words = np.random.default_rng(0).integers(0, 2**32, (2000, 4), dtype=np.uint32)
    words[:4] = [[0] * 4, [_ONES] * 4, [0, 0, _ONES, _ONES], [_ONES, _ONES, 0, 0]]
    u = np.array([open_unit(a, b) for a, b, _, _ in words])
    v = np.array([open_unit(c, d) for _, _, c, d in words])
    assert (0.0 < u).all()
    assert (u < 1.0).all()
    radius, angle = np.sqrt(-2.0 * np.log(u)), 2.0 * np.pi * (v - np.round(v))
    pairs = np.array([normal_pair(*row) for row in words])
    np.testing.assert_allclose(pairs[:, 0], radius * np.cos(angle), rtol=0, atol=2e-15)
    np.testing.assert_allclose(pairs[:, 1], radius * np.sin(angle), rtol=0, atol=2e-15)
