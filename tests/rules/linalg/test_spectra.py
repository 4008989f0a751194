"""Repeated eigenvalues and singular values: what has a derivative, and what raises."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.rules.linalg.test_edges import OF_RANK_ONE, both, gradient

pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
EQUAL = np.diag([2.0, 2.0, 3.0])
SINGULAR = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]])


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


@njit
def by_eigh(a):
    w, v = np.linalg.eigh(a)
    return ((v * w**2) @ v.T)[1, 0]


@njit
def by_svd(a):
    u, s, _ = np.linalg.svd(a)
    return ((u * s**2) @ u.T)[1, 0]


@pytest.mark.dear
@pytest.mark.deep(but=["by_eigh"])
@pytest.mark.parametrize("f", [by_eigh, by_svd])
def test_second_derivatives_by_vectors_of_nearly_equal_numbers(f):
    """Of the square of a symmetric matrix: they divide roundings by the square of the difference."""
    direction = np.arange(9.0).reshape(3, 3) + np.arange(9.0).reshape(3, 3).T

    def along(t, a):
        return f(a + t * direction)

    second = nd.derivative(nd.derivative(along))
    for gap, digits in (1e-2, 1e-9), (1e-4, 1e-5):
        a = TURNED @ np.diag([1.0, 1.0 + gap, 3.0]) @ TURNED.T
        expected = 2.0 * (direction @ direction)[1, 0]
        assert second(0.0, 0.5 * (a + a.T)) == pytest.approx(expected, rel=digits)
    a = TURNED @ np.diag([1.0, 1.0 + 1e-8, 3.0]) @ TURNED.T
    for call in (lambda: second(0.0, a), lambda: nd.hvp(f)((a,), (direction,))):
        with pytest.raises(np.linalg.LinAlgError, match="nearly equal"):
            call()


@pytest.mark.deep
def test_vectors_of_others_than_nearly_equal_numbers_have_second_derivatives():
    a = TURNED @ np.diag([1.0, 1.0 + 1e-9, 3.0]) @ TURNED.T

    def projected(a):
        v = np.linalg.eigh(a)[1]
        return v[0, 2] * v[1, 2]

    a, direction = 0.5 * (a + a.T), np.diag([1.0, 2.0, 4.0])
    found = nd.hvp(projected)((a,), (direction,))[0]
    moved = [nd.grad(projected)(a + t * direction) for t in (1e-5, -1e-5)]
    np.testing.assert_allclose(found, (moved[0] - moved[1]) / 2e-5, atol=1e-7)
