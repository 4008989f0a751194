"""KenCarp4: ESDIRK4(3)6L[2]SA, the implicit method of the additive pair of order 4, dense output of order 3.

C. A. Kennedy, M. H. Carpenter, "Additive Runge-Kutta schemes for convection-diffusion-reaction equations",
Applied Numerical Mathematics 44 (2003) 139-181, doi:10.1016/S0168-9274(02)00138-1, appendix C.
"""

from fractions import Fraction

from numbad.ode.implicit_tableau import ImplicitTableau

_G = Fraction(1, 4)
_A = (
    (),
    (Fraction(1, 4), _G),
    (Fraction(8611, 62500), Fraction(-1743, 31250), _G),
    (Fraction(5012029, 34652500), Fraction(-654441, 2922500), Fraction(174375, 388108), _G),
    (
        Fraction(15267082809, 155376265600),
        Fraction(-71443401, 120774400),
        Fraction(730878875, 902184768),
        Fraction(2285395, 8070912),
        _G,
    ),
    (
        Fraction(82889, 524892),
        Fraction(0),
        Fraction(15625, 83664),
        Fraction(69875, 102672),
        Fraction(-2260, 8211),
        _G,
    ),
)
_EMBEDDED = (
    Fraction(4586570599, 29645900160),
    Fraction(0),
    Fraction(178811875, 945068544),
    Fraction(814220225, 1159782912),
    Fraction(-3700637, 11593932),
    Fraction(61727, 225920),
)
_INTERPOLANT = (
    (
        Fraction(6943876665148, 7220017795957),
        Fraction(-54480133, 30881146),
        Fraction(6818779379841, 7100303317025),
    ),
    (Fraction(0),) * 3,
    (
        Fraction(7640104374378, 9702883013639),
        Fraction(-11436875, 14766696),
        Fraction(2173542590792, 12501825683035),
    ),
    (
        Fraction(-20649996744609, 7521556579894),
        Fraction(174696575, 18121608),
        Fraction(-31592104683404, 5083833661969),
    ),
    (
        Fraction(8854892464581, 2390941311638),
        Fraction(-12120380, 966161),
        Fraction(61146701046299, 7138195549469),
    ),
    (
        Fraction(-11397109935349, 6675773540249),
        Fraction(3843, 706),
        Fraction(-17219254887155, 4939391667607),
    ),
)


def _floats(row):
    return tuple(map(float, row)) + (0.0,) * (6 - len(row))


KENCARP4 = ImplicitTableau(
    name="KenCarp4",
    source="Kennedy & Carpenter (2003), appendix C",
    order=4,
    embedded_order=3,
    dense_order=3,
    a=tuple(map(_floats, _A)),
    b=_floats(_A[-1]),
    error=tuple(float(b - e) for b, e in zip(_A[-1], _EMBEDDED, strict=True)),
    c=(0.0, 0.5, 83.0 / 250.0, 31.0 / 50.0, 17.0 / 20.0, 1.0),
    interpolant=tuple(tuple(map(float, row)) for row in _INTERPOLANT),
)
