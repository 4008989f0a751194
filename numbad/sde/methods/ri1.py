"""RI1, of weak order 2: A. Roessler, SIAM J. Numer. Anal. 47 (2009) 1713-1738, Table 5.1."""

from numbad.sde.scheme import WeakRoessler

RI1 = WeakRoessler(
    name="RI1",
    source="Roessler, SIAM J. Numer. Anal. 47 (2009) 1713-1738, doi:10.1137/060673308",
    calculus="ito",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.0, "general": 0.5},
    c0=(0.0, 2.0 / 3.0, 2.0 / 3.0),
    c1=(0.0, 1.0, 1.0),
    a0=((), (2.0 / 3.0,), (-1.0 / 3.0, 1.0)),
    a1=((), (1.0,), (1.0, 0.0)),
    b0=((), (1.0,), (0.0, 0.0)),
    b1=((), (1.0,), (-1.0, 0.0)),
    b2=((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)),
    alpha=(0.25, 0.5, 0.25),
    betas=(
        (0.5, 0.25, 0.25),
        (0.0, 0.5, -0.5),
        (-0.5, 0.25, 0.25),
        (0.0, 0.5, -0.5),
    ),
)
