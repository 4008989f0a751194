"""Loops that read elements beside each other: which gather their terms, and that the terms are right."""

import numpy as np
import pytest
from numba import njit, prange

import numbad as nd
from numbad.reverse import switches
from numbad.reverse.loops import stencils
from numbad.reverse.loops.stencils import LENGTH
from tests.reverse.oracle import Programs, check_gradient

programs = Programs()
gathering = {}  # name -> how many loops gather


def drawn(*shape):
    return np.random.default_rng(sum(shape)).uniform(-1, 1, shape)


LINES = [(drawn(n), 0.3) for n in (6, 0, 1, 2, 3, 5, 7, 11)]
GRIDS = [(drawn(*shape), 0.3) for shape in ((4, 5), (3, 9), (2, 2))]
SHORT = 4  # a block, for the oracle's sake, which is slow


@pytest.fixture(params=[LENGTH, SHORT])
def length(request, monkeypatch):
    monkeypatch.setattr(stencils, "LENGTH", request.param)
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")
    switches.renew()
    yield request.param
    switches.renew()


def gathers(count, runs, **options):
    def register(f):
        gathering[f.__name__] = count
        return programs.on(*runs, **options)(f)

    return register


@gathers(1, LINES)
def laplacian(u, d):
    out = np.zeros(u.size)
    for i in range(1, u.size - 1):
        out[i] = u[i] * u[i] + d * (u[i - 1] - 2.0 * u[i] + u[i + 1])
    total = 0.0
    for i in range(u.size):
        total += out[i] * out[i] * (i + 1)
    return total


@gathers(1, GRIDS)
def five_points(u, d):
    out = np.zeros(u.shape)
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            out[i, j] = d * (u[i, j - 1] + u[i, j + 1] + u[i - 1, j] * u[i + 1, j]) * u[i, j]
    total = 0.0
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            total += out[i, j] * out[i, j] * (i + 2 * j)
    return total


@gathers(1, [(np.asfortranarray(u), d) for u, d in GRIDS])
def down_the_columns(u, d):
    out = np.zeros(u.shape)
    for j in range(u.shape[1]):
        for i in range(1, u.shape[0]):
            out[i, j] = (u[i, j] - u[i - 1, j]) * u[i, j] * d
    return (out * out).sum()


@gathers(0, GRIDS)
def across_memory(u, d):
    out = np.zeros(u.shape)
    for j in range(u.shape[1]):
        for i in range(1, u.shape[0]):
            out[i, j] = (u[i, j] - u[i - 1, j]) * u[i, j] * d
    return (out * out).sum()


@gathers(2, LINES[:6])
def time_steps(start, d):
    u, new = start.copy(), start.copy()
    for _ in range(3):
        for i in range(1, u.size - 1):
            new[i] = u[i] + d * (u[i - 1] * u[i + 1] - u[i] * u[i])
        for i in range(1, u.size - 1):
            u[i] = new[i] - d * (new[i + 1] - new[i - 1])
    return np.sum(u * u)


@gathers(1, [(drawn(9), drawn(3)), (drawn(13), drawn(3))])
def filtered(u, w):
    out = np.zeros(u.size)
    for i in range(u.size - 2):
        out[i] += w[0] * u[i] + w[1] * u[i + 1] + w[2] * u[i + 2]
    return np.sum(out * out * out)


@gathers(1, LINES)
def two_arrays(u, d):
    v = u * d
    out = np.zeros(u.size)
    for i in range(u.size - 1):
        out[i] = (u[i] + u[i + 1]) * (v[i + 1] - v[i]) + abs(u[i])
    return np.sum(out * out)


@gathers(1, LINES)
def by_its_own_counter(u, d):
    out = np.zeros(u.size)
    k = 0
    for _ in range(u.size - 1):
        out[k] = u[k] * u[k + 1] + d * u[k + 1]
        k += 1
    return np.sum(out * out)


