"""Arrays made of numbers and of other arrays, in both modes; the oracle runs the programs in 300 bits.

Where NumPy has a function for floats alone, `plain` says what it computes, with loops.
"""

import copy
import inspect
import math

import numba
import numpy as np
import pytest
from numba import njit
from numba.np import arraymath, arrayobj

import numbad as nd
from numbad.source import define
from tests.forward.compare import same_bits
from tests.reverse.oracle import Programs, assert_numbers, check_gradient, exact_gradient
from tests.rules.arrays.whole_arrays import A, B, M, weighted, weighted2

pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
programs = Programs()


def _geometric(x, y):
    return sum((1 + 0.37 * k) * x * (y / x) ** (k / 3) for k in range(4))


@programs.on((0.7, 3.1), (-0.7, -3.1), plain=_geometric, rtol=1e-11)
def geometric(x, y):
    return weighted(np.geomspace(x, y, 4))


def _steps(x, y, h):
    every = (x, y, h), (y, x, -h), (0, y, 1)
    out = 0
    for start, stop, step in every:
        k = 0
        while (stop - (start + k * step)) * np.sign(step) > 0:
            out = out + (1 + 0.37 * k) * (start + k * step) * y
            k += 1
    return out


@programs.on((0.7, 3.1, 0.6), (-0.7, 2.1, 5.0), plain=_steps)
def steps(x, y, h):
    return (
        weighted(np.arange(x, y, h)) + weighted(np.arange(y, x, -h)) + weighted(np.arange(y))
    ) * y


has_insert = pytest.mark.skipif(
    not hasattr(arraymath, "np_insert"), reason="this Numba has no np.insert"
)
replaces_infinity = pytest.mark.skipif(
    "posinf" not in inspect.signature(arrayobj.nan_to_num_impl).parameters,
    reason="this Numba has no posinf",
)


def _with(a, *placed):
    """The numbers of a list with others, each before the one at a place of the old list."""
    out = []
    for k in range(len(a) + 1):
        out += [v for place, v in placed if place == k] + list(a[k : k + 1])
    return sum((1 + 0.37 * k) * v for k, v in enumerate(out))


def _insertions(a, m, x):
    flat = [v for row in m for v in row]
    last = len(a)
    some = _with(a, (1, x), (last, x * x), (last - 2, 2), (1, a[0]))
    one = _with(a, (2, x)) * _with(flat, *((len(flat) - 1, v) for v in a))
    return one + some * _with(a, *((3, v * x) for v in flat))


@programs.on((A, M, 0.3), (A[::-1], M.T, 0.3), plain=_insertions)
def insertions(a, m, x):
    one, before_last = np.insert(a, 2, x), np.insert(m, -1, a)
    some = np.insert(a, np.array([1, 5, -2, 1]), np.array([x, x * x, 2.0, a[0]]))
    at_one_place = np.insert(a, np.array([3]), m * x)
    return weighted(one) * weighted(before_last) + weighted(some) * weighted(at_one_place)


@programs.on((A, 0.3), (A[:0], 0.3), plain=lambda a, x: _with(a, (0, x), (0, x)) * x)
def one_number_at_several_places(a, x):
    return weighted(np.insert(a, np.array([0, 0]), x)) * x


def _remainders(a, b, x):
    rows = [[v - np.floor(v / w) * w for v in b] for w in a[:2]]
    first = sum(
        (1 + 0.37 * k + 0.83 * j) * v for j, row in enumerate(rows) for k, v in enumerate(row)
    )
    whole = sum((1 + 0.37 * k) * np.floor(v / x) for k, v in enumerate(a))
    return first * whole + sum((1 + 0.37 * k) * (5 - np.floor(5 / v) * v) for k, v in enumerate(a))


@programs.on((A, B, 0.3), (A[::-1], -B, -0.3), plain=_remainders)
def remainders(a, b, x):
    quotient, _ = np.divmod(a, x)
    return weighted2(np.divmod(b, a[:2, None])[1]) * weighted(quotient) + weighted(
        np.divmod(5.0, a)[1]
    )


