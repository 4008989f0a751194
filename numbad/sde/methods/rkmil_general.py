"""Milstein's method for general noise without derivatives.

A. Roessler, SIAM J. Numer. Anal. 48 (2010) 922-952.
"""

from numbad.sde.scheme import LevyMilstein

RKMIL_GENERAL = LevyMilstein(
    name="RKMilGeneral",
    source="Roessler, SIAM J. Numer. Anal. 48 (2010) 922-952, doi:10.1137/09076636X",
    calculus="both",
    orders={"general": 1.0, "commutative": 1.0},
)
