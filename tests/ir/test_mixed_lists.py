"""Numba's bare assertion about nested lists is told in words, wherever the user's code meets it."""

import numpy as np
import pytest
from numba.core.errors import LoweringError

import numbad as nd
from numbad.ir.mixed_lists import in_words

TOLD = r"of which some hold integers alone[\s\S]*Way out: write np.array\(\[\[0.0, 1.0\]"


def turned(x):
    return np.array([[0, 1.0], [-1, 0]]) @ x


def test_in_operators():
    with pytest.raises(LoweringError, match=TOLD):
        nd.jacobian(turned)(np.ones(2))


@pytest.mark.parametrize("options", [{}, {"method": "Radau"}])
def test_in_right_hand_sides(options):
    with pytest.raises(nd.ModelError, match=TOLD) as caught:
        nd.ode.solve_ivp(
            lambda t, y: np.array([[0, 1.0], [-1, 0]]) @ y, (0.0, 1.0), [1.0, 0.0], **options
        )
    assert "np.array([[0, 1.0], [-1, 0]])" in str(caught.value)


def test_in_jacobians_of_right_hand_sides():
    def jac(t, y):
        return np.array([[0, 1.0], [-1, 0]])

    with pytest.raises(nd.ModelError, match=TOLD):
        nd.ode.solve_ivp(
            lambda t, y: [y[1], -y[0]], (0.0, 1.0), [1.0, 0.0], method="Radau", jac=jac
        )


def test_other_errors_are_what_they_were():
    for error in (AssertionError("x"), ValueError("y")):
        assert in_words(error) is error
