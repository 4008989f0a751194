"""Right-hand sides that the tests share, so that each is compiled once, and reference values.

The references were computed with Taylor series in 50-digit arithmetic, for Lotka-Volterra with its
variational equations; two choices of step and order agree to 29 digits or more.
"""

from collections import namedtuple

import numpy as np

from numbad.ode.integrate import Settings

Point = namedtuple("Point", "position velocity")
Spring = namedtuple("Spring", "stiffness mass")

LORENZ_PARAMETERS = (10.0, 28.0, 8.0 / 3.0)
LORENZ_START = (1.0, 0.0, 0.0)
LORENZ_TIMES = (0.0, 0.5, 5.0, 15.0)
LORENZ = np.array(
    [
        [1.0, 0.0, 0.0],
        [6.503159971870705, -8.487016008427691, 38.07347778737239],
        [-6.974570472684818, -7.021060890822531, 25.119616492127594],
        [-10.30703578205043, -4.451151241384303, 35.09466338572222],
    ]
)

# Growth a, predation b, death c, conversion d; prey u, predator v. The loss is the sum of squares
# of u - (2 + sin 2t), v - (2 + cos 2t) at t = 0, 0.1, ..., 10.
VOLTERRA_PARAMETERS = (1.5, 1.0, 3.0, 1.0)
VOLTERRA_START = (1.0, 1.0)
VOLTERRA_TIMES = np.arange(101) * 0.1
VOLTERRA_DATA = np.stack([2 + np.sin(2 * VOLTERRA_TIMES), 2 + np.cos(2 * VOLTERRA_TIMES)], axis=1)
VOLTERRA_END = np.array([1.0263447675750894, 0.9096910781360417])
VOLTERRA_LOSS = 896.7162397062746
# by a, b, c, d, u0, v0
VOLTERRA_GRADIENT = np.array(
    [
        -131.96921070923602,
        -349.53125504918796,
        781.2705879281092,
        -2559.3702042862055,
        -1025.4441057474623,
        -213.02131457755218,
    ]
)
VOLTERRA_END_JACOBIAN = np.array(
    [
        [2.160557523562618, -6.256770517220816],
        [0.1885687770780593, -0.6979775889893585],
        [0.5631827941681977, -1.709017680597935],
        [0.9396512871530798, -2.743979155920181],
        [1.9659960547281692, -2.743979155920181],
        [0.1885687770780593, 0.21171348914668314],
    ]
)


def lorenz(t, y, sigma, rho, beta):
    x, v, z = y
    return sigma * (v - x), x * (rho - z) - v, x * v - beta * z


def volterra(t, y, a, b, c, d):
    u, v = y
    return (a - b * v) * u, (d * u - c) * v


def decay(t, y, rate):
    return -rate * y


def settings(rtol=1e-6, atol=1e-9, first_step=0.0, max_step=np.inf, max_steps=100_000):
    return Settings(rtol, atol, first_step, max_step, max_steps)
