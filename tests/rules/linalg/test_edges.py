"""Linear algebra at its edges: single precision, nothing, singular matrices, repeated eigenvalues."""

import numpy as np
import pytest

import numbad as nd

pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
both = pytest.mark.parametrize("mode", ["forward", "reverse"])
EQUAL = np.diag([2.0, 2.0, 3.0])
SINGULAR = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]])
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


# -- singular matrices ---------------------------------------------------------------------------------


@pytest.mark.deep(but=["reverse"])
@both
def test_the_determinant_of_a_singular_matrix_has_a_derivative(mode):
    """The cofactors, whose sign an exchange of two rows changes."""
    given = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.5, -1.0, 3.0]])
    for a in (given, given[[0, 2, 1]]):
        cofactors = [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(3)]
            for i in range(3)
        ]
        value, found = gradient(lambda a: np.linalg.det(a), a, mode)
        assert value == 0.0
        np.testing.assert_allclose(found, cofactors, atol=1e-13)


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


@pytest.mark.deep
@both
def test_least_squares_need_full_rank(mode):
    for f in (lambda a: np.linalg.pinv(a).sum(), lambda a: np.linalg.lstsq(a, a[:, 0])[0].sum()):
        with pytest.raises(np.linalg.LinAlgError, match="full rank"):
            nd.grad(f, mode=mode)(OF_RANK_ONE)


# -- repeated eigenvalues and singular values ------------------------------------------------------------


@pytest.mark.deep(but=["reverse"])
@both
def test_symmetric_functions_of_equal_eigenvalues_have_derivatives(mode):
    """The sum of the squares is that of the elements, which are read below the diagonal."""
    turn, _ = np.linalg.qr(SINGULAR + np.eye(3))
    a = turn @ EQUAL @ turn.T
    _, found = gradient(lambda a: (np.linalg.eigvalsh(a) ** 2).sum(), a, mode)
    np.testing.assert_allclose(found, 2 * np.tril(a) + 2 * np.tril(a, -1), atol=1e-13)


@pytest.mark.deep
def test_eigenvectors_of_equal_eigenvalues_raise():
    def by_vectors(a):
        return np.linalg.eigh(a)[1][0, 0]

    with pytest.raises(np.linalg.LinAlgError, match="repeated eigenvalues"):
        nd.grad(by_vectors, mode="reverse")(EQUAL)
    with pytest.raises(np.linalg.LinAlgError, match="repeated eigenvalues"):
        nd.grad(by_vectors, mode="forward")(EQUAL)
    with pytest.raises(np.linalg.LinAlgError, match="repeated"):
        nd.grad(lambda a: np.linalg.svd(a)[0][0, 1], mode="reverse")(EQUAL)  # the first is alone


TURNED = np.linalg.qr(SINGULAR + np.eye(3))[0]
OF_EQUAL = {
    "eigh, turned": (lambda a: np.linalg.eigh(a)[1][0, 0], TURNED @ EQUAL @ TURNED.T),
    "eig": (lambda a: np.linalg.eig(a)[1][0, 0], EQUAL),
    "svd, left": (lambda a: np.linalg.svd(a)[0][0, 1], EQUAL),
    "svd, right": (lambda a: np.linalg.svd(a)[2][1, 0], EQUAL),
    "svd, zero": (lambda a: np.linalg.svd(a, False)[0][2, 1], OF_RANK_ONE),
}
"""Vectors of numbers that are equal, in the first case but for rounding."""


@pytest.mark.deep(but=["eigh, turned-*"])
@both
@pytest.mark.parametrize("name", OF_EQUAL)
def test_vectors_of_equal_numbers_raise(name, mode):
    f, a = OF_EQUAL[name]
    with pytest.raises(np.linalg.LinAlgError, match="repeated"):
        nd.grad(f, mode=mode)(a)


@pytest.mark.deep
def test_a_phase_that_lapack_leaves_open():
    """Of the second vector the first element is zero, so that any multiple by a phase would do."""
    a = np.diag([2.0, 3.0 + 0.0j])
    with pytest.raises(np.linalg.LinAlgError, match="phase"):
        nd.grad(lambda a: np.linalg.eigh(a)[1][1, 1].imag, mode="reverse")(a)
    assert not gradient(lambda a: abs(np.linalg.eigh(a)[1][1, 1]), a, "reverse")[1].any()


def test_vectors_of_other_eigenvalues_have_derivatives():
    """In reverse mode, where it is known which are used."""
    _, found = gradient(lambda a: np.linalg.eigh(a)[1][1, 2], EQUAL, "reverse")
    expected = np.zeros((3, 3))
    expected[2, 1] = 1.0  # over the difference of 2 and 3
    np.testing.assert_allclose(np.abs(found), expected, atol=1e-13)


def test_a_matrix_put_together_again_raises():
    """Its derivative exists, as a limit of 0 / 0 that the cotangents do not tell."""

    def again(a):
        w, v = np.linalg.eigh(a)
        return ((v * w) @ v.T)[1, 0]

    with pytest.raises(np.linalg.LinAlgError, match="repeated eigenvalues"):
        nd.grad(again, mode="reverse")(EQUAL)


@pytest.mark.deep(but=["reverse"])
@both
def test_eigenvectors_that_do_not_span_raise(mode):
    with pytest.raises(np.linalg.LinAlgError, match="linearly independent"):
        nd.grad(lambda a: np.linalg.eigvals(a)[0], mode=mode)(np.array([[1.0, 1.0], [0.0, 1.0]]))


@pytest.mark.deep
def test_vectors_that_fill_up_a_basis_have_no_derivative():
    tall = np.array([[1.0, 2.0], [0.5, -1.0], [0.3, 0.2]])
    _, found = gradient(lambda a: np.linalg.svd(a)[1].sum(), tall, "reverse")
    u, _, vh = np.linalg.svd(tall, full_matrices=False)
    np.testing.assert_allclose(found, u @ vh, rtol=1e-13)
    with pytest.raises(np.linalg.LinAlgError, match="full_matrices=False"):
        nd.grad(lambda a: np.linalg.svd(a)[0][0, 2], mode="forward")(tall)
    with pytest.raises(np.linalg.LinAlgError, match="full_matrices=False"):
        nd.grad(lambda a: np.linalg.svd(a)[2][2, 0], mode="reverse")(np.ascontiguousarray(tall.T))


# -- kinks ---------------------------------------------------------------------------------------------


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@both
def test_norms_of_zero_have_the_derivative_zero(mode):
    def f(x):
        norm = np.linalg.norm
        return norm(x) + norm(x, 1) + norm(x, 3) + norm(x, 0.5) + norm(x, np.inf) + norm(x, -2)

    assert not gradient(f, np.zeros(3), mode)[1].any()


@pytest.mark.deep
@both
def test_a_condition_that_is_infinite_has_the_derivative_zero(mode):
    value, found = gradient(lambda a: np.linalg.cond(a), np.zeros((2, 2)), mode)
    assert value == np.inf
    assert not found.any()


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
