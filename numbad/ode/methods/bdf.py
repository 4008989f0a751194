"""BDF: numerical differentiation formulas of order 1 to 5, dense output by their interpolating polynomial.

L. F. Shampine, M. W. Reichelt, "The MATLAB ODE suite", SIAM J. Sci. Comput. 18 (1997) 1-22,
doi:10.1137/S1064827594276424, table 1. The first formula is the backward Euler method, with kappa 0: it does
without the slope at the start, which a singular mass matrix leaves open.
"""

from numbad.ode.multistep import Multistep

BDF = Multistep(
    name="BDF",
    source="Shampine & Reichelt (1997), table 1",
    order=5,
    kappas=(0.0, -1.0 / 9.0, -0.0823, -0.0415, 0.0),
)
