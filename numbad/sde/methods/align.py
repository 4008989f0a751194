"""ALIGN, "adaptive Langevin by interpolated gradients and noise": two forces a step, strong order 2.

A Strang splitting of J. Foster, T. Lyons, H. Oberhauser, "The shifted ODE method for underdamped Langevin
MCMC", arXiv:2101.03446, definition 4.2, as Foster modified it for diffrax (P. Kidger and others).
"""

from numbad.sde.scheme import InterpolatedLangevin

ALIGN = InterpolatedLangevin(
    name="ALIGN",
    source="Foster, Lyons & Oberhauser, arXiv:2101.03446, definition 4.2",
    calculus="both",
    orders={"additive": 2.0},
)
