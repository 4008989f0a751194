"""Sparse Jacobians whose rows share passes of reverse mode."""

import numpy as np
import pytest
from numba import njit
from scipy import sparse

import numbad as nd
from asv_bench.benchmarks.problems import brusselator
from numbad.patterns import colouring
from tests.operators.test_sparse import RING, N, X, by_complex_step, ring, valid


def arrow(x):
    """Squares, and the sum of all of them: a diagonal above a full row."""
    y = np.empty(x.size + 1)
    total = 0.0
    for i in range(x.size):
        y[i] = x[i] ** 2
        total += x[i] ** 3
    y[x.size] = total
    return y


@pytest.fixture(scope="module")
def given():
    return nd.jacobian(ring, sparsity=RING, mode="reverse")


@pytest.fixture(scope="module")
def detected():
    return nd.jacobian(ring, sparsity="detect", mode="reverse")


@pytest.mark.parametrize("name", ["given", "detected"])
def test_a_stencil(name, request):
    jacobian = request.getfixturevalue(name)
    found = valid(jacobian(X), (N, N))
    np.testing.assert_allclose(found.toarray(), by_complex_step(ring, X), rtol=1e-14)
    assert jacobian.plan((X,)).mode == "reverse"
    assert jacobian.plan((X,)).count == 4


def test_matrices_share_nothing(given):
    first = given(X)
    before = first.toarray()
    first.data[:] = 0.0
    first.indices[:] = 0
    np.testing.assert_array_equal(given(X).toarray(), before)


def test_no_two_rows_of_a_colour_share_a_column():
    rng = np.random.default_rng(3)
    matrix = sparse.random_array((30, 20), density=0.1, rng=rng)
    rows = nd.jacobian(arrow, sparsity=matrix, mode="reverse").plan(()).compression.colours
    dense = matrix.toarray() != 0
    assert rows.shape == (30,)
    for i in range(30):
        for k in range(i):
            assert rows[i] != rows[k] or not (dense[i] & dense[k]).any()


def test_several_arguments_and_a_result_in_one():
    def f(a, y, x, p):
        for i in range(y.size):
            y[i] = x[i] * a * p[0] + p[1][i % 2]

    jacobian = nd.jacobian(f, argnums=(0, 2, 3), out=1, sparsity="detect", mode="reverse")
    x, y, p = X[:4], np.zeros(4), (3.0, np.array([5.0, 7.0]))
    by_a, by_x, by_p = jacobian(2.0, y, x, p)
    np.testing.assert_allclose(y, x * 6.0 + np.array([5.0, 7.0, 5.0, 7.0]))
    np.testing.assert_allclose(by_a.toarray(), 3.0 * x[:, None])
    np.testing.assert_allclose(by_x.toarray(), 6.0 * np.eye(4))
    expected = np.column_stack([2.0 * x, [1, 0, 1, 0], [0, 1, 0, 1]])
    np.testing.assert_allclose(by_p.toarray(), expected)
    for matrix, columns in ((by_a, 1), (by_x, 4), (by_p, 3)):
        valid(matrix, (4, columns))


def test_what_is_changed_is_changed_once():
    def f(x, y):
        y += x**2
        z = y * 2.0
        z[0] = y.sum()
        return z

    y = np.ones(3)
    found = nd.jacobian(f, sparsity="detect", mode="reverse")(X[:3], y)
    np.testing.assert_allclose(y, 1.0 + X[:3] ** 2)
    expected = np.diag(4.0 * X[:3])
    expected[0] = 2.0 * X[:3]
    np.testing.assert_allclose(found.toarray(), expected)


@pytest.mark.deep
def test_matrices_and_strides():
    def f(m):
        return m[1:] * m[:-1]

    jacobian = nd.jacobian(f, sparsity="detect", mode="reverse")
    m = np.linspace(1.0, 2.0, 6).reshape(3, 2)
    apart = np.ones((6, 4))
    apart[::2, ::2] = m
    expected = by_complex_step(lambda v: f(v.reshape(3, 2)), m.ravel())
    for each in (m, np.asfortranarray(m), apart[::2, ::2]):
        np.testing.assert_allclose(valid(jacobian(each), (4, 6)).toarray(), expected, rtol=1e-14)


