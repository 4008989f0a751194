"""Systems with a triangle."""

import numpy as np
import pytest

import numbad as nd
from numbad.rules.linalg.triangles import above, below

STEP = 1e-30


def draws(*shapes):
    draw = np.random.default_rng(8)
    return tuple(draw.uniform(-1.0, 1.0, shape) for shape in shapes)


# -- triangles -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solve", [below, above])
def test_systems_with_a_triangle(solve):
    low, b, weights, dlow, db = draws((3, 3), (3, 2), (3, 2), (3, 3), (3, 2))
    low += 2.0 * np.eye(3)

    def exact(step):
        matrix = np.tril(low + step * dlow)
        return np.linalg.solve(matrix if solve is below else matrix.T, b + step * db)

    value, (by_low, by_b) = nd.vjp(lambda low, b: solve(low, b))((low, b), weights)
    np.testing.assert_allclose(value, exact(0.0), rtol=1e-13)
    expected = (weights * exact(1j * STEP).imag / STEP).sum()
    np.testing.assert_allclose((by_low * dlow).sum() + (by_b * db).sum(), expected, rtol=1e-12)
    assert not np.triu(by_low, 1).any()
