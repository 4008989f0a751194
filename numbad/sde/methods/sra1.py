"""SRA1: strong order 1.5 for additive noise.

Roessler, SIAM J. Numer. Anal. 48 (2010) 922-952, doi:10.1137/09076636X.
"""

from numbad.sde.scheme import AdditiveRoessler

SRA1 = AdditiveRoessler(
    name="SRA1",
    source="Roessler, SIAM J. Numer. Anal. 48 (2010) 922-952, doi:10.1137/09076636X",
    calculus="both",
    orders={"additive": 1.5},
    c0=(0.0, 0.75),
    c1=(1.0, 0.0),
    a0=(
        (),
        (0.75,),
    ),
    b0=(
        (),
        (1.5,),
    ),
    alpha=(1.0 / 3.0, 2.0 / 3.0),
    betas=(
        (1.0, 0.0),
        (-1.0, 1.0),
    ),
)
