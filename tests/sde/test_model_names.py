"""Damping and its integrals, which generated steps call by name, by mpmath."""

import mpmath
import numpy as np
import pytest

import numbad as nd
from numbad.sde.model_names import damped_integrals, damping


@pytest.mark.parametrize("x", [-0.7, -0.49, 0.0, 1e-6, 0.3, 0.49999, 0.5, 3.0])
def test_damped_integrals(x):
    def exact(x):
        e, x = mpmath.exp(-x), mpmath.mpf(x)
        p1 = (1 - e) / x
        return e, p1, (1 - p1) / x, 6 * (e * (x + 2) + x - 2) / x**3

    with mpmath.workdps(40):
        expected = exact(mpmath.mpf(x)) if x else (1.0, 1.0, 0.5, 1.0)
        np.testing.assert_allclose(damped_integrals(x), [float(v) for v in expected], rtol=2e-14)
        if x:
            slope = [
                float(mpmath.diff(lambda z, k=k: exact(z)[k], mpmath.mpf(x))) for k in range(4)
            ]
            found = nd.derivative(damped_integrals)(x)
            np.testing.assert_allclose(found, slope, rtol=1e-12)


@pytest.mark.parametrize("x", [0.0, 9e-5, -9e-5, 0.3])
def test_the_exact_part_with_little_friction(x):
    """Value and derivatives of the root of (1 - exp(-2 x)) / (2 x), by mpmath."""

    def spread(x):
        return damping(x)[1]

    with mpmath.workdps(50):

        def exact(x):
            return mpmath.sqrt((1 - mpmath.exp(-2 * x)) / (2 * x)) if x else mpmath.mpf(1)

        value, slope = exact(mpmath.mpf(x)), mpmath.diff(exact, mpmath.mpf(x or 1e-20))
    assert spread(x) == pytest.approx(float(value), rel=1e-15)
    assert nd.derivative(spread)(x) == pytest.approx(float(slope), rel=1e-11)
