"""The explicit midpoint method with noise. W. Ruemelin, SIAM J. Numer. Anal. 19 (1982) 604-613."""

from numbad.sde.scheme import RungeKutta

MIDPOINT = RungeKutta(
    name="Midpoint",
    source="Ruemelin, SIAM J. Numer. Anal. 19 (1982) 604-613, doi:10.1137/0719041",
    calculus="stratonovich",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.0, "general": 0.5, "commutative": 1.0},
    c=(0.0, 0.5),
    a=((), (0.5,)),
    b=(0.0, 1.0),
    a_w=((), (0.5,)),
    b_w=(0.0, 1.0),
    error=(-1.0, 1.0),  # to Euler's
    error_w=(-1.0, 1.0),
)
