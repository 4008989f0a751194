"""Tsit5: the 5(4) pair of Tsitouras with its free interpolant of order 4.

Ch. Tsitouras, "Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying
assumption", Computers & Mathematics with Applications 62 (2011) 770-775,
doi:10.1016/j.camwa.2011.06.002: the coefficients of table 1 and the interpolant of section 4.
"""

from numbad.ode.tableau import Tableau, interpolant_row

_B = (
    0.9646076681806522952e-1,
    0.01,
    0.4798896504144995748,
    1.379008574103741893,
    -3.290069515436080680,
    2.324710524099773982,
)

# The paper's b-tilde: what the solutions of orders 5 and 4 differ by.
_B_TILDE = (
    -0.00178001105222577714,
    -0.0008164344596567469,
    0.007880878010261995,
    -0.1447110071732629,
    0.5823571654525552,
    -0.45808210592918697,
    1.0 / 66.0,
)

_THETA = (0.0, 1.0)
_THETA_SQUARED = (0.0, 0.0, 1.0)

_INTERPOLANT = (
    interpolant_row(
        4,
        -1.0530884977290216,
        _THETA,
        (-1.3299890189751412, 1.0),
        (0.7139816917074209, -1.4364028541716351, 1.0),
    ),
    interpolant_row(4, 0.1017, _THETA_SQUARED, (1.2949852507374631, -2.1966568338249754, 1.0)),
    interpolant_row(
        4, 2.490627285651252793, _THETA_SQUARED, (1.57803468208092486, -2.38535645472061657, 1.0)
    ),
    interpolant_row(
        4,
        -16.54810288924490272,
        _THETA_SQUARED,
        (-1.21712927295533244, 1.0),
        (-0.61620406037800089, 1.0),
    ),
    interpolant_row(
        4,
        47.37952196281928122,
        _THETA_SQUARED,
        (-1.203071208372362603, 1.0),
        (-0.658047292653547382, 1.0),
    ),
    interpolant_row(4, -34.87065786149660974, _THETA_SQUARED, (-1.2, 1.0), (-2.0 / 3.0, 1.0)),
    interpolant_row(4, 2.5, _THETA_SQUARED, (-1.0, 1.0), (-0.6, 1.0)),
)

TSIT5 = Tableau(
    name="Tsit5",
    source="Tsitouras (2011), doi:10.1016/j.camwa.2011.06.002",
    order=5,
    embedded_order=4,
    dense_order=4,
    a=(
        (),
        (0.161,),
        (-0.8480655492356988544e-2, 0.3354806554923569885),
        (2.897153057105493432, -6.359448489975074843, 4.362295432869581411),
        (
            5.325864828439256604,
            -11.74888356406282788,
            7.495539342889836208,
            -0.9249506636175524926e-1,
        ),
        (
            5.861455442946420029,
            -12.92096931784710929,
            8.159367898576158643,
            -0.7158497328140099722e-1,
            -0.2826905039406838291e-1,
        ),
        _B,
    ),
    b=(*_B, 0.0),
    error=tuple(-weight for weight in _B_TILDE),
    c=(0.0, 0.161, 0.327, 0.9, 0.9800255409045096857, 1.0, 1.0),
    interpolant=_INTERPOLANT,
)
