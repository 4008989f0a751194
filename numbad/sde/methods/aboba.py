"""ABOBA: Leimkuhler & Matthews, Applied Mathematics Research eXpress 2013 (1), 34-56. One force a step."""

from numbad.sde.scheme import LangevinSplitting

ABOBA = LangevinSplitting(
    name="ABOBA",
    source="Leimkuhler & Matthews, Appl. Math. Res. eXpress 2013, 34-56, doi:10.1093/amrx/abs010",
    calculus="both",
    orders={"additive": 1.0},
    parts="ABOBA",
)
