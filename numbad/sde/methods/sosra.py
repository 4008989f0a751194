"""SOSRA: strong order 1.5 for additive noise, with a large stability region.

Rackauckas & Nie, arXiv:1804.04344.
"""

from numbad.sde.scheme import AdditiveRoessler

SOSRA = AdditiveRoessler(
    name="SOSRA",
    source="Rackauckas & Nie, arXiv:1804.04344",
    calculus="both",
    orders={"additive": 1.5},
    c0=(0.0, 0.6923962376159507, 1.0),
    c1=(0.0, 0.041248171110700504, 1.0),
    a0=(
        (),
        (0.6923962376159507,),
        (-3.1609142252828395, 4.1609142252828395),
    ),
    b0=(
        (),
        (1.3371632704399763,),
        (1.442371048468624, 1.8632741501139225),
    ),
    alpha=(0.2889874966892885, 0.6859880440839937, 0.025024459226717772),
    betas=(
        (-16.792534242221663, 17.514995785380226, 0.27753845684143835),
        (0.4237535769069274, 0.6010381474428539, -1.0247917243497813),
    ),
)
