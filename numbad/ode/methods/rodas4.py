"""Rodas4: the stiffly accurate Rosenbrock method of order 4(3) of Hairer & Wanner, dense output of order 3.

E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", 2nd ed., IV.10, table 10.2 and their
code RODAS (method 1), in the form (7.25).
"""

from numbad.ode.rosenbrock import Rosenbrock, stiffly_accurate_interpolant

_A4 = (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950)
_A5 = (*_A4, 1.0)
_B = (*_A5, 1.0)

_H = (
    (
        10.12623508344586,
        -7.487995877610167,
        -34.80091861555747,
        -7.992771707568823,
        1.025137723295662,
        0.0,
    ),
    (
        -0.6762803392801253,
        6.087714651680015,
        16.43084320892478,
        24.76722511418386,
        -6.594389125716872,
        0.0,
    ),
)

RODAS4 = Rosenbrock(
    name="Rodas4",
    source="Hairer & Wanner (1996), IV.10",
    order=4,
    embedded_order=3,
    dense_order=3,
    gamma=0.25,
    a=(
        (),
        (1.544,),
        (0.9466785280815826, 0.2557011698983284),
        (3.314825187068521, 2.896124015972201, 0.9986419139977817),
        _A4,
        _A5,
    ),
    b=_B,
    error=(0.0,) * 5 + (1.0,),
    c=(0.0, 0.386, 0.21, 0.63, 1.0, 1.0),
    couplings=(
        (),
        (-5.6688,),
        (-2.430093356833875, -0.2063599157091915),
        (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
        (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
        (
            8.083246795921522,
            -7.981132988064893,
            -31.52159432874371,
            16.31930543123136,
            -6.058818238834054,
        ),
    ),
    interpolant=(*stiffly_accurate_interpolant(_B, _H), (0.0,) * 3),
)