def test_single_precision(given):
    x = X.astype(np.float32)
    found = valid(given(x), (N, N), np.float32)
    np.testing.assert_allclose(found.toarray(), by_complex_step(ring, X), rtol=1e-5)


def test_nothing_at_all():
    jacobian = nd.jacobian(ring, sparsity="detect", mode="reverse")
    assert valid(jacobian(X[:0]), (0, 0)).nnz == 0


def test_no_rows_and_no_columns():
    jacobian = nd.jacobian(lambda x: x[:0] * 2.0, sparsity="detect", mode="reverse")
    assert valid(jacobian(X), (0, N)).nnz == 0
    jacobian = nd.jacobian(
        lambda x: np.array([1.0, 2.0]) * (x.size + 1.0), sparsity="detect", mode="reverse"
    )
    assert valid(jacobian(X[:0]), (2, 0)).nnz == 0
    assert valid(jacobian(X), (2, N)).nnz == 0


def test_results_that_are_numbers_or_tuples():
    def f(x):
        return x[0] * x[1], x[2:4] ** 2, 3, x[4]

    found = valid(nd.jacobian(f, sparsity="detect", mode="reverse")(X), (5, N)).toarray()
    expected = np.zeros((5, N))
    expected[0, :2] = X[1], X[0]
    expected[[1, 2], [2, 3]] = 2.0 * X[2:4]
    expected[4, 4] = 1.0
    np.testing.assert_allclose(found, expected)


@pytest.mark.dear
def test_in_compiled_code(given):
    @njit
    def total(x):
        return given(x) @ np.arange(1.0, 1.0 + 3 * N)

    expected = nd.jacobian(ring, sparsity=RING, mode="forward")(X).data
    np.testing.assert_allclose(total(X), expected @ np.arange(1.0, 1.0 + 3 * N), rtol=1e-13)
    with pytest.raises(ValueError, match="another shape"):
        total(X[:4])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("outer", ["forward", "reverse"])
def test_derivatives_of_the_entries_are_refused(mode, outer):
    inner = nd.jacobian(ring, sparsity=RING, mode=mode)
    with pytest.raises(nd.UnsupportedError, match="sparse Jacobian|cannot differentiate"):
        nd.grad(lambda x: inner(x).sum(), mode=outer)(X)


@pytest.mark.dear
def test_the_brusselator():
    n = 60
    y, _, _, _ = brusselator.draw(np.random.default_rng(0), n)
    jacobian = nd.jacobian(brusselator.rhs, argnums=4, out=5, sparsity="detect", mode="reverse")
    args = n, 1.0, 3.0, 2.0, y, np.zeros(2 * n)
    found = valid(jacobian(*args), (2 * n, 2 * n))
    v = np.random.default_rng(1).normal(size=2 * n)
    k = np.zeros(2 * n, complex)
    brusselator.rhs.py_func(*args[:4], y + 1e-30j * v, k)
    np.testing.assert_allclose(found @ v, k.imag / 1e-30, rtol=1e-11, atol=1e-11)


# -- patterns that do not fit ----------------------------------------------------------------------


@pytest.mark.parametrize("column", range(N))
def test_a_missing_entry_is_found(column):
    dense = RING.toarray()
    dense[(column + 1) % N, column] = 0.0
    jacobian = nd.jacobian(ring, sparsity=sparse.csr_array(dense), mode="reverse")
    with pytest.raises(nd.SparsityError, match=f"column {column} "):
        jacobian(X)


@pytest.mark.parametrize(
    ("shape", "told"), [((N, N + 1), "one a column"), ((N - 1, N), "one a row")]
)
def test_another_shape(shape, told):
    with pytest.raises(nd.SparsityError, match=told):
        nd.jacobian(ring, sparsity=sparse.csr_array(np.ones(shape)), mode="reverse")(X)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_numbers_that_share_a_colour_in_error_are_found(mode, monkeypatch):
    """The check at the first call sees what a colouring with a defect does to the entries."""
    monkeypatch.setattr(colouring, "_number", lambda colours: 1)
    monkeypatch.setattr(colouring, "in_order", lambda *graph: np.zeros(N, np.int64))
    monkeypatch.setattr(colouring, "_compiled", lambda function: function)
    jacobian = nd.jacobian(ring, sparsity=RING, mode=mode)
    with pytest.raises(nd.SparsityError):
        jacobian(X)
