"""RK4: the classical method of order 4, in steps of one size, with the cubic through their ends.

W. Kutta, "Beitrag zur naherungsweisen Integration totaler Differentialgleichungen", Zeitschrift fur
Mathematik und Physik 46 (1901) 435-453; Hairer, Norsett & Wanner, "Solving Ordinary Differential
Equations I", II.1, table 1.2, and II.6.
"""

from numbad.ode.tableau import Tableau, cubic_hermite

_B = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)

RK4 = Tableau(
    name="RK4",
    source='Hairer, Norsett & Wanner, "Solving Ordinary Differential Equations I", II.1',
    order=4,
    embedded_order=0,
    dense_order=3,
    a=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
    b=_B,
    error=(),
    c=(0.0, 0.5, 0.5, 1.0),
    interpolant=cubic_hermite(_B, closing=True),
)
