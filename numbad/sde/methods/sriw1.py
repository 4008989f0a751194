"""SRIW1: strong order 1.5, weak order 2.

Roessler, SIAM J. Numer. Anal. 48 (2010) 922-952, doi:10.1137/09076636X.
"""

from numbad.sde.scheme import DiagonalRoessler

SRIW1 = DiagonalRoessler(
    name="SRIW1",
    source="Roessler, SIAM J. Numer. Anal. 48 (2010) 922-952, doi:10.1137/09076636X",
    calculus="ito",
    orders={"diagonal": 1.5, "scalar": 1.5},
    a0=(
        (),
        (0.75,),
        (0.0, 0.0),
        (0.0, 0.0, 0.0),
    ),
    a1=(
        (),
        (0.25,),
        (1.0, 0.0),
        (0.0, 0.0, 0.25),
    ),
    b0=(
        (),
        (1.5,),
        (0.0, 0.0),
        (0.0, 0.0, 0.0),
    ),
    b1=(
        (),
        (0.5,),
        (-1.0, 0.0),
        (-5.0, 3.0, 0.5),
    ),
    alpha=(1.0 / 3.0, 2.0 / 3.0, 0.0, 0.0),
    betas=(
        (-1.0, 4.0 / 3.0, 2.0 / 3.0, 0.0),
        (-1.0, 4.0 / 3.0, -1.0 / 3.0, 0.0),
        (2.0, -4.0 / 3.0, -2.0 / 3.0, 0.0),
        (-2.0, 5.0 / 3.0, -2.0 / 3.0, 1.0),
    ),
)
