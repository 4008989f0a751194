"""NumPy's functions of whole arrays in reverse mode, first and second order."""

from dataclasses import replace

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.reverse.oracle import check_gradient, check_second_order
from tests.rules.arrays.whole_arrays import M, programs

pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
by_name = {program.f.__name__: program for program in programs}
TWICE = (
    *("sums", "moments", "extrema", "accumulations", "without_nan", "medians", "quantiles"),
    *("interpolation", "convolutions", "matrix_products", "products_in_a_loop"),
    *("factors_that_change", "cross_products", "fused_expressions"),
)


@pytest.mark.dear
@pytest.mark.deep(
    but=[
        "sums",
        "extrema",
        "products_and_means",
        "product_with_zeros",
        "matrix_products",
        "searches",
        "expressions_around_a_write",
        "factors_that_change",
    ]
)
@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@pytest.mark.deep
@pytest.mark.parametrize("name", TWICE)
def test_second_order(name):
    check_second_order(replace(by_name[name], runs=by_name[name].runs[:1]))


# -- shapes with nothing in them ------------------------------------------------------------------


def nothing(a, m, n):
    empty = a[:0] * 2.0
    found = np.sum(empty) + np.prod(m[:0]) + np.exp(m[:, :0]).sum() + np.cumsum(empty).size
    return found + np.nansum(empty) + np.sum(np.dot(m[:0], n)) + np.sum(m[:, :0] @ n[:0]) + a.sum()


@pytest.mark.dear
def test_empty_arrays_add_nothing():
    a, m, n = np.ones(3), np.ones((2, 3)), np.ones((3, 2))
    value, found = nd.value_and_grad(nothing, (0, 1, 2), mode="reverse")(a, m, n)
    assert value == njit(nothing)(a, m, n) == 4.0
    for gradient, expected in zip(found, (1.0, 0.0, 0.0), strict=True):
        assert np.all(gradient == expected)


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_least_of_nothing_raises_as_in_the_primal(mode):
    with pytest.raises(ValueError, match="zero-size array"):
        nd.grad(lambda a: np.min(a[1:1]), mode=mode)(np.ones(2))


# -- kinks and what is not finite -------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_ties_follow_the_element_that_is_taken(mode):
    a = np.array([2.0, 1.0, 2.0, 1.0])
    f = nd.grad(
        lambda a: a.max() + 10 * a.min() + 100 * np.nanmax(a) + 1000 * np.nanmin(a), mode=mode
    )
    assert f(a).tolist() == [1.0, 10.0, 100.0, 1000.0]


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_first_nan_is_the_extremum(mode):
    a = np.array([1.0, np.nan, 3.0, np.nan])
    value, gradient = nd.value_and_grad(lambda a: np.max(a), mode=mode)(a)
    assert np.isnan(value)
    assert gradient.tolist() == [0.0, 1.0, 0.0, 0.0]


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_infinite_samples_do_not_spoil_their_neighbours(mode):
    xp, fp = np.array([0.0, 1.0, 2.0, 3.0]), np.array([np.inf, 1.0, 3.0, 2.0])
    by_x = nd.value_and_grad(
        lambda x, y: np.interp(x, np.array([0.0, 1.0, 2.0, 3.0]), y), mode=mode
    )
    assert by_x(1.5, fp) == (2.0, 2.0)
    assert by_x(0.0, fp)[0] == np.interp(0.0, xp, fp) == np.inf


# -- precision and kinds of numbers -----------------------------------------------------------------


def scaled(f):
    return (np.exp(f) * f).sum() + np.dot(f, f) + f.mean() * f.max()


def test_single_precision_stays_single():
    f = np.array([0.3, 1.2, 0.7], np.float32)
    value, gradient = nd.value_and_grad(scaled, mode="reverse")(f)
    wide = f.astype(np.float64)
    expected = (
        np.exp(wide) * (wide + 1) + 2 * wide + wide.max() / 3 + wide.mean() * (wide == wide.max())
    )
    assert (value.dtype if hasattr(value, "dtype") else np.float32, gradient.dtype) == (
        np.float32,
        np.float32,
    )
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


@pytest.mark.deep
def test_second_order_of_single_precision_in_a_double_result():
    def products(m, x):
        return (m @ m.T)[0, 1] * (m @ m[0]).sum() * x

    m, x, along = M.astype(np.float32), 0.7, np.ones_like(M)
    gradient = nd.grad(products, (0, 1), mode="reverse")
    _, (by_m, by_x) = nd.jvp(gradient, (0, 1))((m, x), (along.astype(np.float32), 1.0))
    _, (expected, by_double) = nd.jvp(gradient, (0, 1))((m.astype(float), x), (along, 1.0))
    assert (by_m.dtype, np.asarray(by_x).dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(by_m, expected, rtol=1e-5, atol=1e-5)
    assert by_x == pytest.approx(by_double, rel=1e-5)


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_arrays_without_axes(mode):
    f = nd.grad(lambda x, a: (np.sin(x) * a).sum() + x * x, mode=mode)
    a = np.array([1.0, 2.0])
    found = f(np.array(0.7), a)
    assert found.shape == ()
    np.testing.assert_allclose(found, 3 * np.cos(0.7) + 1.4, rtol=1e-14)


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_division_of_arrays_by_zero_is_no_error(mode):
    """It is one for scalars; of arrays it is what NumPy and the primal make of it."""
    a = np.array([0.0, 2.0])
    value, gradient = nd.value_and_grad(lambda a: (1.0 / a)[0], mode=mode)(a)
    assert value == np.inf
    assert gradient[0] == -np.inf
