"""Linear algebra at its edges: single precision, nothing, singular matrices, what is not finite."""

import numpy as np
import pytest

import numbad as nd

pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
both = pytest.mark.parametrize("mode", ["forward", "reverse"])
OF_RANK_ONE = np.outer([1.0, 2.0, 2.0], [2.0, 1.0])


def gradient(f, a, mode):
    """The value and the gradient, which has the precision of the argument."""
    value, found = nd.value_and_grad(f, mode=mode)(a)
    assert (found.dtype, found.shape) == (a.dtype, a.shape)
    assert np.all(np.isfinite(found))
    return value, found


# -- single precision ------------------------------------------------------------------------------


def solutions(a):
    return (np.linalg.solve(a, a[0]) + np.linalg.inv(a)[0]).sum() + np.linalg.norm(a)


def factors(a):
    return np.linalg.cholesky(a @ a.T)[1].sum() + np.linalg.qr(a)[0][0, 1]


def values(a):
    return np.linalg.eigh(a @ a.T)[0][0] + np.linalg.det(a)


@pytest.mark.deep
@pytest.mark.parametrize("f", [solutions, factors, values])
def test_single_precision_stays_single(f):
    a = np.array([[2.1, 0.3, -0.7], [0.4, 1.5, 0.2], [0.9, -0.1, 3.1]])
    h, exact = 1e-6, np.empty((3, 3))
    for index in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[index] = h
        exact[index] = (f(a + step) - f(a - step)) / (2 * h)  # by NumPy, in double precision
    value, found = gradient(f, a.astype(np.float32), "reverse")
    np.testing.assert_allclose(found, exact, rtol=3e-5, atol=3e-5)


# -- nothing, and one --------------------------------------------------------------------------------


def of_any_size(a):
    x = np.linalg.solve(a, a[:, :1]).sum() + np.linalg.inv(a).sum() + np.linalg.det(a)
    w = np.linalg.eigvalsh(a).sum() + np.linalg.slogdet(a)[1] + np.linalg.norm(a)
    return x + w + np.linalg.cholesky(a).sum() + np.linalg.eigh(a)[0].sum()


@pytest.mark.deep
@both
def test_no_rows_and_one(mode):
    value, found = gradient(of_any_size, np.empty((0, 0)), mode)
    assert value == 1.0  # the determinant
    value, found = gradient(of_any_size, np.array([[4.0]]), mode)
    # 1 + 1/a + a + a + log a + a + sqrt a + a
    np.testing.assert_allclose(value, 1 + 1 / 4 + 4 + 4 + np.log(4) + 4 + 2 + 4, rtol=1e-14)
    np.testing.assert_allclose(found, [[-1 / 16 + 4 + 1 / 4 + 1 / 4]], rtol=1e-13)


SINGULAR_CALLS = {
    "solve": lambda a: np.linalg.solve(a, a[0]).sum(),
    "inv": lambda a: np.linalg.inv(a).sum(),
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "cholesky": lambda a: np.linalg.cholesky(a).sum(),
    "qr": lambda a: np.linalg.qr(a)[1].sum(),
}


@pytest.mark.deep(but=["solve-reverse", "cholesky-reverse"])
@both
@pytest.mark.parametrize("name", SINGULAR_CALLS)
def test_a_singular_matrix_raises(name, mode):
    a = np.ones((2, 2)) - (2 * np.eye(2) if name == "cholesky" else 0.0)
    with pytest.raises(np.linalg.LinAlgError):
        nd.grad(SINGULAR_CALLS[name], mode=mode)(a)


@pytest.mark.deep(but=["reverse"])
@both
def test_what_is_not_finite_raises(mode):
    with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
        nd.grad(lambda a: np.linalg.solve(a, a[0]).sum(), mode=mode)(np.full((2, 2), np.nan))


# -- products ------------------------------------------------------------------------------------------


@pytest.mark.deep(but=["reverse"])
@both
def test_large_products_go_through_blas(mode):
    """From 1000 multiplications on, forward mode has the partials by matrices as well."""
    draw = np.random.default_rng(0).normal
    a, b, w = draw(size=(11, 12)), draw(size=(12, 13)), draw(size=(11, 13))
    by_a, by_b = nd.grad(lambda a, b: ((a @ b) * w).sum(), (0, 1), mode=mode)(a, b)
    np.testing.assert_allclose(by_a, w @ b.T, rtol=1e-12)
    np.testing.assert_allclose(by_b, a.T @ w, rtol=1e-12)
    only = nd.grad(lambda b: ((a @ b) * w).sum(), mode=mode)(b)
    np.testing.assert_allclose(only, by_b, rtol=1e-14)


@pytest.mark.deep(but=["2"])
@pytest.mark.parametrize("n", [2, 12])
def test_levels_of_nested_forward_mode_do_not_mix(n):
    """Of |A x|^2, the derivative by x of that by A; x is of a lower level than A."""
    draw = np.random.default_rng(n).normal
    a, x, d, e = draw(size=(n, n)), draw(size=(n, n)), draw(size=(n, n)), draw(size=(n, n))
    inner = nd.jvp(lambda a, x: ((a @ x) ** 2).sum())
    _, found = nd.jvp(lambda x, a, d: inner((a, x), (d, 0.0 * d))[1], 0)((x, a, d), (e,))
    np.testing.assert_allclose(found, 2 * ((a @ e) * (d @ x) + (a @ x) * (d @ e)).sum(), rtol=1e-12)
