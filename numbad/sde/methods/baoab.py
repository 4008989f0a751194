"""BAOAB: Leimkuhler & Matthews, Applied Mathematics Research eXpress 2013 (1), 34-56.

Of weak order 2; averages of positions are exact where the force is linear, and of order 4 for much friction.
"""

from numbad.sde.scheme import LangevinSplitting

BAOAB = LangevinSplitting(
    name="BAOAB",
    source="Leimkuhler & Matthews, Appl. Math. Res. eXpress 2013, 34-56, doi:10.1093/amrx/abs010",
    calculus="both",
    orders={"additive": 1.0},
    parts="BAOAB",
)