def _finite(a, x, y):
    kept = [*a, x, y, 7, *a]
    return sum((1 + 0.37 * k) * v * v for k, v in enumerate(kept))


@programs.on((A, 0.7, 1.9), plain=_finite)
def finite(a, x, y):
    mixed = np.concatenate((a, np.array([np.nan, np.inf, -np.inf]), a))
    kept = np.nan_to_num(mixed, nan=x, posinf=y, neginf=7.0)
    return weighted(kept * kept)


@programs.on((0.7, 1.9), plain=lambda x, y: x * x + 2 * y * x + 3 * y * y)
def finite_numbers(x, y):
    number, none = np.nan_to_num(x, nan=y), np.nan_to_num(x * np.nan, nan=y)
    return number * x + 2 * none * x + 3 * np.nan_to_num(x * np.nan, True, y) * y


@programs.on((0.7, 1.9), plain=lambda x, y: x * y + 7 * y)
def finite_numbers_for_infinite_ones(x, y):
    most = np.nan_to_num(x * np.inf, nan=0.0, posinf=y, neginf=7.0)
    return most * x + np.nan_to_num(-x * np.inf, nan=0.0, posinf=y, neginf=7.0) * y


@programs.on((A,), plain=lambda a: sum((1 + 0.37 * k) * v * v for k, v in enumerate(a)))
def finite_already(a):
    return weighted(np.nan_to_num(a) * a)


@programs.on((0.7, A), (-1.3, A[::2]))
def arrays_without_axes(x, a):
    zero, other = np.array(x * x), np.asarray(x)
    found = weighted(zero * a + other) + zero[()] * other[()]
    other[()] = 3.0 * x
    return found * other.item() + np.sum(zero)


def _phases(a, x):
    return sum((1 + 0.37 * k) * np.arctan2(x, v) * v for k, v in enumerate(a))


@programs.on((A, 0.3), (A[::-1], -0.3), plain=_phases)
def phases(a, x):
    return weighted(np.angle(a + 1j * x) * a)


def _without_zeros(a, x):
    changed = [0, 0, x * x, *a[1:], 0]
    total = sum((1 + 0.37 * k) * v * v for k, v in enumerate(a))
    total += sum((1 + 0.37 * k) * v for k, v in enumerate(a)) * x
    total += sum((1 + 0.37 * k) * v * v for k, v in enumerate(changed))
    return total + sum((1 + 0.37 * k) * v for k, v in enumerate(changed[:-1])) * changed[-2]


@programs.on((A, 0.3), (A[:1], -0.3), plain=_without_zeros)
def without_zeros_at_the_ends(a, x):
    padded = np.zeros(a.size + 3)
    padded[2:-1] = a
    middle = np.trim_zeros(padded)
    found = weighted(middle * middle) + weighted(np.trim_zeros(padded, "f")) * x
    middle[0] = x * x
    return found + weighted(padded * padded) + weighted(np.trim_zeros(padded, "B")) * middle[-1]


def _sum2(rows):
    return sum(
        (1 + 0.37 * k + 0.83 * j) * v for j, row in enumerate(rows) for k, v in enumerate(row)
    )


def _of_one_shape(a, m):
    columns = range(len(m[0]))
    first = _sum2([[a[k % len(a)] * a[k % len(a)] + row[k] for k in columns] for row in m])
    return first * _sum2([[row[0], row[0]] for row in m])


@programs.on((A[:3], M), (A[:1], M.T), plain=_of_one_shape)
def of_one_shape(a, m):
    one, other = np.broadcast_arrays(a, m)
    wide, fixed, _ = np.broadcast_arrays(m[:, :1], np.ones((1, 2)), m[:1, :1])
    return weighted2(one * one + other) * weighted2(wide * fixed)


NEWER = {
    insertions: has_insert,
    one_number_at_several_places: has_insert,
    finite: replaces_infinity,
}
every_program = pytest.mark.parametrize(
    "program", [pytest.param(p, id=p.f.__name__, marks=NEWER.get(p.f, ())) for p in programs]
)


@pytest.mark.dear
@pytest.mark.deep(but=["steps", "finite", "one_number_at_several_places"])
@every_program
def test_gradient(program):
    check_gradient(program)


