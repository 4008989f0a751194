"""Explicit methods on DETEST: errors in proportion to the tolerance, on every problem."""

import numpy as np
import pytest

import numbad as nd
from tests.ode.detest import END, NAMES, detest, ends, starts

# The largest error of a problem at 20, in tolerances. Orbits (D) and C5 add up errors of phase: ten times as
# much as others, at tolerances where a method takes few steps an orbit.
LARGEST, OF_ORBITS = 40.0, 2500.0
TOLERANCES = 1e-5, 1e-7, 1e-9


@pytest.mark.dear
@pytest.mark.parametrize(
    "method",
    [
        "Tsit5",
        *(
            pytest.param(name, marks=pytest.mark.deep)
            for name in ("DP5", "Vern7", "DOP853", "Vern9")
        ),
    ],
)
def test_errors_in_proportion_to_the_tolerance(method):
    start, exact = starts(), ends()
    assert set(exact) == set(NAMES)
    errors = np.empty((len(TOLERANCES), len(NAMES)))
    for row, tolerance in zip(errors, TOLERANCES, strict=True):
        solve = nd.ode.solver(detest, method=method, inplace=True, rtol=tolerance, atol=tolerance)
        for which, name in enumerate(NAMES):
            end = solve(start[name], (0.0, END), which)[-1]
            row[which] = np.abs(end - exact[name]).max() / tolerance
    orbits = np.array([name[0] == "D" or name == "C5" for name in NAMES])
    assert errors[:, ~orbits].max() < LARGEST
    assert errors[:, orbits].max() < OF_ORBITS
