"""Euler's method, of order 1, in steps of one size, with the cubic through the ends of a step.

L. Euler, "Institutionum calculi integralis volumen primum" (1768), chapter VII; Hairer, Norsett &
Wanner, "Solving Ordinary Differential Equations I", I.7 and II.6.
"""

from numbad.ode.tableau import Tableau, cubic_hermite

EULER = Tableau(
    name="Euler",
    source='Hairer, Norsett & Wanner, "Solving Ordinary Differential Equations I", I.7',
    order=1,
    embedded_order=0,
    dense_order=1,
    a=((),),
    b=(1.0,),
    error=(),
    c=(0.0,),
    interpolant=cubic_hermite((1.0,), closing=True),
)
