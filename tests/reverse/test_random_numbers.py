"""Random numbers drawn in the function: the reverse sweep sees the draws of the forward sweep.

Each program seeds the stream itself; the oracle is the same mathematics with the draws, made
beforehand by compiled code from the same seed, as an argument.
"""

import math
import random

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.forward.compare import Programs
from tests.reverse.plain import check

programs = Programs()
SEED = 1234


# What compiled code draws after this seed, from NumPy's as from Python's generator: NumPy's numbers.
Z = np.random.RandomState(SEED).normal(size=64)
U = P = np.random.RandomState(SEED).random_sample(64)
K = np.random.RandomState(SEED).randint(0, 4, 16)


def path_plain(x, sigma, n, seed):
    for i in range(n):
        x = x + 0.1 * x + sigma * x * Z[i]
    return x * x


@programs.on(1.0, 0.25, 6, SEED, plain=path_plain, second=True)
def path(x, sigma, n, seed):
    np.random.seed(seed)
    for _ in range(n):
        x = x + 0.1 * x + sigma * x * np.random.normal()
    return x * x


def rejection_plain(x, n, seed):
    s = 0.0
    k = 0
    for _ in range(n):
        u = U[k]
        k += 1
        while u > 0.5:
            u = U[k]
            k += 1
        s = s * x + u * x
    return s


@programs.on(0.75, 5, SEED, plain=rejection_plain)
def rejection(x, n, seed):
    np.random.seed(seed)
    s = 0.0
    for _ in range(n):
        u = np.random.random()
        while u > 0.5:
            u = np.random.random()
        s = s * x + u * x
    return s


def branching_plain(x, n, seed):
    s = x
    for i in range(n):
        s = s * P[i] + x if P[i] > 0.5 else s * x + P[i]
    return s


@programs.on(0.75, 8, SEED, plain=branching_plain)
def branching_on_python_random(x, n, seed):
    random.seed(seed)
    s = x
    for _ in range(n):
        u = random.random()
        if u > 0.5:
            s = s * u + x
        else:
            s = s * x + u
    return s


def array_plain(a, seed):
    z = Z[:4]
    s = 0.0
    for i in range(4):
        s += a[i] * z[i] * a[i] * z[3 - i]
    return s


@programs.on(np.array([0.5, 1.5, 2.5, -0.75]), SEED, plain=array_plain)
def array_of_draws(a, seed):
    np.random.seed(seed)
    z = np.random.normal(0.0, 1.0, 4)
    s = 0.0
    for i in range(4):
        s += a[i] * z[i] * a[i] * z[3 - i]
    return s


@njit
def kick(x, scale):
    return x + scale * np.random.normal()


def callee_plain(x, seed):
    s = x
    for i in range(4):
        s = s + x * Z[i]
        s = s * s * 0.5
    return s


@programs.on(0.75, SEED, plain=callee_plain)
def drawn_in_a_callee(x, seed):
    np.random.seed(seed)
    s = x
    for _ in range(4):
        s = kick(s, x)
        s = s * s * 0.5
    return s


def chosen_plain(a, n, seed):
    s = 1.0
    for i in range(n):
        s = s * a[K[i]] + a[K[i]]
    return s


@programs.on(np.array([0.5, 1.5, 2.5, -0.75]), 6, SEED, plain=chosen_plain)
def drawn_indices(a, n, seed):
    np.random.seed(seed)
    s = 1.0
    for _ in range(n):
        i = np.random.randint(0, 4)
        s = s * a[i] + a[i]
    return s


@njit
def recursive(x, n):
    if n == 0:
        return x
    u = np.random.random()
    return recursive(x * x * u, n - 1) * u


def recursive_plain(x, n, seed):
    s, factor = x, 1.0
    for i in range(n):
        factor = factor * U[i]
        s = s * s * U[i]
    return s * factor


@programs.on(0.75, 4, SEED, plain=recursive_plain)
def drawn_in_a_recursion(x, n, seed):
    np.random.seed(seed)
    return recursive(x, n)


@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


# -- generators ------------------------------------------------------------------------------


def drawn_from_a_generator(x, rng, n):
    s = x
    for _ in range(n):
        s = s * x + rng.standard_normal() * s
    return s + rng.random() * x + rng.integers(0, 10) * x


def with_draws(x, z, u, k, n):
    s = x
    for i in range(n):
        s = s * x + z[i] * s
    return s + u * x + k * x


def test_generator_objects():
    own = np.random.default_rng(SEED)
    z, u, k = own.standard_normal(5), own.random(), own.integers(0, 10)
    rng = np.random.default_rng(SEED)
    value, slope = nd.value_and_grad(drawn_from_a_generator, 0, mode="reverse")(0.75, rng, 5)
    assert value == pytest.approx(with_draws(0.75, z, u, k, 5), rel=1e-15)
    h = 1e-30
    exact = with_draws(0.75 + h * 1j, z, u, k, 5).imag / h
    assert slope == pytest.approx(exact, rel=1e-13)
    assert rng.random() == own.random(), "the stream is not where the primal leaves it"


def array_from_a_generator(a, rng):
    z = rng.normal(0.0, 2.0, 3)
    s = 0.0
    for i in range(3):
        s += a[i] * a[i] * z[i]
    return s


