"""DETEST: the 25 nonstiff problems, classes A to E, as one right-hand side that takes a problem's number.

T. E. Hull, W. H. Enright, B. M. Fellen, A. E. Sedgwick, "Comparing numerical methods for ordinary
differential equations", SIAM Journal on Numerical Analysis 9 (1972), doi:10.1137/0709052. From t = 0 to 20.
"""

import math

import numba
import numpy as np
from scipy.linalg import expm
from scipy.special import ellipj

END = 20.0
NAMES = tuple(f"{letter}{number}" for letter in "ABCDE" for number in range(1, 6))
ECCENTRICITIES = 0.1, 0.3, 0.5, 0.7, 0.9

# The outer planets of C5, from Jupiter to Pluto: astronomical units, 100 days, solar masses.
GRAVITY, SUN = 2.95912208286, 1.00000597682
MASSES = np.array(
    [
        0.000954786104043,
        0.000285583733151,
        0.0000437273164546,
        0.0000517759138449,
        0.00000277777777778,
    ]
)
PLACES = (
    *(3.42947415189, 3.35386959711, 1.35494901715),
    *(6.64145542550, 5.97156957878, 2.18231499728),
    *(11.2630437207, 14.6952576794, 6.27960525067),
    *(-30.1552268759, 1.65699966404, 1.43785752721),
    *(-21.1238353380, 28.4465098142, 15.3882659679),
)
SPEEDS = (
    *(-0.557160570446, 0.505696783289, 0.230578543901),
    *(-0.415570776342, 0.365682722812, 0.169143213293),
    *(-0.325325669158, 0.189706021964, 0.0877265322780),
    *(-0.0240476254170, -0.287659532608, -0.117219543175),
    *(-0.176860753121, -0.216393453025, -0.0148647893090),
)


