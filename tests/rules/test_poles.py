"""Zero times a pole: what is left out, masked, constant or overflown to zero adds nothing, in both modes.

The expected values are differences, closed forms, or derivatives of the function without what adds nothing.
"""

import cmath
import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

INF = math.inf
MODES = ["forward", "reverse"]


def soft_time_warping(costs, gamma):
    n, m = costs.shape
    table = np.full((n + 1, m + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            p, q = -table[i - 1, j] / gamma, -table[i, j - 1] / gamma
            r = -table[i - 1, j - 1] / gamma
            top = max(p, q, r)
            total = math.exp(p - top) + math.exp(q - top) + math.exp(r - top)
            table[i, j] = costs[i - 1, j - 1] - gamma * (math.log(total) + top)
    return table[n, m]


COSTS = np.random.default_rng(3).random((3, 4))


@pytest.mark.parametrize("mode", MODES)
def test_soft_minimum_of_infinite_costs(mode):
    by_costs, by_gamma = nd.grad(soft_time_warping, argnums=(0, 1), mode=mode)(COSTS, 0.7)
    value = njit(soft_time_warping)
    wanted = (value(COSTS, 0.7 + 1e-6) - value(COSTS, 0.7 - 1e-6)) / 2e-6
    assert by_gamma == pytest.approx(wanted, rel=1e-8)
    for index in np.ndindex(COSTS.shape):
        step = np.zeros_like(COSTS)
        step[index] = 1e-6
        wanted = (value(COSTS + step, 0.7) - value(COSTS - step, 0.7)) / 2e-6
        assert by_costs[index] == pytest.approx(wanted, rel=1e-7)


def padded(x, y):
    a = np.zeros(4)
    for i in range(2):
        a[i] = x * (i + 1) + y
    total = 0.0
    for v in a:
        total += math.sqrt(v) + v**0.5
    return total


def loses(x, y):
    return min(x * INF, y * y, x * x + y)


def loses_by_ufunc(x, y):
    return np.minimum(x * INF, y * y)


def loses_in_a_loop(x, y):
    costs = np.array([INF, 3.0, INF, 4.0])
    best = INF
    for k in range(4):
        cost = x * costs[k] + y
        if cost < best:
            best = cost
    return best


def partition(beta, y):
    energies = np.array([INF, 3.0, INF, 4.0])
    total = y
    for e in energies:
        total += math.exp(-beta * e)
    return math.log(total)


def lost_sum(x, y):
    total = 0.0
    for k in range(3):
        total += math.sqrt(x * k) - y
    return max(total, 10.0) + x + y


def distance(x, y):
    a, b = np.array([x, y, 1.0]), np.array([2.0, 3.0, 1.0])
    total = 0.0
    for k in range(3):
        step = a[k] - b[k]
        total += step * step
    return math.sqrt(total)


def masked(x, mask):
    return mask * (2.0 * math.sqrt(x) + x**0.5 + 1.0) + 3.0 * x


def masked_arrays(x, y):
    a = np.array([0.0, 1.0, 2.0]) * x + y
    return np.sum(np.sqrt(a) * np.array([0.0, 1.0, 1.0]))


def chosen_arrays(x, y):
    a = np.array([0.0, 1.0, 2.0]) * x + y
    return np.sum(np.where(a > 0.0, np.log(a) + a**-0.5, 0.0))


def times_its_root(x, y):
    return x * math.sqrt(x) + y


def beside(x, y):
    return math.asin(x) + math.atanh(y) + np.linalg.norm(np.array([x - 1.0, y - 0.5]))


CASES = [
    (
        padded,
        (2.0, 1.0),
        (1.0 / math.sqrt(3) + 2.0 / math.sqrt(5), 1 / math.sqrt(3) + 1 / math.sqrt(5)),
    ),
    (loses, (2.0, 3.0), (4.0, 1.0)),
    (loses_by_ufunc, (2.0, 3.0), (0.0, 6.0)),
    (loses_in_a_loop, (2.0, 1.0), (3.0, 1.0)),
    (
        partition,
        (0.5, 1.0),
        (
            -(3 * math.exp(-1.5) + 4 * math.exp(-2)) / (1 + math.exp(-1.5) + math.exp(-2)),
            1 / (1 + math.exp(-1.5) + math.exp(-2)),
        ),
    ),
    (lost_sum, (0.0, 1.0), (1.0, 1.0)),
    (distance, (2.0, 3.0), (0.0, 0.0)),
    (masked, (0.0, 0.0), (3.0, 1.0)),
    (masked_arrays, (4.0, 0.0), (0.25 + 0.5 / math.sqrt(2), 0.25 + 0.5 / math.sqrt(8))),
    (
        chosen_arrays,
        (4.0, 0.0),
        (0.5 - 0.5 / 8 - 8**-1.5, 0.25 - 0.5 / 8 + 0.125 - 0.5 * 8**-1.5),
    ),
    (times_its_root, (0.0, 1.0), (0.0, 1.0)),
    (beside, (1.0, 0.5), (INF, 4.0 / 3.0)),
]


@pytest.mark.deep(
    but=[
        "padded-*",
        "loses-reverse",
        "loses_in_a_loop-*",
        "partition-reverse",
        "masked-*",
        "distance-reverse",
        "chosen_arrays-forward",
        "times_its_root-reverse",
    ]
)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_what_adds_nothing_adds_zero(case, mode):
    f, arguments, wanted = case
    found = nd.grad(f, argnums=(0, 1), mode=mode)(*arguments)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_what_adds_nothing_adds_zero_with_fastmath(mode):
    """Infinite slopes are the derivative's own: nothing in the function is infinite."""
    _, arguments, wanted = CASES[0]
    found = nd.grad(njit(fastmath=True)(padded), argnums=(0, 1), mode=mode)(*arguments)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def masked_roots(x, y):
    """A product of what is zero with what is not finite in its slope alone."""
    a = np.zeros(4)
    for i in range(2):
        a[i] = x * (i + 1)
    total = 0.0
    for v in a:
        total += math.sqrt(v * y)
    return total


def test_factors_of_zero_below_roots_with_fastmath():
    by_x, by_y = nd.grad(njit(fastmath=True)(masked_roots), argnums=(0, 1), mode="reverse")(
        3.0, 2.0
    )
    roots = math.sqrt(3.0) + math.sqrt(6.0)
    assert by_x == pytest.approx(math.sqrt(2.0) * roots / 6.0)
    assert by_y == pytest.approx(roots / (2.0 * math.sqrt(2.0)))


@njit
def joined(x):
    return padded_(x[0], 0.0) + loses_(x[0], x[1])


padded_, loses_ = njit(padded), njit(loses)


@pytest.mark.deep
@pytest.mark.parametrize("outer", MODES)
def test_second_order(outer):
    """That of `2 sqrt(x) + 2 sqrt(2 x) + x * x + y`."""
    gradient = nd.grad(joined, mode="forward" if outer == "reverse" else "reverse")
    found = nd.jacobian(gradient, mode=outer)(np.array([2.0, 4.0]))
    wanted = -0.5 * (2.0**-1.5 + 2**0.5 * 2.0**-1.5) + 2.0
    np.testing.assert_allclose(found, [[wanted, 0.0], [0.0, 0.0]], rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_rows_of_a_jacobian_do_not_meet(mode):
    """The root's slope stays infinite where its argument is differentiated, and nowhere else."""
    found = nd.jacobian(lambda x: np.sqrt(x) + x[::-1] / x, mode=mode)(np.array([0.0, 4.0, 9.0]))
    assert found[1].tolist() == [0.0, 0.25, 0.0]
    assert np.isinf(found[0, 2])
    assert found[2, 0] == pytest.approx(1.0 / 9.0)
    assert nd.jacobian(np.sqrt, mode=mode)(np.array([0.0, 4.0])).tolist() == [
        [INF, 0.0],
        [0.0, 0.25],
    ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: math.sqrt(x) ** 2,
        lambda x: math.sqrt(x) * (1.0 - math.sqrt(x)) - math.sqrt(x),
        lambda x: math.cos(math.sqrt(x)),
        lambda x: math.sqrt(x) * math.expm1(math.sqrt(x)),
        lambda x: math.sin(math.sqrt(x)) * math.sqrt(x),
        lambda x: math.tanh(math.sqrt(x)) ** 2,
        lambda x: (x**0.5) ** 2,
    ],
    ids=["square", "product", "cosine", "rising", "flat", "square of rising", "power"],
)
def test_a_zero_that_says_nothing_is_nan(f, mode):
    """Not 0: the derivatives at 0 from the right are 1, -1, -1/2, and 1."""
    assert math.isnan(nd.grad(f, mode=mode)(0.0))


def cardinal_sine(c):
    angle = math.sqrt(1.0 - c)
    if angle > 1e-9:
        return math.sin(angle) / angle
    return 1.0 - (1.0 - c) / 6.0


def square_of_angle(c):
    angle = math.acos(c)
    return angle * angle if angle > 1e-9 else 2.0 * (1.0 - c)


def sum_in_a_loop(c):
    total, angle = 0.0, math.sqrt(1.0 - c)
    for k in range(3):
        if angle > 1e-9:
            total += math.cos(k * angle)
        else:
            total += 1.0 - k * k * (1.0 - c) / 2.0
    return total


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("f", "slope"), [(cardinal_sine, 1.0 / 6.0), (square_of_angle, -2.0), (sum_in_a_loop, 2.5)]
)
def test_uses_in_a_branch_that_is_passed_by_add_nothing(f, slope, mode):
    gradient = nd.grad(f, mode=mode)
    assert gradient(1.0) == pytest.approx(slope)
    elsewhere = (f(0.4 + 1e-5) - f(0.4 - 1e-5)) / 2e-5
    assert gradient(0.4) == pytest.approx(elsewhere, rel=1e-8)
    in_lanes = nd.batch(gradient)(np.array([1.0, 0.4, 1.0, 1.0, 0.4]))
    np.testing.assert_allclose(in_lanes, np.array([slope, elsewhere])[[0, 1, 0, 0, 1]], rtol=1e-8)


def series_of_a_square(c):
    angle = math.sqrt(1.0 - c)
    if angle < 1e-3:
        return 1.0 - angle * angle / 6.0
    return math.sin(angle) / angle


@pytest.mark.parametrize("mode", MODES)
def test_such_a_use_that_is_reached_is_nan(mode):
    gradient = nd.grad(series_of_a_square, mode=mode)
    slope = nd.grad(cardinal_sine, mode=mode)(0.4)
    found = [gradient(1.0), gradient(0.4), gradient(1.0)]
    np.testing.assert_allclose(found, [math.nan, slope, math.nan])
    in_lanes = nd.batch(gradient)(np.array([1.0, 0.4, 0.4, 1.0]))
    np.testing.assert_allclose(in_lanes, [math.nan, slope, slope, math.nan])


def square_of_one_of_two(c):
    angle = math.sqrt(1.0 - c)
    chosen = angle if c > 0.5 else 2.0 * angle
    return chosen * chosen


def test_each_lane_asks_what_it_has_chosen():
    in_lanes = nd.batch(nd.grad(square_of_one_of_two, mode="reverse"))(np.array([1.0, 0.4, 0.7]))
    np.testing.assert_allclose(in_lanes, [math.nan, -4.0, -1.0])


def angles_one_by_one(c):
    total = 0.0
    for k in range(c.size):
        total += series_of_a_square_compiled(c[k]) if k % 2 else cardinal_sine_compiled(c[k])
    return total


series_of_a_square_compiled, cardinal_sine_compiled = njit(series_of_a_square), njit(cardinal_sine)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_reached_is_asked_of_each_iteration(mode):
    found = nd.grad(angles_one_by_one, mode=mode)(np.array([1.0, 1.0, 1.0, 0.4, 0.4]))
    slope = nd.grad(cardinal_sine, mode=mode)(0.4)
    np.testing.assert_allclose(found, [1.0 / 6.0, math.nan, 1.0 / 6.0, slope, slope])


def test_uses_that_are_passed_by_at_second_order():
    second = nd.hessian(cardinal_sine, mode="reverse")
    assert second(1.0) == 0.0
    assert second(0.4) == pytest.approx(nd.hessian(cardinal_sine, mode="forward")(0.4))


def in_lanes(x, y):
    return y * math.sqrt(x) + min(x * INF if x > 0.0 else 0.0, y * y)


@pytest.mark.parametrize("mode", MODES)
def test_lanes(mode):
    gradients = nd.batch(nd.grad(in_lanes, argnums=(0, 1), mode=mode))
    by_x, by_y = gradients(np.array([0.0, 2.0, 2.0, 0.0]), np.array([0.0, 3.0, 1.0, 1.0]))
    root = math.sqrt(2.0)
    np.testing.assert_allclose(by_x, [0.0, 1.5 / root, 0.5 / root, INF], rtol=1e-12)
    np.testing.assert_allclose(by_y, [0.0, root + 6.0, root + 2.0, 0.0], rtol=1e-12)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_complex_roots_at_zero_raise_nothing(mode):
    """Numba's complex division raises at 0; a function that is finite there must not stop."""
    roots = np.array([-4.0, 0.0, -1.0])
    found = nd.grad(lambda x: np.sqrt(x.astype(np.complex128)).imag.sum(), mode=mode)(roots)
    np.testing.assert_allclose(found[[0, 2]], [-0.25, -0.5])  # of sqrt(-x)
    assert not np.isfinite(found[1])
    slope = nd.grad(lambda x: cmath.sqrt(complex(x, 0.0)).real, mode=mode)
    assert slope(0.0) == math.inf
    assert slope(4.0) == pytest.approx(0.25)
    assert not np.isfinite(nd.grad(lambda x: cmath.asin(complex(x, 0.0)).real, mode=mode)(1.0))


def test_a_complex_root_at_zero_that_does_not_count():
    masked = nd.grad(lambda x, m: m * cmath.sqrt(complex(x, 0.0)).real + x, mode="reverse")
    assert masked(0.0, 0.0) == 1.0
