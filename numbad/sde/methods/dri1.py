"""DRI1, of weak order 2: K. Debrabant, A. Roessler, Appl. Numer. Math. 59 (2009) 582-594."""

from math import sqrt

from numbad.sde.scheme import WeakRoessler

_B1 = 3.0 * sqrt(38.0 / 491.0)
_B2 = (
    214.0 / 513.0 * sqrt(1105.0 / 991.0),
    491.0 / 513.0 * sqrt(221.0 / 4955.0),
    491.0 / 513.0 * sqrt(221.0 / 4955.0),
)
_BETA2 = sqrt(491.0 / 38.0) / 6.0
_BETA4 = sqrt(4955.0 / 221.0) / 8.0

DRI1 = WeakRoessler(
    name="DRI1",
    source="Debrabant & Roessler, Appl. Numer. Math. 59 (2009) 582-594, doi:10.1016/j.apnum.2008.03.012",
    calculus="ito",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.0, "general": 0.5},
    c0=(0.0, 0.5, 1.0),
    c1=(0.0, 342.0 / 491.0, 342.0 / 491.0),
    a0=((), (0.5,), (-1.0, 2.0)),
    a1=((), (342.0 / 491.0,), (342.0 / 491.0, 0.0)),
    b0=((), ((6.0 - sqrt(6.0)) / 10.0,), ((3.0 + 2.0 * sqrt(6.0)) / 5.0, 0.0)),
    b1=((), (_B1,), (-_B1, 0.0)),
    b2=((0.0, 0.0, 0.0), tuple(-b for b in _B2), _B2),
    alpha=(1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0),
    betas=(
        (193.0 / 684.0, 491.0 / 1368.0, 491.0 / 1368.0),
        (0.0, _BETA2, -_BETA2),
        (-4955.0 / 7072.0, 4955.0 / 14144.0, 4955.0 / 14144.0),
        (0.0, -_BETA4, _BETA4),
    ),
)