def starts():
    """The initial values, by name."""
    chain, long = np.eye(1, 10)[0], np.eye(1, 51)[0]
    given = [[1.0]] * 4 + [[4.0]]
    given += [[1.0, 3.0], [2.0, 0.0, 1.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    given += [chain, chain, chain, long, [*PLACES, *SPEEDS]]
    given += [[1.0 - e, 0.0, 0.0, math.sqrt((1.0 + e) / (1.0 - e))] for e in ECCENTRICITIES]
    bessel = [0.6713967071418030, 0.09540051444747446]
    given += [bessel, [2.0, 0.0], [0.0, 0.0], [30.0, 0.0], [0.0, 0.0]]
    return dict(zip(NAMES, map(np.array, given), strict=True))


@numba.njit(error_model="numpy")
def five_bodies(y, dy):
    distances = np.empty(5)
    for i in range(5):
        distances[i] = (y[3 * i] ** 2 + y[3 * i + 1] ** 2 + y[3 * i + 2] ** 2) ** 1.5
    for i in range(5):
        for c in range(3):
            dy[3 * i + c] = y[15 + 3 * i + c]
            total = -(SUN + MASSES[i]) * y[3 * i + c] / distances[i]
            for j in range(5):
                if j != i:
                    apart = 0.0
                    for d in range(3):
                        apart += (y[3 * j + d] - y[3 * i + d]) ** 2
                    away = (y[3 * j + c] - y[3 * i + c]) / apart**1.5
                    total += MASSES[j] * (away - y[3 * j + c] / distances[j])
            dy[15 + 3 * i + c] = GRAVITY * total


@numba.njit(error_model="numpy")
def detest(t, y, dy, which):
    """Problem number `which` of `NAMES`."""
    n = len(y)
    if which == 0:
        dy[0] = -y[0]
    elif which == 1:
        dy[0] = -0.5 * y[0] ** 3
    elif which == 2:
        dy[0] = y[0] * math.cos(t)
    elif which == 3:
        dy[0] = 0.25 * y[0] * (1.0 - y[0] / 20.0)
    elif which == 4:
        dy[0] = (y[0] - t) / (y[0] + t)
    elif which == 5:
        dy[0] = 2.0 * (y[0] - y[0] * y[1])
        dy[1] = -(y[1] - y[0] * y[1])
    elif which == 6:
        dy[0] = -y[0] + y[1]
        dy[1] = y[0] - 2.0 * y[1] + y[2]
        dy[2] = y[1] - y[2]
    elif which == 7:
        dy[0] = -y[0]
        dy[1] = y[0] - y[1] * y[1]
        dy[2] = y[1] * y[1]
    elif which == 8:
        r = math.sqrt(y[0] * y[0] + y[1] * y[1])
        dy[0] = -y[1] - y[0] * y[2] / r
        dy[1] = y[0] - y[1] * y[2] / r
        dy[2] = y[0] / r
    elif which == 9:
        dy[0] = y[1] * y[2]
        dy[1] = -y[0] * y[2]
        dy[2] = -0.51 * y[0] * y[1]
    elif which == 10 or which == 11:
        for i in range(n):
            out = 1.0 if which == 10 else i + 1.0
            into = 1.0 if which == 10 else float(i)
            dy[i] = (into * y[i - 1] if i > 0 else 0.0) - (out * y[i] if i < n - 1 else 0.0)
    elif which == 12 or which == 13:
        for i in range(n):
            left, right = y[i - 1] if i > 0 else 0.0, y[i + 1] if i < n - 1 else 0.0
            dy[i] = left - 2.0 * y[i] + right
    elif which == 14:
        five_bodies(y, dy)
    elif which < 20:
        cubed = (y[0] * y[0] + y[1] * y[1]) ** 1.5
        dy[0], dy[1] = y[2], y[3]
        dy[2], dy[3] = -y[0] / cubed, -y[1] / cubed
    else:
        dy[0] = y[1]
        if which == 20:
            dy[1] = -(y[1] / (t + 1.0) + (1.0 - 0.25 / (t + 1.0) ** 2) * y[0])
        elif which == 21:
            dy[1] = (1.0 - y[0] * y[0]) * y[1] - y[0]
        elif which == 22:
            dy[1] = y[0] ** 3 / 6.0 - y[0] + 2.0 * math.sin(2.78535 * t)
        elif which == 23:
            dy[1] = 0.032 - 0.4 * y[1] * y[1]
        else:
            dy[1] = math.sqrt(1.0 + y[1] * y[1]) / (25.0 - t)


def linear_end(name, start):
    """exp(20 A) y0, the columns of A from the right-hand side."""
    A, which = np.empty((len(start),) * 2), NAMES.index(name)
    for k, unit in enumerate(np.eye(len(start))):
        detest(0.0, unit, A[k], which)
    return expm(END * A.T) @ start


def orbit_end(e):
    """Kepler's equation, u - e sin u = t."""
    u = END
    for _ in range(200):
        u -= (u - e * math.sin(u) - END) / (1.0 - e * math.cos(u))
    c, s, b = math.cos(u), math.sin(u), math.sqrt(1.0 - e * e)
    return [c - e, b * s, -s / (1.0 - e * c), b * c / (1.0 - e * c)]


def bessel_end():
    """J_1/2 and its derivative."""
    x = END + 1.0
    size = math.sqrt(2.0 / (math.pi * x))
    return [size * math.sin(x), size * (math.cos(x) - 0.5 * math.sin(x) / x)]


def ends():
    """The exact solutions at 20, by name; closed forms but for those in `COMPUTED`."""
    start = starts()
    found = {name: linear_end(name, start[name]) for name in ("B2", "C1", "C2", "C3", "C4")}
    found |= {f"D{k + 1}": orbit_end(e) for k, e in enumerate(ECCENTRICITIES)}
    rate, u = math.sqrt(0.0128), 25.0 / (25.0 - END)
    found |= {
        "A1": [math.exp(-END)],
        "A2": [1.0 / math.sqrt(1.0 + END)],
        "A3": [math.exp(math.sin(END))],
        "A4": [20.0 / (1.0 + 19.0 * math.exp(-0.25 * END))],
        "B5": ellipj(END, 0.51)[:3],
        "E1": bessel_end(),
        "E4": [
            30.0 + 2.5 * math.log(math.cosh(rate * END)),
            math.sqrt(0.08) * math.tanh(rate * END),
        ],
        "E5": [12.5 * math.log(u) - 0.5 * (END - END**2 / 50.0), 0.5 * (u - 1.0 / u)],
    }
    return {name: np.array(value) for name, value in (found | COMPUTED).items()}


# By Taylor series in 25 digits, C5 in 22 (mpmath's `odefun`); SciPy's DOP853 at 3e-14 agrees to 5e-13.
COMPUTED = {
    "A5": [-0.78878266889640142],
    "B1": [0.67618760085766066, 0.18608160996400298],
    "B3": [2.0611536224385578e-9, 0.052572280220485125, 0.94742771771836125],
    "B4": [0.98269509280065305, 2.1984470816949297, 0.91294525072762765],
    "C5": [
        *(-4.7927302243236349, -2.4205507254490221, -0.92125093060151187),
        *(-4.2173104040352134, 7.35620294749897, 3.2237859854212118),
        *(4.0355594432622706, 17.19865528670555, 7.4789107942337028),
        *(-29.987593263248442, -4.1073109375509296, -0.92770083217544083),
        *(-24.421253025184828, 23.814590457465544, 14.920963069513588),
        *(0.34992089630639973, -0.57484876879128027, -0.25516940208791444),
        *(-0.52370409789033255, -0.24930004635796617, -0.080453416420444657),
        *(-0.38752892373341095, 0.056486032887678921, 0.03023606472143343),
        *(0.041338565467124462, -0.28623930298413793, -0.1183032405136207),
        *(-0.15119864573592056, -0.24600688943187656, -0.031896874113238771),
    ],
    "E2": [2.0081497621749486, -0.042508875273202147],
    "E3": [-0.10041788586472407, 0.24114001320959556],
}
