"""NON, of weak order 2: Y. Komori, J. Comput. Appl. Math. 206 (2007) 158-173.

Coefficients as in `constructNON` of SciML's StochasticDiffEq.jl, src/tableaus.jl. Without noise it is the
classical method of order 4. The diffusion is taken at t, t + 2 h and t - 2 h, too.
"""

from numbad.sde.scheme import WeakKomori

NON = WeakKomori(
    name="NON",
    source="Komori, J. Comput. Appl. Math. 206 (2007) 158-173, doi:10.1016/j.cam.2006.06.006",
    calculus="stratonovich",
    orders={"diagonal": 1.0, "scalar": 1.0, "additive": 1.0, "general": 0.5},
    a0=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
    a1=((), (2.0,), (0.0, 0.0), (-2.0, 0.0, 0.0)),
    b0=((), (1.0,), (-9.0 / 8.0, 9.0 / 8.0), (1.0, 0.0, 0.0)),
    b1=((), (2.0 / 3.0,), (1.0 / 12.0, 0.25), (-1.25, 0.25, 2.0)),
    b2=((), (0.0,), (0.25, 0.75), (0.25, 0.75, 0.0)),
    alpha=(1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0),
    beta=(0.125, 0.375, 0.375, 0.125),
)
