"""Derivatives of NumPy's linear algebra in both modes and of second order, against 80 digits."""

import numpy as np
import pytest

import numbad as nd

from .cases import CASES
from .precise import at

pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
TWICE = ("solve", "det", "cholesky", "qr", "eigh", "eig", "svd", "lstsq")
TWICE_IN_REVERSE = ("solve", "det", "cholesky")


def direction(a, seed):
    """A direction of any shape, with an imaginary part for complex numbers."""
    draw = np.random.default_rng(seed)
    found = draw.uniform(0.5, 1.5, a.shape) * draw.choice([-1.0, 1.0], a.shape)
    return found + 1j * draw.uniform(0.5, 1.5, a.shape) if a.dtype.kind == "c" else found


def units(a):
    """The directions that change one number each, and what they say of a gradient df/dx - i df/dy."""
    for index in np.ndindex(a.shape):
        for step in (1.0, 1j) if a.dtype.kind == "c" else (1.0,):
            unit = np.zeros_like(a)
            unit[index] = step
            yield unit


def along(gradient, direction):
    """The change that a gradient tells of."""
    return (gradient * direction).sum().real


def assert_close(found, exact, rtol, scale=None):
    assert np.isfinite(found)
    assert abs(found - exact) <= rtol * max(abs(exact), scale or 0.0), (found, exact)


@pytest.mark.dear
@pytest.mark.deep(but=["solve", "det", "slogdet", "cholesky", "eigh", "det_complex"])
@pytest.mark.parametrize("name", CASES)
def test_reverse(name):
    case = CASES[name]
    compiled = nd.value_and_grad(case.f, mode="reverse")
    for a in case.points:
        value, gradient = compiled(np.ascontiguousarray(a))  # other layouts: `test_layouts`
        assert_close(value, at(case.exact, a), 1e-11)
        exact = [at(case.exact, a, unit) for unit in units(a)]
        for unit, expected in zip(units(a), exact, strict=True):
            assert_close(along(gradient, unit), expected, case.rtol, max(map(abs, exact)))


@pytest.mark.dear
@pytest.mark.deep(but=["solve", "det", "cholesky", "eigh"])
@pytest.mark.parametrize("name", CASES)
def test_forward(name):
    case = CASES[name]
    compiled = nd.jvp(case.f)
    for seed, a in enumerate(case.points):
        d = direction(a, seed)
        value, tangent = compiled((np.ascontiguousarray(a),), (d,))
        assert_close(value, at(case.exact, a), 1e-11)
        assert_close(tangent, at(case.exact, a, d), case.rtol)


@pytest.mark.deep(but=["det"])
@pytest.mark.parametrize("name", TWICE)
def test_forward_over_reverse(name):
    case = CASES[name]
    compiled = nd.jvp(nd.grad(case.f, mode="reverse"))
    for seed, a in enumerate(case.points[:2]):
        d, e = direction(a, seed), direction(a, seed + 10)
        _, moved = compiled((np.ascontiguousarray(a),), (d,))
        assert_close(along(moved, e), at(case.exact, a, d, e), 100 * case.rtol)


@pytest.mark.deep
@pytest.mark.parametrize("name", TWICE_IN_REVERSE)
def test_reverse_over_reverse(name):
    case = CASES[name]
    inner = nd.grad(case.f, mode="reverse")
    compiled = nd.grad(lambda a, e: (inner(a) * e).sum(), mode="reverse")
    a = case.points[0]
    d, e = direction(a, 0), direction(a, 10)
    assert_close(along(compiled(a, e), d), at(case.exact, a, d, e), 100 * case.rtol)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["solve", "eigh_complex", "svd_complex"])
def test_forward_over_forward(name):
    case = CASES[name]
    inner = nd.jvp(case.f)
    a = case.points[0]
    d, e = direction(a, 0), direction(a, 10)
    _, found = nd.jvp(lambda a, e: inner((a,), (e,))[1], 0)((a, e), (d,))
    assert_close(found, at(case.exact, a, d, e), 100 * case.rtol)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["solve", "svd"])
def test_layouts(name):
    """In Fortran order, and neither contiguous nor going up."""
    case = CASES[name]
    a = case.points[0]
    compiled = nd.grad(case.f, mode="reverse")
    spread = np.zeros((6, 6))
    spread[::-2, ::-2] = a
    for given in (np.asfortranarray(a), spread[::-2, ::-2]):
        found = along(compiled(given), direction(a, 3))
        assert_close(found, at(case.exact, a, direction(a, 3)), case.rtol)
