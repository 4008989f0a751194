"""SKenCarp: implicit and L-stable, strong order 1.5 for additive noise that is small.

The tableau is that of StochasticDiffEq.jl, whose drift part is the third-order implicit method of Kennedy &
Carpenter, Appl. Numer. Math. 44 (2003) 139-181. Its weights of the noise are so large that errors on a
nonlinear drift with much noise are a hundred times those of SRA1.
"""

from numbad.sde.scheme import AdditiveRoessler

_GAMMA = 0.435866521508459
_LAST = (0.18764102434672383, -0.595297473576955, 0.9717899277217721)

SKENCARP = AdditiveRoessler(
    name="SKenCarp",
    source="StochasticDiffEq.jl; Kennedy & Carpenter, Appl. Numer. Math. 44 (2003) 139-181",
    calculus="both",
    orders={"additive": 1.5},
    c0=(0.0, 2.0 * _GAMMA, 0.6, 1.0),
    c1=(0.0, 0.0, 0.0, 1.0),
    a0=(
        (),
        (_GAMMA,),
        (0.2576482460664272, -0.09351476757488625),
        _LAST,
    ),
    b0=(
        (),
        (-12.246764387585056,),
        (0.0, 0.0),
        (0.0, 0.0, -14.432096958608753),
    ),
    alpha=(*_LAST, _GAMMA),
    betas=(
        (0.0, 0.0, 0.0, 1.0),
        (1.0, 0.0, 0.0, -1.0),
    ),
    gamma=_GAMMA,
    error=(0.027099261876665316, 0.11013520969201586, -0.10306492520138458, -0.0341695463672966),
)
