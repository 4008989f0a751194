"""Order conditions of tableaus, Roessler (2010), for diagonal and additive noise; weights of the others."""

import numpy as np
import pytest

from numbad.sde.methods import METHODS
from numbad.sde.scheme import AdditiveRoessler, DiagonalRoessler, RungeKutta


def _of(kind):
    return [pytest.param(s, id=s.name) for s in METHODS.values() if isinstance(s, kind)]


def _square(rows):
    n = len(rows)
    return np.array([[*row, *([0.0] * (n - len(row)))] for row in rows])


@pytest.mark.parametrize("scheme", _of(DiagonalRoessler))
def test_diagonal_noise(scheme):
    a0, a1, b0, b1 = map(_square, (scheme.a0, scheme.a1, scheme.b0, scheme.b1))
    alpha, betas = np.array(scheme.alpha), np.array(scheme.betas)
    e = np.ones(len(alpha))
    a, b, z = a1 @ e, b1 @ e, b0 @ e
    found = [
        *(betas @ e), *(betas @ b), *(betas @ a), *(betas @ b**2), *(betas @ (b1 @ b)),
        alpha @ e, alpha @ (a0 @ e), alpha @ z, alpha @ z**2,
        betas[0] @ (a1 @ z) / 2.0 + betas[2] @ (a1 @ z) / 3.0,
    ]  # fmt: skip
    expected = [
        1, 0, 0, 0, 0, 1, 0, 0, 1, 0, -1, 0, 1, 0, -1, 2, 0, 0, 0, 1,
        1, 0.5, 1, 1.5, 0,
    ]  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("scheme", _of(AdditiveRoessler))
def test_additive_noise(scheme):
    a0, b0 = _square(scheme.a0), _square(scheme.b0)
    a0 += scheme.gamma * np.diag(np.arange(len(a0)) > 0)
    alpha, (beta1, beta2), c1 = np.array(scheme.alpha), np.array(scheme.betas), np.array(scheme.c1)
    e = np.ones(len(alpha))
    z = b0 @ e
    found = [
        alpha @ e, beta1 @ e, beta2 @ e, alpha @ z, alpha @ (a0 @ e), alpha @ z**2, beta1 @ c1, beta2 @ c1,
    ]  # fmt: skip
    np.testing.assert_allclose(found, [1, 1, 0, 1, 0.5, 1.5, 1, -1], atol=1e-14)
    np.testing.assert_allclose(a0 @ e, scheme.c0, atol=1e-15)


@pytest.mark.parametrize("scheme", _of(RungeKutta))
def test_stages_are_consistent(scheme):
    assert sum(scheme.b) == pytest.approx(1.0)
    assert sum(scheme.b_w) == pytest.approx(1.0)
    assert sum(scheme.b_h or (0.0,)) == pytest.approx(0.0, abs=1e-15)
    if not scheme.time_correction:  # a drift and a noise of one kind must be treated as one
        for i, c in enumerate(scheme.c):
            assert not any(scheme.a[i]) or sum(scheme.a[i]) == pytest.approx(c)
