"""Compiled residuals and sensitivities beside those of SciPy, forward and by the adjoint."""

import math

import numpy as np
import pytest

from numbad.fit import fit_ode

from . import models
from .models import COUNTS, YEARS
from .test_ode import NAN, fitted


@pytest.mark.dear
@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("fit_y0", [False, ["lynx"], True])
def test_residuals_and_jacobian_agree_with_scipy(scale, fit_y0):
    sigma = 0.1 + np.random.default_rng(3).random(COUNTS.shape)
    y = COUNTS.copy()
    y[3, 0] = y[7, 1] = NAN
    problem = fitted(y=y, scale=scale, fit_y0=fit_y0, sigma=sigma, max_nfev=1).problem
    unknowns = problem.unknowns

    def residuals(values):
        y0 = [30.0, 4.0]
        for index, value in zip(problem.shape.free, values[4:], strict=True):
            y0[index] = value
        states = models.scipy_states(models.predator_prey, y0, YEARS, *values[:4])
        difference = np.log(states) - np.log(y) if scale == "log" else states - y
        return difference / sigma

    at = unknowns.internal(unknowns.start)
    found, jacobian = problem.evaluate(at)
    np.testing.assert_allclose(problem.arrange(found), residuals(unknowns.start), atol=2e-5)
    for j in range(len(unknowns)):
        step = np.zeros(len(unknowns))
        step[j] = 1e-5
        ends = residuals(unknowns.natural(at + step)), residuals(unknowns.natural(at - step))
        wanted = (ends[0] - ends[1]) / 2e-5
        size = np.nanmax(np.abs(wanted))
        np.testing.assert_allclose(problem.arrange(jacobian[:, j]), wanted, atol=1e-5 * size)


def modes(t, y, p):
    """A rate that is a sum of cosines; p is an array where there are so many."""
    rate = 0.0
    for i in range(len(p)):
        rate += p[i] * math.cos(i * t)
    return (-rate * y[0],)


@pytest.mark.dear
@pytest.mark.parametrize("sensitivity", ["auto", pytest.param("forward", marks=pytest.mark.deep)])
def test_many_unknowns_go_by_the_adjoint(sensitivity):
    count, t = 130, np.array([0.0, 1.0, 1.7])
    p = 0.3 * np.sin(np.arange(count) ** 2) / (1.0 + np.arange(count))
    names = [f"p[{i}]" for i in range(count)]
    problem = fit_ode(
        modes, t, [2.0, 1.0, 0.7], p, y0=[2.0], sigma=0.1, absolute_sigma=True, max_nfev=1,
        priors=dict.fromkeys(names, ("normal", 0.0, 0.3)), sensitivity=sensitivity,
        fixed=["p[7]"],
    ).problem  # fmt: skip
    assert problem.shape.adjoint == (sensitivity == "auto")
    kept = np.delete(np.arange(count), 7)
    _, jacobian = problem.evaluate(problem.unknowns.internal(p[kept]))
    order = np.maximum(np.arange(count), 1)
    waves = np.where(np.arange(count), np.sin(np.outer(t, order)) / order, t[:, None])
    wanted = -2.0 * np.exp(-waves @ p)[:, None] * waves[:, kept] / 0.1 * problem.unknowns.scale
    np.testing.assert_allclose(jacobian[:3], wanted, atol=1e-6 * np.abs(wanted).max())
