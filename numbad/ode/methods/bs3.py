"""BS3: the 3(2) pair of Bogacki and Shampine, with the cubic through the ends of a step.

P. Bogacki, L. F. Shampine, "A 3(2) pair of Runge-Kutta formulas", Applied Mathematics Letters 2
(1989) 321-325, doi:10.1016/0893-9659(89)90079-7.
"""

from numbad.ode.tableau import Tableau, cubic_hermite

_B = (2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0)

BS3 = Tableau(
    name="BS3",
    source="Bogacki & Shampine (1989), doi:10.1016/0893-9659(89)90079-7",
    order=3,
    embedded_order=2,
    dense_order=3,
    a=((), (1.0 / 2.0,), (0.0, 3.0 / 4.0), _B),
    b=(*_B, 0.0),
    error=(-5.0 / 72.0, 1.0 / 12.0, 1.0 / 9.0, -1.0 / 8.0),
    c=(0.0, 1.0 / 2.0, 3.0 / 4.0, 1.0),
    interpolant=cubic_hermite((*_B, 0.0)),
)
