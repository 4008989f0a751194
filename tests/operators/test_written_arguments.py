"""Records and tuples of arrays that a function writes to, in forward mode: duals stand for them."""

from collections import namedtuple

import numpy as np
import pytest
from numba import float64, int64, njit
from numba.typed import Dict, List

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


Work = namedtuple("Work", "squares calls")


def through_work(x, work):
    """The sum of 3 x**3, by arrays that hold x**2, and how often they were written to."""
    work.calls[0] += 1
    for i in range(x.size):
        work.squares[i, 0] = x[i] * x[i]
    return 3.0 * work.calls[0] * (work.squares[:, 0] * x).sum()


def work_of(n):
    return Work(np.zeros((n, 2))[:, ::-1], np.zeros(1, np.int64))


@pytest.mark.parametrize("n", [2, 20])  # in one pass, and in several
@pytest.mark.parametrize(
    "derivative",
    [
        lambda x, work: nd.grad(through_work, mode="forward")(x, work),
        lambda x, work: nd.grad(through_work, mode="reverse")(x, work),
        lambda x, work: nd.jacobian(through_work, mode="forward")(x, work),
        lambda x, work: nd.hessian(through_work)(x, work).sum(axis=0) * x / 2,
    ],
    ids=["grad", "reverse", "jacobian", "hessian"],
)
def test_a_tuple_of_work_arrays(derivative, n):
    x, work = np.linspace(1.0, 2.0, n), work_of(n)
    np.testing.assert_allclose(derivative(x, work), 9 * x**2, rtol=1e-14)
    np.testing.assert_allclose(work.squares[:, 0], x * x)
    assert work.calls[0] == 1
    assert not work.squares[:, 1].any()


def test_a_direction_through_a_tuple_of_work_arrays():
    x, work = np.linspace(1.0, 2.0, 3), work_of(3)
    _, along = nd.jvp(through_work, 0)((x, work), (np.ones(3),))
    assert along == pytest.approx((9 * x**2).sum(), rel=1e-14)
    (found,) = nd.hvp(through_work, 0)((x, work_of(3)), (np.ones(3),))
    np.testing.assert_allclose(found, 18 * x, rtol=1e-14)


def test_starred_work_arrays():
    def f(x, *work):
        work[0][:] = x * x
        work[1][0] += 1.0
        return work[0].sum() * work[1][0]

    x, work = np.arange(20.0), (np.zeros(20), np.zeros(1))
    for mode in ("forward", "reverse"):
        work[1][0] = 0.0
        np.testing.assert_array_equal(nd.grad(f, mode=mode)(x, *work), 2 * x)
        assert work[1][0] == 1.0


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_read_only_array_beside_one_that_is_written(mode):
    """A global array in a tuple with work space: of the tuple it is known that something is written."""

    def squared(arrays, c):
        weights, work = arrays
        work[0] = c * weights[0]
        return work[0] ** 2

    gradient, weights = nd.grad(squared, 1, mode=mode), np.array([0.25])
    second = nd.derivative(lambda c, work: gradient((weights, work), c))
    assert second(2.0, np.zeros(1)) == 2 * 0.25**2


def test_members_that_share_memory_are_refused():
    compiled = njit(through_work)
    x, one = np.arange(3.0), np.zeros((3, 2))
    with pytest.raises(nd.ArgumentError, match="share memory"):
        nd.grad(lambda x, a: compiled(x, a[0]) + a[1].sum(), mode="forward")(
            x, (Work(one, np.zeros(1, np.int64)), one)
        )


def test_a_list_in_a_tuple_is_refused_in_several_passes():
    @njit
    def growing(x, kept):
        kept[1].append(x[0])
        return x.sum()

    with pytest.raises(nd.UnsupportedError, match="may change its argument 'kept'"):
        nd.grad(growing, mode="forward")(np.ones(20), (1.0, List([1.0])))


def appended(x, kept):
    kept.append(x)
    return x * kept[-1]


def set_at_zero(x, kept):
    kept[0] = x
    return x * kept[0]


@pytest.mark.parametrize(
    "derivative",
    [lambda f: nd.grad(f, mode="forward"), nd.derivative],
    ids=["grad", "derivative"],
)
@pytest.mark.parametrize(
    ("f", "kept"),
    [
        (appended, List([1.0])),
        (set_at_zero, List([1.0])),
        (set_at_zero, Dict.empty(int64, float64)),
    ],
    ids=["appended", "set", "dict"],
)
def test_lists_and_dicts_that_differentiated_numbers_are_put_into_are_refused(f, kept, derivative):
    with pytest.raises(
        nd.UnsupportedError, match="differentiated numbers into its argument 'kept'"
    ):
        derivative(f)(3.0, kept)
    if not isinstance(kept, Dict):
        assert nd.grad(f)(3.0, kept) == 6.0  # by the other mode
