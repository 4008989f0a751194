"""SOSRA2: strong order 1.5 for additive noise, with a large stability region.

Rackauckas & Nie, arXiv:1804.04344.
"""

from numbad.sde.scheme import AdditiveRoessler

SOSRA2 = AdditiveRoessler(
    name="SOSRA2",
    source="Rackauckas & Nie, arXiv:1804.04344",
    calculus="both",
    orders={"additive": 1.5},
    c0=(0.0, 1.0, 1.0),
    c1=(0.0, 1.0, 1.0),
    a0=(
        (),
        (1.0,),
        (0.9511849235504364, 0.04881507644956362),
    ),
    b0=(
        (),
        (0.7686101171003622,),
        (0.43886792994934987, 0.7490415909204886),
    ),
    alpha=(0.4999999999999998, -0.9683897375354181, 1.4683897375354185),
    betas=(
        (0.0, 0.92438032145683, 0.07561967854316998),
        (1.0, -0.8169981105823436, -0.18300188941765633),
    ),
)
