"""Rodas5P: a stiffly accurate Rosenbrock method of order 5(4) with a dense output of order 4.

G. Steinebach, "Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the
Julia Differential Equations package", BIT Numerical Mathematics 63 (2023) 27,
doi:10.1007/s10543-023-00967-x: the coefficients of its table in the form of Hairer & Wanner, II, (7.25).
"""

from numbad.ode.rosenbrock import Rosenbrock
from numbad.ode.tableau import product

_GAMMA = 0.21193756319429014

_A5 = (
    -7.502846399306121,
    2.561846144803919,
    -11.627539656261098,
    -0.18268767659942256,
    0.030198172008377946,
)
_A6 = (*_A5, 1.0)
_A7 = (*_A6, 1.0)

# The dense output y + theta (y1 - y) + theta (1 - theta) sum_j (H0j + theta (H1j + theta H2j)) k_j.
_H = (
    (
        25.948786856663858,
        -2.5579724845846235,
        10.433815404888879,
        -2.3679251022685204,
        0.524948541321073,
        1.1241088310450404,
        0.4272876194431874,
        -0.17202221070155493,
    ),
    (
        -9.91568850695171,
        -0.9689944594115154,
        3.0438037242978453,
        -24.495224566215796,
        20.176138334709044,
        15.98066361424651,
        -6.789040303419874,
        -6.710236069923372,
    ),
    (
        11.419903575922262,
        2.8879645146136994,
        72.92137995996029,
        80.12511834622643,
        -52.072871366152654,
        -59.78993625266729,
        -0.15582684282751913,
        4.883087185713722,
    ),
)


def stiffly_accurate_interpolant(b, h):
    """Coefficients of theta ... theta**4 of each stage's weight, from those of the dense output above."""
    rows = []
    for weight, *coefficients in zip(b, *h, strict=True):
        bent = product((0.0, 1.0, -1.0), tuple(coefficients))[1:]
        rows.append((weight + bent[0], *bent[1:]))
    return tuple(rows)


_B = (*_A7, 1.0)

RODAS5P = Rosenbrock(
    name="Rodas5P",
    source="Steinebach (2023), doi:10.1007/s10543-023-00967-x",
    order=5,
    embedded_order=4,
    dense_order=4,
    gamma=_GAMMA,
    a=(
        (),
        (3.0,),
        (2.849394379747939, 0.45842242204463923),
        (-6.954028509809101, 2.489845061869568, -10.358996098473584),
        (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
        _A5,
        _A6,
        _A7,
    ),
    b=_B,
    error=(0.0,) * 7 + (1.0,),
    c=(
        0.0,
        0.6358126895828704,
        0.4095798393397535,
        0.9769306725060716,
        0.4288403609558664,
        1.0,
        1.0,
        1.0,
    ),
    couplings=(
        (),
        (-14.155112264123755,),
        (-17.97296035885952, -2.859693295451294),
        (147.12150275711716, -1.41221402718213, 71.68940251302358),
        (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
        (
            24.854864614690072,
            -3.0009227002832186,
            47.4931110020768,
            5.5814197821558125,
            -0.6610691825249471,
        ),
        (
            30.91273214028599,
            -3.1208243349937974,
            77.79954646070892,
            34.28646028294783,
            -19.097331116725623,
            -28.087943162872662,
        ),
        (
            37.80277123390563,
            -3.2571969029072276,
            112.26918849496327,
            66.9347231244047,
            -40.06618937091002,
            -54.66780262877968,
            -9.48861652309627,
        ),
    ),
    interpolant=(*stiffly_accurate_interpolant(_B, _H), (0.0,) * 4),
)
