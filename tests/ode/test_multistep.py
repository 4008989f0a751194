"""Backward differentiation of variable order, against closed forms, polynomials and other codes."""

import numpy as np
import pytest
from numba import njit

from numbad.ode import multistep
from numbad.ode.implicit_steps import LAST, ORDER
from numbad.ode.methods.bdf import BDF

change_size = njit(lambda T, order, factor: multistep.rescale(T, order, factor))


@pytest.mark.parametrize("order", range(1, 6))
def test_formulas_are_exact_for_polynomials_of_their_order(order):
    """At steps of one size, and after differences have been taken at steps of another."""
    p = np.polynomial.Polynomial(np.arange(1.0, order + 2.0))
    t, h, longer = 0.7, 0.25, 0.4
    T = np.zeros((multistep.DIFFERENCES + 8, 1))
    rows = slice(multistep.DIFFERENCES, multistep.DIFFERENCES + order + 1)

    def differences(size):
        found = p(t - size * np.arange(order, -1, -1))
        return [np.diff(found, j)[-1] for j in range(order + 1)]

    T[rows, 0] = differences(h)
    change_size(T, order, longer / h)
    found = T[rows, 0]
    np.testing.assert_allclose(found, differences(longer), rtol=1e-10, atol=1e-10)
    new = t + longer
    np.testing.assert_allclose(found.sum(), p(new))  # the prediction, so that d = 0 is to solve
    gammas = BDF.harmonic[: order + 1]
    np.testing.assert_allclose(gammas @ found, longer * p.deriv()(new))


def test_dense_output_weighs_no_difference_that_was_never_set():
    """After the first step, of order 1, memory of the differences from the third on is as it came."""
    equations = multistep.make_multistep_equations(BDF)
    end = njit(lambda T, h, notes: equations.end(T, h, notes))
    T, notes = np.full((multistep.DIFFERENCES + 8, 1), np.nan), np.full(16, np.nan)
    notes[ORDER], notes[LAST] = 1.0, 0.5
    T[multistep.DIFFERENCES : multistep.DIFFERENCES + 2, 0] = 1.0, 0.25
    T[multistep.INCREMENT] = 0.125
    end(T, 0.5, notes)
    dense = T[multistep.SLOPES : multistep.SLOPES + multistep.HIGHEST, 0]
    np.testing.assert_array_equal(dense, [0.0, 0.0, 0.0, 0.0, (0.25 + 0.125) / 0.5])


def test_dense_output_goes_through_the_last_states():
    """A polynomial of degree 5, whose differences D_j the interpolant weighs."""
    p = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.5, -0.7, 0.1])
    values = p(np.arange(-4.0, 2.0))  # the step goes from 0 to 1
    weighed = [np.diff(values, j)[-1] for j in range(1, 6)]
    theta = 0.37
    powers = theta ** np.arange(1, 6)
    weights = np.array(BDF.interpolant) @ powers  # of the highest difference first
    np.testing.assert_allclose(p(0.0) + weighed[::-1] @ weights, p(theta))
