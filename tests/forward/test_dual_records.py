"""Records that differentiated numbers are written to, in arrays of the function's own."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

PEAK = np.dtype([("area", "f8"), ("n", "i4"), ("x", "f8"), ("ok", "?"), ("name", "U4")])
PULSE = np.dtype([("data", "f8", (3,)), ("id", "i8"), ("m", "f8", (2, 2)), ("peak", PEAK)])
WAVE = np.dtype([("z", "c16"), ("t", "f8")])
PEAKS = np.zeros(3, PEAK)
PEAKS["area"], PEAKS["x"], PEAKS["n"] = (2.0, 3.0, 4.0), 1.5, 7
SCALES = np.array([1.0, 2.0, 3.0])
A = np.array([0.3, 0.7, 1.1])


def element_by_element(a):
    r = np.zeros(len(a), PEAK)
    for k in range(len(a)):
        r[k]["area"], r[k].x = a[k], a[k] ** 2
        r[k]["n"], r[k].ok = k, True
    return (r["area"] * r.x * (1 + r["n"]) * r["ok"]).sum()


def whole_fields(a):
    r = np.empty(3, PEAK)
    r["area"][:] = a
    r.x[:] = a * a
    r["x"][1:] *= 2.0
    return (r.area * r.x).sum()


@njit
def widen(peak, v):
    peak["x"] = v
    peak.area += v


@njit
def made(a):
    r = np.zeros(len(a), PEAK)
    for k in range(len(a)):
        widen(r[k], a[k] ** 3)
    return r


def in_callees(a):
    r, ones = made(a), made(np.ones(3))
    ones[0].area = a[1]
    return r["area"].sum() * ones[0].area * ones[1].x


def nested(a):
    r = np.zeros(2, PULSE)
    for k in range(3):
        r[0].data[k] = a[k]
        r["data"][1, k] = a[k] ** 2
    r[1]["m"][0, 1], r[0]["id"] = a[2], 5
    r[0].peak.area, r["peak"]["x"][1] = a[0], a[1]
    sums = (r["data"][0] * r["data"][1]).sum() * r[1].m[0, 1] * r[0].id
    return sums * r[0]["peak"]["area"] * r[1].peak.x


def complex_numbers(a):
    r = np.zeros(2, WAVE)
    r[0]["z"], r[1].t = a[0] + 1j * a[1], a[2]
    return (r[0].z * r[0].z).real * r[1].t


def copied_and_sorted(a):
    r = np.zeros(3, PEAK)
    r["area"][:] = a
    r[0] = r[2]
    r[1:] = r[:2].copy()
    q = np.concatenate((r[np.argsort(-r["area"])], r[r["area"] > 1.0]))
    s = 0.0
    for peak in q:
        peak.x = s
        s += peak.area**2
    return s * q[-1].x


def sum_over_records(a):
    r, w = np.zeros(3, PULSE), np.zeros(3, WAVE)
    for k in range(3):
        r[k].data[1], r[k].peak.area, w[k].z = a[k], a[k] ** 2, a[k] * (1 + 2j)
    s = 0.0
    for k in range(3):
        s += r[k].data[1] * r[k].peak.area + (w[k].z * w[k].z).imag
    for k in range(2):
        r[k].peak.x = s * s * k
    return r["peak"]["x"].sum()


def constants_beside_duals(a):
    r = PEAKS.copy()
    r[1].area *= a[0]
    q = np.zeros(3, PEAK)
    q[0].area = a[1]
    q[1:] = PEAKS[1:]
    q[1] = PEAKS[0]
    return (r["area"] * q["area"] * q["n"]).sum()


def one_of_two_arrays(a):
    if a[0] > 0.1:
        r = np.zeros(3, PEAK)
        r["area"][:] = a
    else:
        r = np.zeros(2, PEAK)
    t = (r, a)
    t[0][1].area *= t[1][2]
    return r["area"].sum()


def copy_of_a_constant_array(a):
    scales = SCALES.copy()
    scales[1] *= a[0]
    return scales[1] * scales[2]


def plain_nested(a):
    return (a**3).sum() * a[2] * 5 * a[0] * a[1]


PROGRAMS = (
    (element_by_element, lambda a: (a**3 * np.arange(1, 4)).sum()),
    (whole_fields, lambda a: (a**3 * np.array([1, 2, 2])).sum()),
    (in_callees, lambda a: (a**3).sum() * a[1]),
    (nested, plain_nested),
    (complex_numbers, lambda a: (a[0] ** 2 - a[1] ** 2) * a[2]),
    (copied_and_sorted, lambda a: (4 * a[2] ** 2 + a[1] ** 2) * (3 * a[2] ** 2 + a[1] ** 2)),
    (
        sum_over_records,
        lambda a: ((a**3).sum() + 4 * (a * a).sum()) ** 2,
    ),
    (constants_beside_duals, lambda a: 3 * a[0] * 2 * 7 + 4 * 4 * 7),
    (one_of_two_arrays, lambda a: a[0] + a[1] * a[2] + a[2]),
    (copy_of_a_constant_array, lambda a: 6 * a[0]),
)
NAMES = [f.__name__ for f, _ in PROGRAMS]


def by_complex_step(plain, a):
    return np.array([plain(a + 1e-30j * unit).imag for unit in np.eye(a.size)]) / 1e-30


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("f", "plain"), PROGRAMS, ids=NAMES)
def test_gradients(f, plain, mode):
    assert njit(f)(A) == pytest.approx(plain(A), rel=1e-13)
    np.testing.assert_allclose(nd.grad(f, mode=mode)(A), by_complex_step(plain, A), rtol=1e-13)


@pytest.mark.dear
def test_second_derivatives():
    hessian = nd.hessian(element_by_element)(A)
    np.testing.assert_allclose(hessian, np.diag(6 * A * np.arange(1, 4)), rtol=1e-13)


def test_records_that_are_returned_are_refused():
    def f(x):
        r = np.zeros(1, PEAK)
        r[0].area = x
        return r

    with pytest.raises(nd.ArgumentError, match="a structured array"):
        nd.jvp(f)((1.5,), (1.0,))
