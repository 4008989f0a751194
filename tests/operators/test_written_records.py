"""Records among the arguments that a function writes to, in forward mode: duals stand for them."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

PEAK = np.dtype([("area", "f8"), ("n", "i4"), ("x", "f8"), ("ok", "?"), ("name", "U4")])
PULSE = np.dtype([("data", "f8", (3,)), ("id", "i8"), ("m", "f8", (2, 2)), ("peak", PEAK)])


def pulses():
    r = np.zeros(6, PULSE)[::-2]
    r["m"], r["data"], r["id"] = 2.0, 3.0, 4
    r["peak"]["name"] = "old"
    return r


def into_an_argument(x, r):
    r[0].data[1] *= x
    r[1]["m"][0, 0], r[2].peak.area = x * x, x
    r[0].id += 1
    return r[0].data.sum() * r[1].m[0, 0] * r[2].peak.area * r[1].m[1, 1]


def into_a_record(x, r):
    r.data[1] *= x
    r["m"][0, 0] = x * x
    r.peak["area"] = x
    r.id += 1
    return r.data.sum() * r.m[0, 0] * r.peak.area * r.m[1, 1]


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f, x, r: nd.grad(f, mode="forward")(x, r),
        lambda f, x, r: nd.grad(f, mode="reverse")(x, r),
        lambda f, x, r: nd.derivative(f)(x, r),
        lambda f, x, r: nd.jvp(f)((x, r), (1.0, None))[1],
    ],
    ids=["forward", "reverse", "derivative", "jvp"],
)
@pytest.mark.parametrize(
    ("f", "taken"), [(into_an_argument, slice(None)), (into_a_record, 1)], ids=["array", "record"]
)
def test_arguments_hold_what_the_function_writes(f, taken, derivative):
    """The value is 2 (6 + 3 x) x^3."""
    given, expected = pulses(), pulses()
    njit(f)(1.5, expected[taken])
    assert derivative(f, 1.5, given[taken]) == pytest.approx(36 * 1.5**2 + 24 * 1.5**3, rel=1e-14)
    assert (given == expected).all()


def test_arguments_in_second_order():
    found = nd.derivative(nd.derivative(into_an_argument))(1.5, pulses())
    assert found == pytest.approx(72 * 1.5 + 72 * 1.5**2, rel=1e-14)


def test_several_passes_start_from_the_same_records():
    def f(a, r):
        for k in range(len(a)):
            r[0].peak.area += a[k] ** 2
        return r[0].peak.area

    a, r = np.linspace(0.1, 2.0, 40), pulses()
    np.testing.assert_allclose(nd.grad(f, mode="forward")(a, r), 2 * a, rtol=1e-14)
    assert r[0]["peak"]["area"] == pytest.approx((a**2).sum(), rel=1e-14)
