"""Euler-Maruyama with the trapezoidal rule for the drift: Kloeden, Platen (1992), 12.2, alpha = 1/2."""

from numbad.sde.scheme import DriftImplicit

TRAPEZOID = DriftImplicit(
    name="STrapezoid",
    source="Kloeden & Platen, Numerical Solution of Stochastic Differential Equations, 1992, 12.2",
    calculus="ito",
    orders={"diagonal": 0.5, "scalar": 0.5, "additive": 1.0, "general": 0.5, "commutative": 0.5},
    theta=0.5,
)