@gathers(1, [(drawn(8), 0.3, 1), (drawn(8), 0.3, 3)])
def shifted_by_an_outer_loop(u, d, width):
    out = np.zeros(u.size)
    for k in range(width):
        for i in range(u.size - k - 1):
            out[i] += d * u[i + k] * u[i + k + 1]
    return np.sum(out * out)


# -- where terms must not wait ---------------------------------------------------------------


@gathers(1, [(drawn(11), 0.3), (drawn(3), 0.3), (drawn(1), 0.3)])
def option_on_a_tree(u, d):
    """The larger of two, which may be equal, of neighbours in the row below."""
    n = u.size
    v = np.zeros((n + 1, n))
    for j in range(n):
        v[n, j] = max(u[j], d)
    for i in range(n - 1, 0, -1):
        for j in range(i):
            v[i, j] = max(0.5 * (v[i + 1, j] * d + v[i + 1, j + 1]), min(u[j], u[j + 1], d + 0.1))
    return v[1, 0] * v[n, 0]


@gathers(0, LINES)
def in_place(u, d):
    u = u.copy()
    for i in range(1, u.size - 1):
        u[i] = d * (u[i - 1] + u[i + 1]) * u[i]
    return np.sum(u * u)


@gathers(0, LINES[4:])
def through_a_view(u, d):
    u = u.copy()
    inner = u[1:]
    for i in range(1, u.size - 2):
        inner[i] = d * (u[i - 1] + u[i + 1]) * u[i]
    return np.sum(u * u)


@gathers(0, LINES)
def linear_in_place(u, d):
    u = u.copy()
    for i in range(1, u.size - 1):
        u[i] = 0.5 * (u[i] + u[i - 1] + u[i + 1])
    return np.sum(u * u) * d


@gathers(0, LINES[4:])
def linear_through_a_view(u, d):
    u = u.copy()
    inner = u[1:]
    for i in range(1, u.size - 2):
        inner[i] = 0.5 * (u[i + 1] + u[i] + u[i - 1])
    return np.sum(u * u) * d


@gathers(0, LINES)
def added_to_in_place(u, d):
    u = u.copy()
    for i in range(u.size - 2):
        u[i + 1] += 0.5 * (u[i] + u[i + 2])
    return np.sum(u * u) * d


@gathers(0, [(drawn(11), 0.3), (drawn(7), 0.3)])
def through_a_view_with_steps(u, d):
    out = np.zeros(u.size)
    every_other = u[::2]
    for i in range(1, every_other.size - 1):
        out[i] = every_other[i] + every_other[i - 1] * every_other[i + 1] * d
    return np.sum(out * out)


@gathers(0, LINES[2:])
def from_the_end(u, d):
    out = np.zeros(u.size)
    for i in range(u.size - 1):
        out[i] = u[i + 1] * u[i - 1] + d * u[i]
    return np.sum(out * out)


@gathers(0, [(drawn(9), 0.3, 2), (drawn(9), 0.3, -2)])
def shifted_by_an_argument(u, d, k):
    out = np.zeros(u.size)
    for i in range(3, u.size - 3):
        out[i] = u[i + k] * u[i] + d * u[i]
    return np.sum(out * out)


@gathers(0, LINES)
def every_other(u, d):
    out = np.zeros(u.size)
    for i in range(1, u.size - 1, 2):
        out[i] = u[i - 1] * u[i + 1] + d * u[i]
    return np.sum(out * out)


@gathers(0, LINES)
def downward(u, d):
    out = np.zeros(u.size)
    for i in range(u.size - 2, 0, -1):
        out[i] = u[i - 1] * u[i + 1] + d * u[i]
    return np.sum(out * out)


@gathers(0, LINES)
def by_a_branch(u, d):
    out = np.zeros(u.size)
    for i in range(1, u.size - 1):
        if u[i] > 0:
            out[i] = u[i - 1] * u[i + 1] + d * u[i]
    return np.sum(out * out)


@gathers(0, LINES)
def with_functions(u, d):
    out = np.zeros(u.size)
    for i in range(1, u.size - 1):
        out[i] = np.exp(u[i - 1] * u[i + 1]) + d * u[i]
    return np.sum(out * out)


