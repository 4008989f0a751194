"""Models and data that the tests fit."""

from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from numbad.data import load_hudson_bay

YEARS, COUNTS = load_hudson_bay()
HARE, LYNX = COUNTS.T
START = {"growth": 0.5, "predation": 0.03, "death": 0.8, "conversion": 0.02}
FIRST = {"hare": 30.0, "lynx": 4.0}
# The optimum of the log-scale fit of all six unknowns, and standard errors of the logarithms
# (40-digit Gauss-Newton on a Taylor-series solution).
BEST = {
    "growth": (0.5401589923068159, 0.11013178162188907),
    "predation": (0.027165357158833548, 0.14146857161257442),
    "death": (0.796386043460094, 0.10529612804838594),
    "conversion": (0.02369463835825929, 0.1386826037456402),
    "hare(1900)": (34.60242437188266, 0.08465904311828878),
    "lynx(1900)": (5.8445061397389, 0.08200868793897806),
}
BEST_COST = 1.0093305775977257
FIRST_COST = 9.76660862099162


def predator_prey(t, y, growth, predation, death, conversion):
    return (growth - predation * y[1]) * y[0], (conversion * y[0] - death) * y[1]


def one_argument(t, y, p):
    return (p[0] - p[1] * y[1]) * y[0], (p[3] * y[0] - p[2]) * y[1]


def by_name(t, y, p):
    return (p.growth - p.predation * y.lynx) * y.hare, (p.conversion * y.hare - p.death) * y.lynx


def any_number(t, y, *p):
    return (p[0] - p[1] * y[1]) * y[0], (p[3] * y[0] - p[2]) * y[1]


def arrays(t, y, growth, predation, death, conversion):
    eaten = y[0] * y[1]
    return np.array([growth * y[0] - predation * eaten, conversion * eaten - death * y[1]])


def needs_arrays(t, y, growth, predation, death, conversion):
    total = y.sum()
    return np.array([
        (growth - predation * (total - y[0])) * y[0],
        (conversion * (total - y[1]) - death) * y[1],
    ])  # fmt: skip


class Animals(NamedTuple):
    hare: float
    lynx: float


def decay(t, y, rate):
    return (-rate * y[0],)


def scipy_states(fun, y0, ts, *p):
    """The solution by SciPy, to about twelve digits."""
    span = ts[0], ts[-1]
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
    return solve_ivp(fun, span, y0, t_eval=ts, args=p, **options).y.T
