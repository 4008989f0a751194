"""Ralston's method with noise. W. Ruemelin, SIAM J. Numer. Anal. 19 (1982) 604-613."""

from numbad.sde.scheme import RungeKutta

RALSTON = RungeKutta(
    name="Ralston",
    source="Ruemelin, SIAM J. Numer. Anal. 19 (1982) 604-613, doi:10.1137/0719041",
    calculus="stratonovich",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.0, "general": 0.5, "commutative": 1.0},
    c=(0.0, 2.0 / 3.0),
    a=((), (2.0 / 3.0,)),
    b=(0.25, 0.75),
    a_w=((), (2.0 / 3.0,)),
    b_w=(0.25, 0.75),
    error=(-0.75, 0.75),  # to Euler's
    error_w=(-0.75, 0.75),
)