@gathers(0, [(drawn(11)[::2], 0.3)])
def strided(u, d):
    out = np.zeros(u.size)
    for i in range(1, u.size - 1):
        out[i] = u[i - 1] * u[i + 1] + d * u[i]
    return np.sum(out * out)


@pytest.mark.deep(
    but=["in_place", "laplacian", "by_a_branch", "through_a_view", "added_to_in_place"]
)
@pytest.mark.shows("stencils", "counted", "unsigned", "replay", "fused", "seeded", "independent")
@programs.parametrize()
def test_which_gather(program):
    listing = " ".join(nd.inspect_adjoint(program.f, *program.runs[0]).split())
    assert listing.count(f"added {LENGTH} iterations at a time") == gathering[program.f.__name__]


@pytest.mark.deep(
    but=[
        "256-in_place",
        "256-five_points",
        "256-by_a_branch",
        "256-through_a_view",
        "4-laplacian",
        "4-downward",
        "4-shifted_by_an_outer_loop",
        "4-added_to_in_place",
    ]
)
@programs.parametrize()
def test_gradient(program, length):
    check_gradient(program)


@pytest.mark.deep(but=["258"])
@pytest.mark.parametrize("n", [LENGTH - 1, LENGTH + 2, LENGTH + 3, 2 * LENGTH + 9])
def test_several_blocks(n):
    found = nd.grad(laplacian, (0, 1), mode="reverse")(drawn(n), 0.3)
    expected = nd.grad(laplacian, (0, 1), mode="forward")(drawn(n), 0.3)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_of_equal_numbers_the_first_is_the_larger():
    """As forward mode has it, in which nothing gathers."""
    u = np.array([0.5, -1.0, 0.25, 0.5, 0.5, -0.5])
    for d in (0.5, 0.4):
        found = nd.grad(option_on_a_tree, (0, 1), mode="reverse")(u, d)
        expected = nd.grad(option_on_a_tree, (0, 1), mode="forward")(u, d)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.deep
def test_second_derivatives():
    u, d = LINES[0]
    found = nd.hessian(laplacian, mode="reverse")(u, d)
    step = 1e-5
    for k in range(u.size):
        away = np.zeros(u.size)
        away[k] = step
        ahead, behind = (nd.grad(laplacian, mode="forward")(u + s * away, d) for s in (1, -1))
        np.testing.assert_allclose(found[k], (ahead - behind) / (2 * step), atol=1e-8)


def test_jacobian():
    def smoothed(u):
        out = np.zeros(u.size)
        for i in range(1, u.size - 1):
            out[i] = u[i - 1] * 2.0 + u[i] * 3.0 + u[i + 1] * 4.0
        return out

    expected = np.zeros((5, 5))
    for i in range(1, 4):
        expected[i, i - 1 : i + 2] = 2.0, 3.0, 4.0
    np.testing.assert_array_equal(nd.jacobian(smoothed, mode="reverse")(drawn(5)), expected)


def single(u, d):
    out = np.zeros(u.size, np.float32)
    for i in range(1, u.size - 1):
        out[i] = u[i - 1] * u[i + 1] + d * u[i]
    return np.sum(out * out)


def test_single_precision():
    u, d = LINES[-1]
    found = nd.grad(single, mode="reverse")(u.astype(np.float32), np.float32(d))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, nd.grad(single, mode="forward")(u, d), rtol=2e-4, atol=1e-5)


def in_parallel(u, d):
    out = np.zeros(u.shape)
    for i in prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            out[i, j] = d * (u[i, j - 1] + u[i, j + 1] + u[i - 1, j] * u[i + 1, j]) * u[i, j]
    total = 0.0
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            total += out[i, j] * out[i, j] * (i + 2 * j)
    return total


@pytest.mark.dear
def test_parallel_loops():
    u, d = drawn(9, LENGTH + 6), 0.3
    parallel = njit(in_parallel, parallel=True)
    found = nd.grad(parallel, (0, 1), mode="reverse")(u, d)
    expected = nd.grad(five_points, (0, 1), mode="forward")(u, d)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