@pytest.mark.dear
@pytest.mark.deep(but=["steps", "finite"])
@every_program
def test_forward(program):
    primal = numba.njit(program.f)
    compiled = nd.value_and_grad(program.f, program.wrt, mode="forward")
    for args in program.runs:
        value, gradient = compiled(*copy.deepcopy(args))
        assert same_bits(value, primal(*copy.deepcopy(args)))
        assert_numbers(gradient, program.chosen(args), exact_gradient(program, args), program.rtol)


@pytest.mark.deep(but=["*-reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda x: np.arange(x, 2.0, 0.0).sum(), "Maximum allowed size exceeded"),
        (lambda x: np.geomspace(x, 0.0, 3).sum(), "cannot include zero"),
    ],
)
def test_what_numba_raises(f, error, mode):
    for called in (numba.njit(f), nd.grad(f, mode=mode)):
        with pytest.raises(ValueError, match=error):
            called(1.0)


@pytest.mark.deep(but=["*-IndexError0-reverse"])
@has_insert
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda x: np.insert(np.ones(3), 4, x).sum(), IndexError),
        (lambda x: np.insert(np.ones(3) * x, np.array([1, -4]), x).sum(), IndexError),
        (lambda x: np.insert(np.ones(3) * x, np.array([1, 2]), np.ones(3)).sum(), ValueError),
    ],
)
def test_what_insertions_raise(f, error, mode):
    for called in (numba.njit(f), nd.grad(f, mode=mode)):
        with pytest.raises(error):
            called(1.0)


# -- arrays like others ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_full_like_with_a_dtype(mode):
    def f(x, a):
        like_floats = np.full_like(a, x * x, dtype=np.float64)
        like_ints = np.full_like(np.arange(2), x * a[0], dtype=a.dtype)
        ones = np.full_like(a, 1.5, dtype=np.int64)
        return (like_floats * a).sum() + like_ints.sum() * x + ones[0] * a[1]

    by_x, by_a = nd.grad(f, argnums=(0, 1), mode=mode)(0.7, np.array([0.5, 0.2]))
    assert by_x == pytest.approx(2 * 0.7 * 0.7 + 4 * 0.7 * 0.5, rel=1e-14)
    np.testing.assert_allclose(by_a, [0.49 + 2 * 0.49, 0.49 + 1.0], rtol=1e-14)


# -- arrays without axes -------------------------------------------------------------------------


@njit
def _without_axes(x, y):
    """What Numba makes of numbers where NumPy's functions are given none but them."""
    a = np.where(x > 0.0, x * x, y)
    b = np.where(y > x, np.where(x > 1.0, x, x * y), a) + np.where(x > 0.0, 1.0, x)
    c = np.zeros_like(x)
    d = np.zeros_like(x, dtype=np.complex128)
    for k in range(3):
        c += x * y
        d += x + y * 1j
    e = np.empty_like(y)
    e[()] = math.sin(x)
    f = np.full_like(x, y) * np.ones_like(y)
    return a.item() + b * x + c * c + d.real * d.imag + np.exp(e) + f * x + a.sum() * y


def _by_hand(x, y):
    """The gradient for 0 < x < 1, x < y."""
    sine = math.exp(math.sin(x)) * math.cos(x)
    by_x = 2 * x + 2 * x * y + 1 + 18 * x * y * y + 9 * y + sine + y + 2 * x * y
    return by_x, x * x + 18 * x * x * y + 9 * x + x + x * x


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_arrays_without_axes(mode):
    found = nd.grad(_without_axes, argnums=(0, 1), mode=mode)(0.5, 0.8)
    assert found == pytest.approx(_by_hand(0.5, 0.8), rel=1e-14)


