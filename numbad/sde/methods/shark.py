"""ShARK: shifted additive-noise Runge-Kutta, strong order 1.5.

Foster, dos Reis & Strange, arXiv:2210.17543.
"""

from numbad.sde.scheme import RungeKutta

# The first stage is shifted by H, so that a stage of its own with no weight stands before it.
SHARK = RungeKutta(
    name="ShARK",
    source="Foster, dos Reis & Strange, arXiv:2210.17543",
    calculus="both",
    orders={"additive": 1.5},
    c=(0.0, 0.0, 5.0 / 6.0),
    a=((), (0.0,), (0.0, 5.0 / 6.0)),
    b=(0.0, 0.4, 0.6),
    a_w=((), (0.0,), (5.0 / 6.0, 0.0)),
    b_w=(1.0, 0.0, 0.0),
    a_h=((), (1.0,), (1.0, 0.0)),
    b_h=(0.0, 0.0, 0.0),
    error=(0.0, -0.6, 0.6),
    time_correction=True,
)
