"""Which steady state is reached, and which is left."""

import math

import numpy as np
import pytest

import numbad as nd
from numbad.ode.equilibrium import spans


def switch(t, y, dy, feed):
    """Two genes that inhibit each other."""
    dy[0] = feed / (1.0 + y[1] ** 2) - y[0]
    dy[1] = feed / (1.0 + y[0] ** 2) - y[1]


@pytest.mark.dear
@pytest.mark.parametrize("start", [(1.1, 1.0), (0.2, 0.9)])
def test_the_state_that_is_reached(start):
    """Of the three steady states at feed 3: (x, 1 / x) with x + 1 / x = 3, and one between them."""
    larger = 0.5 * (3.0 + math.sqrt(5.0))
    expected = (larger, 1.0 / larger) if start[0] > start[1] else (1.0 / larger, larger)
    found = nd.ode.steady_state(switch, np.array(start), (3.0,), inplace=True)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def logistic(t, y):
    return y * (1.0 - y)


@pytest.mark.deep
@pytest.mark.parametrize(("start", "end"), [(1e-9, 1.0), (0.0, 0.0)])
def test_a_state_that_repels_is_left(start, end):
    """Logistic growth from next to nothing, and from nothing."""
    found = nd.ode.steady_state(logistic, start)
    assert found[0] == pytest.approx(end, abs=1e-13)


@pytest.mark.parametrize(("least", "every"), [(1e-7, True), (1e-13, False), (0.0, False)])
def test_columns_that_span_the_space(least, every):
    """Of known singular values, which those of the columns at length 1 are not far from."""
    left, right = np.linalg.qr(np.sin(np.arange(200.0)).reshape(2, 10, 10))[0]
    square = left @ np.diag([*np.linspace(1.0, 2.0, 9), least]) @ right
    assert spans(1e6 * square) == every
    assert spans(np.zeros((2, 2))) is False
