"""Increments of wide steps, put together from those of narrow ones."""

import numpy as np

from numbad.sde.level_source import merged

from .problems import nested_paths


def test_wide_increments_are_those_of_the_brownian_motion():
    paths = nested_paths(2, 4, 2, paths=5)
    (ws, hs), (wide_ws, wide_hs) = ([np.moveaxis(a, 0, -1) for a in paths[k]] for k in (4, 2))
    starts, wide = np.arange(16) / 16, np.arange(4) / 4
    found = merged(ws, hs, np.full(16, 1 / 16), wide, np.full(4, 0.25), starts)
    np.testing.assert_allclose(found[0], wide_ws, rtol=1e-12)
    np.testing.assert_allclose(found[1], wide_hs, rtol=1e-12, atol=1e-15)
