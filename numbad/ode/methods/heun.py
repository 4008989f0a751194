"""Heun's method, of order 2, in steps of one size, with the cubic through the ends of a step.

K. Heun, "Neue Methoden zur approximativen Integration der Differentialgleichungen einer
unabhangigen Veranderlichen", Zeitschrift fur Mathematik und Physik 45 (1900) 23-38: the explicit
trapezoidal rule; Hairer, Norsett & Wanner, "Solving Ordinary Differential Equations I", II.1, II.6.
"""

from numbad.ode.tableau import Tableau, cubic_hermite

_B = (0.5, 0.5)

HEUN = Tableau(
    name="Heun",
    source='Hairer, Norsett & Wanner, "Solving Ordinary Differential Equations I", II.1',
    order=2,
    embedded_order=0,
    dense_order=2,
    a=((), (1.0,)),
    b=_B,
    error=(),
    c=(0.0, 1.0),
    interpolant=cubic_hermite(_B, closing=True),
)