@pytest.mark.deep
def test_second_order_of_arrays_without_axes():
    hessian = nd.hessian(lambda a: _without_axes(a[0], a[1]))(np.array([0.5, 0.8]))
    step = 1e-5
    shifted = [
        (_by_hand(0.5 + s, 0.8 + t)) for s, t in ((step, 0), (-step, 0), (0, step), (0, -step))
    ]
    differences = np.array([np.subtract(*shifted[:2]), np.subtract(*shifted[2:])]) / (2 * step)
    np.testing.assert_allclose(hessian, differences, rtol=1e-8)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_an_array_looked_through_is_the_array(mode):
    @njit
    def f(x, a):
        b = np.asarray_chkfinite(a * x)
        c = np.asarray_chkfinite(b)
        c[0] = x * x
        return (b * c).sum()

    value_and_slope = nd.value_and_grad(f, mode=mode)
    value, slope = value_and_slope(0.7, A)
    rest = (A[1:] ** 2).sum()
    assert value == pytest.approx(0.7**4 + 0.7**2 * rest, rel=1e-15)
    assert slope == pytest.approx(4 * 0.7**3 + 2 * 0.7 * rest, rel=1e-14)
    with pytest.raises(ValueError, match="array must not contain infs or NaNs"):
        value_and_slope(0.7, np.array([1.0, np.nan]))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_an_array_looked_through_with_a_dtype(mode):
    @njit
    def f(x, a):
        same = np.asarray_chkfinite(a * x, np.float64)
        same[0] += x
        return (same * np.asarray_chkfinite(a * x, dtype=np.complex128)).sum().real

    slope = nd.grad(f, mode=mode)(0.7, A)
    assert slope == pytest.approx(1.4 * ((A**2).sum() + A[0]), rel=1e-14)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_angles_of_real_numbers_are_steps(mode):
    @njit
    def f(x):
        angles = np.angle(np.array([x, -x, 0.0 * x, -0.0, np.nan]))
        angles[4] = x if angles[4] != angles[4] else 0.0
        return angles.sum() * x

    assert nd.value_and_grad(f, mode=mode)(0.7) == pytest.approx(
        (0.7 * (2 * np.pi + 0.7), 2 * np.pi + 1.4), rel=1e-15
    )


@njit
def edges_of_numbers(x, a):
    counts, edges = np.histogram(a * x, 3)
    return (counts * edges[1:]).sum()


@njit
def edges_told(x, a):
    counts, edges = np.histogram(a * x, 3, (-x, 2.0 * x))
    return (counts * edges[1:]).sum()


@njit
def edges_given(x, a):
    counts, edges = np.histogram(a * x, np.array([-1.0, 0.5, 0.5, 3.0]) * x)
    return (counts * edges[1:]).sum()


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", [edges_of_numbers, edges_told, edges_given])
def test_edges_of_bins_have_a_derivative_and_counts_none(f, mode):
    """All edges are in proportion to `x`."""
    a = np.array([[0.5, -0.7, 2.0], [0.1, 1.1, 0.9]])
    value, slope = nd.value_and_grad(f, mode=mode)(1.25, a)
    assert value == f(1.25, a)
    assert slope == pytest.approx(value / 1.25, rel=1e-14)
    with pytest.raises(ValueError, match="histogram"):
        nd.value_and_grad(f, mode=mode)(-1.25 if f is not edges_of_numbers else np.nan, a)


def test_numbers_are_counted_as_numba_counts_them():
    def counts(x, a, bins):
        return np.histogram(a * x, bins)[0] * x

    own, through = njit(lambda a, bins: np.histogram(a, bins)[0]), nd.jacobian(counts)
    draw = np.random.default_rng(3)
    for n in range(1, 60):
        a = draw.normal(size=n % 9 + 1).round(1)
        for bins in (n % 7 + 1, np.sort(draw.normal(size=n % 7 + 2).round(1))):
            np.testing.assert_array_equal(through(1.0, a, bins), own(a, bins))


@pytest.mark.parametrize("edges", ["[0.0, 0.5, 2.0]", "(0.0, 0.5, 2.0)"])
def test_numbers_are_counted_between_edges_in_a_list(edges):
    source = f"def f(x, a):\n    return np.histogram(a * x, {edges})[0][1] * x\n"
    f = njit(define(source, {"np": np}))
    assert nd.grad(f, mode="forward")(1.1, np.array([1.2, 2.3, 0.7])) == 2.0