def test_array_from_a_generator():
    a = np.array([0.5, 1.5, 2.5])
    z = np.random.default_rng(SEED).normal(0.0, 2.0, 3)
    found = nd.grad(array_from_a_generator, 0, mode="reverse")(a, np.random.default_rng(SEED))
    np.testing.assert_allclose(found, 2 * a * z, rtol=1e-14)


# -- the stream ------------------------------------------------------------------------------


@njit
def next_draws():
    return np.random.random(), random.random()


@njit
def seed_both(seed):
    np.random.seed(seed)
    random.seed(seed)


def unseeded(x, n):
    s = x
    for _ in range(n):
        s = s * np.random.normal() + x * random.gauss(0.0, 1.0)
    return s


def test_the_stream_ends_where_the_primal_leaves_it():
    primal, gradient = njit(unseeded), nd.value_and_grad(unseeded, 0, mode="reverse")
    seed_both(SEED)
    value = primal(0.75, 5)
    after = next_draws()
    seed_both(SEED)
    assert gradient(0.75, 5)[0] == value
    assert next_draws() == after


def test_calls_draw_anew():
    gradient = nd.grad(unseeded, 0, mode="reverse")
    assert gradient(0.75, 5) != gradient(0.75, 5)


# -- distributions whose parameters are differentiated: pathwise, or refused -----------------


def location(x):
    np.random.seed(SEED)
    return np.random.normal(x, 2.0) * x


def scale(x):
    np.random.seed(SEED)
    return np.random.normal(0.5, x) * x


def bounds(x):
    np.random.seed(SEED)
    return np.random.uniform(x, 2.0 * x) * x


def python_gauss(x):
    random.seed(SEED)
    return random.gauss(x, 2.0 * x) * x


def rate(x):
    np.random.seed(SEED)
    return np.random.exponential(x) * x


def lognormal(x):
    np.random.seed(SEED)
    return np.random.lognormal(x, 0.5) / math.exp(x) * x


def arrays(x):
    np.random.seed(SEED)
    return np.random.normal(x, 2.0 * x, 3).sum() * x


@pytest.mark.parametrize(
    ("f", "degree"),
    [
        (location, None),
        (scale, None),
        (bounds, 2),
        (python_gauss, 2),
        (rate, 2),
        (lognormal, 1),
        (arrays, 2),
    ],
)
def test_active_parameters_are_pathwise_or_refused(f, degree):
    """Each is a polynomial of x with the draws as coefficients; those with a degree are c x**degree."""
    try:
        value, slope = nd.value_and_grad(f, 0, mode="reverse")(1.5)
    except nd.UnsupportedError:
        return
    if degree is None:
        (low, high), h = (njit(f)(1.5 - 0.5), njit(f)(1.5 + 0.5)), 0.5
        assert slope == pytest.approx((high - low) / (2 * h), rel=1e-12)
    else:
        assert slope == pytest.approx(degree * value / 1.5, rel=1e-12)


def poisson(x):
    np.random.seed(SEED)
    return np.random.poisson(4.0 * x) * x


def inverse_normal(x):
    np.random.seed(SEED)
    return np.random.wald(x, 1.0) * x


def circular(x):
    np.random.seed(SEED)
    return np.random.vonmises(0.0, x) * x


@pytest.mark.parametrize("f", [poisson, inverse_normal, circular])
def test_samplers_that_branch_on_their_parameters(f):
    """The derivative of the program with its draws and branches, not of the expectation; or refused."""
    primal, h = njit(f), 1e-6
    difference = (primal(0.8 + h) - primal(0.8 - h)) / (2 * h)
    try:
        slope = nd.grad(f, 0, mode="reverse")(0.8)
    except nd.UnsupportedError:
        return
    assert slope == pytest.approx(difference, rel=1e-6)


def shuffled(a):
    np.random.seed(SEED)
    np.random.shuffle(a)
    return a[0] * a[1]


def test_shuffling_active_values_is_right_or_refused():
    a = np.array([1.0, 2.0, 4.0, 8.0])
    order = a.copy()
    njit(shuffled)(order)
    try:
        found = nd.grad(shuffled, 0, mode="reverse")(a.copy())
    except nd.UnsupportedError:
        return
    exact = np.zeros(4)
    exact[a == order[0]], exact[a == order[1]] = order[1], order[0]
    np.testing.assert_array_equal(found, exact)


@pytest.mark.parametrize("shuffle", [np.random.shuffle, random.shuffle])
def test_what_is_shuffled_later_is_as_it_was(shuffle):
    """The factors are constants, in an array whose order changes after they have been used."""

    def f(x, factors):
        order = factors.copy()
        total = 1.0
        for i in range(order.size):
            total = total * order[i] + x[i]
        shuffle(order)
        return total

    factors = np.array([0.1, -0.4, 0.3, 0.2])
    found = nd.grad(f, mode="reverse")(np.array([0.3, 0.7, -0.2, 0.5]), factors)
    expected = [np.prod(factors[i + 1 :]) for i in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.dear
def test_what_a_generator_shuffles_later_is_as_it_was():
    def f(x, factors, generator):
        order = factors.copy()
        total = 1.0
        for i in range(order.size):
            total = total * order[i] + x[i]
        generator.shuffle(order)
        return total

    factors = np.array([0.1, -0.4, 0.3, 0.2])
    generator = np.random.default_rng(SEED)
    found = nd.grad(f, mode="reverse")(np.array([0.3, 0.7, -0.2, 0.5]), factors, generator)
    expected = [np.prod(factors[i + 1 :]) for i in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
