"""RadauIIA5: the stiffly accurate collocation method of three stages and order 5, dense output of order 3.

E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", IV.5, table 5.6, and IV.8, (8.17) to
(8.20) for the error estimate, of order 3. The dense output is the collocation polynomial.
"""

import math

import numpy as np

from numbad.ode.implicit_tableau import ImplicitTableau, collocation

_S = math.sqrt(6.0)
_C = ((4.0 - _S) / 10.0, (4.0 + _S) / 10.0, 1.0)
_B = ((16.0 - _S) / 36.0, (16.0 + _S) / 36.0, 1.0 / 9.0)
_A = (
    ((88.0 - 7.0 * _S) / 360.0, (296.0 - 169.0 * _S) / 1800.0, (-2.0 + 3.0 * _S) / 225.0),
    ((296.0 + 169.0 * _S) / 1800.0, (88.0 + 7.0 * _S) / 360.0, (-2.0 - 3.0 * _S) / 225.0),
    _B,
)

# The real eigenvalue of A, and the weights that the estimate gives to the increments A s.
_GAMMA = 1.0 / (3.0 + 3.0 ** (2.0 / 3.0) - 3.0 ** (1.0 / 3.0))
_INCREMENTS = (-13.0 - 7.0 * _S, -13.0 + 7.0 * _S, -1.0)

RADAU_IIA5 = ImplicitTableau(
    name="RadauIIA5",
    source="Hairer & Wanner (1996), IV.8",
    order=5,
    embedded_order=3,
    dense_order=3,
    a=_A,
    b=_B,
    error=tuple((_GAMMA / 3.0 * np.array(_INCREMENTS) @ np.array(_A)).tolist()),
    start_error=_GAMMA,
    c=_C,
    interpolant=(*collocation(_C)[1], (0.0,) * 3),
)
