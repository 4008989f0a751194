"""Drift-implicit Milstein: P. E. Kloeden, E. Platen (1992), section 12.2."""

from numbad.sde.scheme import DriftImplicit

IMPLICIT_MILSTEIN = DriftImplicit(
    name="ImplicitMilstein",
    source="Kloeden & Platen, Numerical Solution of Stochastic Differential Equations, 1992, 12.2",
    calculus="both",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.0},
    has_slope=True,
)
