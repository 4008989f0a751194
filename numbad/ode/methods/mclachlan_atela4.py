"""McLachlanAtela4: four drifts and four kicks, with the least error constant of its kind.

Order 4 where the slopes of positions are linear in momenta (quadratic kinetic energy), else 3.

R. I. McLachlan, P. Atela, "The accuracy of symplectic integrators", Nonlinearity 5 (1992) 541-562,
doi:10.1088/0951-7715/5/2/011.
"""

from numbad.ode.symplectic import DRIFT, KICK, composition

_DRIFTS = 0.5153528374311229364, -0.085782019412973646, 0.4415830236164665242, 0.1288461583653841854
_KICKS = 0.1344961992774310892, -0.2248198030794208058, 0.7563200005156682911, 0.3340036032863214255

MCLACHLAN_ATELA4 = composition(
    "McLachlanAtela4",
    "McLachlan & Atela (1992)",
    4,
    tuple(
        part
        for drift, kick in zip(_DRIFTS, _KICKS, strict=True)
        for part in ((kick, KICK), (drift, DRIFT))
    ),
)
