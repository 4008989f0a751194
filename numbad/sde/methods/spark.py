"""SPaRK: splitting path Runge-Kutta, for any noise; strong order 1.5 where it is additive.

J. Foster, "On the convergence of adaptive approximations for stochastic differential equations", 2023.
"""

import math

from numbad.sde.scheme import RungeKutta

_END, _MIDDLE = (3.0 - math.sqrt(3.0)) / 6.0, math.sqrt(3.0) / 3.0

SPARK = RungeKutta(
    name="SPaRK",
    source="Foster (2023), On the convergence of adaptive approximations for SDEs",
    calculus="stratonovich",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.5, "general": 0.5, "commutative": 1.0},
    c=(0.0, 0.5, 1.0),
    a=((), (0.5,), (0.0, 1.0)),
    b=(_END, _MIDDLE, _END),
    a_w=((), (0.5,), (0.0, 1.0)),
    b_w=(_END, _MIDDLE, _END),
    a_h=((), (math.sqrt(3.0),), (0.0, 0.0)),
    b_h=(1.0, 0.0, -1.0),
    error=(_END - 0.5, _MIDDLE, _END - 0.5),  # to the trapezoidal rule
    error_w=(_END - 0.5, _MIDDLE, _END - 0.5),
    error_h=(1.0, 0.0, -1.0),
)
