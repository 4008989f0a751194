"""GeneralShARK: of strong order 1.5 for additive noise, for any noise. Foster et al., arXiv:2210.17543."""

from numbad.sde.scheme import RungeKutta

GENERAL_SHARK = RungeKutta(
    name="GeneralShARK",
    source="Foster, dos Reis & Strange, arXiv:2210.17543",
    calculus="stratonovich",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.5, "general": 0.5, "commutative": 1.0},
    c=(0.0, 0.0, 5.0 / 6.0),
    a=((), (0.0,), (0.0, 5.0 / 6.0)),
    b=(0.0, 0.4, 0.6),
    a_w=((), (0.0,), (0.0, 5.0 / 6.0)),
    b_w=(0.0, 0.4, 0.6),
    a_h=((), (1.0,), (1.0, 0.0)),
    b_h=(0.0, 1.2, -1.2),
    error=(0.0, -0.6, 0.6),
    error_w=(0.0, -0.6, 0.6),
)
