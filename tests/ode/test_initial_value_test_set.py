"""Problems of F. Mazzia, C. Magherini, "Test Set for Initial Value Problem Solvers", release 2.4 (2008), with
the reference solutions given there."""

import math
from collections import namedtuple

import numba
import numpy as np
import pytest

import numbad as nd

Given = namedtuple("Given", "fun start end method options reference rtol")


def oregonator(t, y):
    a, b, c = y
    return (
        77.27 * (b + a * (1.0 - 8.375e-6 * a - b)),
        (c - (1.0 + a) * b) / 77.27,
        0.161 * (a - c),
    )


def hires(t, y):
    a, b, c, d, e, f, g, h = y
    bound = 280.0 * f * h
    return (
        -1.71 * a + 0.43 * b + 8.32 * c + 0.0007,
        1.71 * a - 8.75 * b,
        -10.03 * c + 0.43 * d + 0.035 * e,
        8.32 * b + 1.71 * c - 1.12 * d,
        -1.745 * e + 0.43 * f + 0.43 * g,
        -bound + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g,
        bound - 1.81 * g,
        -bound + 1.81 * g,
    )


SOLUBILITY = 115.83


def akzo_nobel(t, y):
    a, oxygen, c, d, e, f = y
    root = math.sqrt(oxygen)
    r1, r2, r3 = 18.7 * a**4 * root, 0.58 * c * d, 0.58 / 34.4 * a * e
    r4, r5 = 0.09 * a * d * d, 0.42 * f * f * root
    inflow = 3.3 * (0.9 / 737.0 - oxygen)
    return (
        -2.0 * r1 + r2 - r3 - r4,
        -0.5 * r1 - r4 - 0.5 * r5 + inflow,
        r1 - r2 + r3,
        -r2 + r3 - 2.0 * r4,
        r2 - r3 + r5,
        SOLUBILITY * a * d - f,
    )


@numba.njit
def diode(voltage):
    return 40.67286402e-9 * (math.exp(17.7493332 * voltage) - 1.0)


def ring_modulator(t, y, dy):
    first, second = 0.5 * math.sin(2e3 * math.pi * t), 2.0 * math.sin(2e4 * math.pi * t)
    q1 = diode(y[2] - y[4] - y[6] - second)
    q2 = diode(-y[3] + y[5] - y[6] - second)
    q3 = diode(y[3] + y[4] + y[6] + second)
    q4 = diode(-y[2] - y[5] + y[6] + second)
    dy[0] = (y[7] - 0.5 * y[9] + 0.5 * y[10] + y[13] - y[0] / 25e3) / 1.6e-8
    dy[1] = (y[8] - 0.5 * y[11] + 0.5 * y[12] + y[14] - y[1] / 25e3) / 1.6e-8
    dy[2] = (y[9] - q1 + q4) / 2e-12
    dy[3] = (-y[10] + q2 - q3) / 2e-12
    dy[4] = (y[11] + q1 - q3) / 2e-12
    dy[5] = (-y[12] - q2 + q4) / 2e-12
    dy[6] = (-y[6] / 50.0 + q1 + q2 - q3 - q4) / 1e-8
    dy[7] = -y[0] / 4.45
    dy[8] = -y[1] / 4.45
    dy[9] = (0.5 * y[0] - y[2] - 17.3 * y[9]) / 5e-4
    dy[10] = (-0.5 * y[0] + y[3] - 17.3 * y[10]) / 5e-4
    dy[11] = (0.5 * y[1] - y[4] - 17.3 * y[11]) / 5e-4
    dy[12] = (-0.5 * y[1] + y[5] - 17.3 * y[12]) / 5e-4
    dy[13] = (-y[0] + first - (50.0 + 36.3) * y[13]) / 2e-3
    dy[14] = (-y[1] - (600.0 + 36.3) * y[14]) / 2e-3


def pleiades(t, y, dy):
    for i in range(7):
        dy[i], dy[7 + i] = y[14 + i], y[21 + i]
        dy[14 + i] = dy[21 + i] = 0.0
        for j in range(7):
            if j != i:
                dx, dz = y[j] - y[i], y[7 + j] - y[7 + i]
                pull = (j + 1.0) / (dx * dx + dz * dz) ** 1.5
                dy[14 + i] += pull * dx
                dy[21 + i] += pull * dz


PLEIADES_START = (
    *(3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0),
    *(3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0),
    *(0.0, 0.0, 0.0, 0.0, 0.0, 1.75, -1.5),
    *(0.0, 0.0, 0.0, -1.25, 1.0, 0.0, 0.0),
)

PROBLEMS = {
    "OREGO": Given(
        oregonator,
        (1.0, 2.0, 3.0),
        360.0,
        "AutoTsit5",
        {},
        (0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3),
        1e-8,
    ),
    "HIRES": Given(
        hires,
        (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057),
        321.8122,
        "Rodas5P",
        {},
        (
            *(0.7371312573325668e-3, 0.1442485726316185e-3),
            *(0.5888729740967575e-4, 0.1175651343283149e-2),
            *(0.2386356198831331e-2, 0.6238968252742796e-2),
            *(0.2849998395185769e-2, 0.2850001604814231e-2),
        ),
        1e-8,
    ),
    "Chemical Akzo Nobel": Given(
        akzo_nobel,
        (0.444, 0.00123, 0.0, 0.007, 0.0, SOLUBILITY * 0.444 * 0.007),
        180.0,
        "Rodas5P",
        dict(mass_matrix=np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])),
        (
            *(0.1150794920661702, 0.1203831471567715e-2, 0.1611562887407974),
            *(0.3656156421249283e-3, 0.1708010885264404e-1, 0.4873531310307455e-2),
        ),
        1e-8,
    ),
    "Ring modulator": Given(
        ring_modulator,
        np.zeros(15),
        1e-3,
        "Rodas5P",
        dict(inplace=True),
        (
            *(-0.2339057358486745e-1, -0.7367485485540825e-2, 0.2582956709291169),
            *(-0.4064465721283450, -0.4039455665149794, 0.2607966765422943),
            *(0.1106761861269975, 0.2939904342435596e-6, -0.2840029933642329e-7),
            *(0.7267198267264553e-3, 0.7929487196960840e-3, -0.7255283495698965e-3),
            *(-0.7941401968526521e-3, 0.7088495416976114e-4, 0.2390059075236570e-4),
        ),
        1e-6,
    ),
    "Pleiades": Given(
        pleiades,
        np.array(PLEIADES_START),
        3.0,
        "DOP853",
        dict(inplace=True),
        (
            *(0.3706139143970502, 0.3237284092057233e1, -0.3222559032418324e1),
            *(0.6597091455775310, 0.3425581707156584, 0.1562172101400631e1),
            *(-0.7003092922212495, -0.3943437585517392e1, -0.3271380973972550e1),
            *(0.5225081843456543e1, -0.2590612434977470e1, 0.1198213693392275e1),
            *(-0.2429682344935824, 0.1091449240428980e1),
        ),
        1e-6,
    ),
}


@pytest.mark.dear
@pytest.mark.deep(but=["OREGO", "Chemical Akzo Nobel"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_published_solutions(name):
    given = PROBLEMS[name]
    solve = nd.ode.solver(
        given.fun, method=given.method, rtol=1e-9, atol=1e-13, max_steps=10**6, **given.options
    )
    found = solve(given.start, (0.0, given.end), ())[-1]
    np.testing.assert_allclose(found[: len(given.reference)], given.reference, rtol=given.rtol)
