"""Drift-implicit Euler-Maruyama: P. E. Kloeden, E. Platen (1992), section 12.2, with alpha = 1."""

from numbad.sde.scheme import DriftImplicit

IMPLICIT_EM = DriftImplicit(
    name="ImplicitEM",
    source="Kloeden & Platen, Numerical Solution of Stochastic Differential Equations, 1992, 12.2",
    calculus="ito",
    orders={"diagonal": 0.5, "scalar": 0.5, "additive": 1.0, "general": 0.5, "commutative": 0.5},
)
