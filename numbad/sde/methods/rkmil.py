"""Milstein's method without derivatives: P. E. Kloeden, E. Platen (1992), section 11.1, after Platen."""

from numbad.sde.scheme import DerivativeFreeMilstein

RKMIL = DerivativeFreeMilstein(
    name="RKMil",
    source="Kloeden & Platen, Numerical Solution of Stochastic Differential Equations, 1992, (11.1.3)",
    calculus="both",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.0},
)
