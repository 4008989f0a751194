"""SEA: shifted Euler for additive noise, strong order 1. Foster, dos Reis & Strange, arXiv:2210.17543."""

from numbad.sde.scheme import RungeKutta

# The one stage is shifted by W / 2 + H, so that a stage of its own with no weight stands before it.
SEA = RungeKutta(
    name="SEA",
    source="Foster, dos Reis & Strange, arXiv:2210.17543",
    calculus="both",
    orders={"additive": 1.0},
    c=(0.0, 0.0),
    a=((), (0.0,)),
    b=(0.0, 1.0),
    a_w=((), (0.5,)),
    b_w=(1.0, 0.0),
    a_h=((), (1.0,)),
    b_h=(0.0, 0.0),
    time_correction=True,
)
