"""VelocityVerlet: half a kick, a drift, half a kick; order 2.

L. Verlet, "Computer 'experiments' on classical fluids. I", Physical Review 159 (1967) 98,
doi:10.1103/PhysRev.159.98; Hairer, Lubich & Wanner, "Geometric Numerical Integration", I.1.4.
"""

from numbad.ode.symplectic import DRIFT, KICK, composition

VELOCITY_VERLET = composition(
    "VelocityVerlet",
    'Hairer, Lubich & Wanner, "Geometric Numerical Integration", I.1.4',
    2,
    ((0.5, KICK), (1.0, DRIFT), (0.5, KICK)),
)
