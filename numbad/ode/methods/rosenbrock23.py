"""Rosenbrock23: the L-stable method of order 2(3) of MATLAB's ode23s, with its interpolant of order 2.

L. F. Shampine, M. W. Reichelt, "The MATLAB ODE suite", SIAM Journal on Scientific Computing 18 (1997)
1-22, doi:10.1137/S1064827594276424, section 3.1. Their k_2 and k_3 written as stages of a Rosenbrock
method: F_0 and F_1 are eliminated by the equations of the stages before.
"""

import math

from numbad.ode.rosenbrock import Rosenbrock, in_matrix_form

_D = 1.0 / (2.0 + math.sqrt(2.0))
_E32 = 6.0 + math.sqrt(2.0)
_SCALE = 1.0 / (1.0 - 2.0 * _D)

ROSENBROCK23 = Rosenbrock(
    name="Rosenbrock23",
    source="Shampine & Reichelt (1997), doi:10.1137/S1064827594276424",
    order=2,
    embedded_order=3,
    dense_order=2,
    **in_matrix_form(
        alpha=((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.0, 1.0, 0.0)),
        gammas=((_D, 0.0, 0.0), (-_D, _D, 0.0), (_D * (_E32 - 2.0), -_D * _E32, _D)),
        weights=(0.0, 1.0, 0.0),
        error=(-1.0 / 6.0, 2.0 / 6.0, -1.0 / 6.0),
        interpolant=((_SCALE, -_SCALE), (-2.0 * _D * _SCALE, _SCALE), (0.0, 0.0)),
    ),
)
