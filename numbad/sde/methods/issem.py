"""Split-step backward Euler: Higham, Mao & Stuart, SIAM J. Numer. Anal. 40 (2002) 1041-1063."""

from numbad.sde.scheme import DriftImplicit

ISSEM = DriftImplicit(
    name="ISSEM",
    source="Higham, Mao & Stuart, SIAM J. Numer. Anal. 40 (2002) 1041-1063, doi:10.1137/S0036142901389530",
    calculus="ito",
    orders={"diagonal": 0.5, "scalar": 0.5, "additive": 1.0, "general": 0.5, "commutative": 0.5},
    is_split=True,
)
