"""Milstein's method: G. N. Milstein, Theory Probab. Appl. 19 (1975) 557-562, doi:10.1137/1119062."""

from numbad.sde.scheme import Milstein

MILSTEIN = Milstein(
    name="Milstein",
    source="Milstein (1975), doi:10.1137/1119062",
    calculus="both",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.0},
)
