"""Implicit Runge-Kutta methods as data."""

import math

import numpy as np

from numbad.ode.implicit_tableau import collocation
from numbad.ode.methods.radau_iia5 import RADAU_IIA5


def test_collocation_at_gauss_nodes():
    """The method of order 4, Hairer & Wanner, II, IV.5, table 5.2."""
    root = math.sqrt(3.0) / 6.0
    a, interpolant = collocation((0.5 - root, 0.5 + root))
    np.testing.assert_allclose(a, [[0.25, 0.25 - root], [0.25 + root, 0.25]], atol=1e-15)
    np.testing.assert_allclose(np.sum(interpolant, axis=1), [0.5, 0.5], atol=1e-15)
    np.testing.assert_allclose(collocation(RADAU_IIA5.c)[0], RADAU_IIA5.a, atol=1e-15)
