"""Sparse Jacobians against dense ones by complex steps, and what is no pattern."""

import copy
import pickle
import threading

import numpy as np
import pytest
from numba import njit
from scipy import sparse

import numbad as nd

N = 7
X = np.linspace(0.5, 2.0, N)
RING = sum(sparse.eye_array(N, k=k) for k in (-1, 0, 1, N - 1, 1 - N))


def ring(x):
    y = np.empty_like(x)
    for i in range(x.size):
        y[i] = x[i] ** 2 * x[(i + 1) % x.size] - np.sin(x[i - 1])
    return y


def by_complex_step(f, x, *rest):
    """The dense Jacobian of a Python function, column by column."""
    columns = []
    for j in range(x.size):
        z = x.astype(complex)
        z[j] += 1e-30j
        columns.append(np.imag(np.ravel(f(z, *rest))) / 1e-30)
    return np.array(columns).T


def valid(matrix, shape, dtype=np.float64):
    """The matrix, after it was seen that it is what SciPy calls canonical."""
    assert isinstance(matrix, sparse.csr_array)
    assert matrix.shape == shape
    assert matrix.dtype == dtype
    fresh = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    fresh.check_format(full_check=True)
    assert fresh.has_sorted_indices
    assert fresh.has_canonical_format
    return matrix


def plan_of(jacobian, *args):
    return jacobian.plan(args)


@pytest.fixture(scope="module")
def given():
    return nd.jacobian(ring, sparsity=RING)


@pytest.fixture(scope="module")
def detected():
    return nd.jacobian(ring, sparsity="detect")


@pytest.mark.parametrize("name", ["given", "detected"])
def test_a_stencil(name, request):
    jacobian = request.getfixturevalue(name)
    found = valid(jacobian(X), (N, N))
    np.testing.assert_allclose(found.toarray(), by_complex_step(ring, X), rtol=1e-14)
    assert found.nnz == 3 * N
    assert plan_of(jacobian, X).count == 4  # three, if seven were a multiple of three


def test_matrices_share_nothing(given):
    first = given(X)
    before = first.toarray()
    first.data[:] = 0.0
    first.indices[:] = 0
    np.testing.assert_array_equal(given(X).toarray(), before)


def test_other_shapes_are_detected_again(detected):
    for n in (5, 9, 5):
        x = np.linspace(1.0, 2.0, n)
        found = valid(detected(x), (n, n))
        np.testing.assert_allclose(found.toarray(), by_complex_step(ring, x), rtol=1e-14)


def test_other_constants_are_detected_again():
    def f(x, where, flag):
        y = np.zeros(where.size)
        for k in range(where.size):
            y[k] = x[where[k]] * (x[0] if flag else 1.0)
        return y

    jacobian = nd.jacobian(f, sparsity="detect")
    for where in ([1, 2], [3, 3], [1, 2]):
        for flag in (True, False):
            args = np.array(where), flag
            expected = by_complex_step(lambda z, *rest: f_in_python(z, *rest), X, *args)
            np.testing.assert_allclose(jacobian(X, *args).toarray(), expected, rtol=1e-14)
    assert len(jacobian._plans) == 4


def f_in_python(x, where, flag):
    return np.array([x[k] * (x[0] if flag else 1.0) for k in where])


def test_floats_do_not_detect_again():
    def f(t, x):
        return x * t if t > 1.0 else x * x[0]

    jacobian = nd.jacobian(f, 1, sparsity="detect")
    first, second = jacobian(2.0, X), jacobian(0.5, X)
    assert len(jacobian._plans) == 1
    np.testing.assert_allclose(first.toarray(), 2.0 * np.eye(N), rtol=1e-14)
    expected = by_complex_step(lambda x: x * x[0], X)
    np.testing.assert_allclose(second.toarray(), expected, rtol=1e-14)


def test_several_arguments_and_a_result_in_one():
    def f(a, y, x, p):
        for i in range(y.size):
            y[i] = x[i] * a * p[0] + p[1][i % 2]

    jacobian = nd.jacobian(f, argnums=(0, 2, 3), out=1, sparsity="detect")
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
        return y * 2.0

    for sparsity in (sparse.eye_array(3), "detect"):
        y = np.ones(3)
        found = nd.jacobian(f, sparsity=sparsity)(X[:3], y)
        np.testing.assert_allclose(y, 1.0 + X[:3] ** 2)
        np.testing.assert_allclose(found.toarray(), np.diag(4.0 * X[:3]))


@pytest.mark.dear
def test_matrices_as_arguments_and_strides():
    def f(m):
        return m[1:] * m[:-1]

    def plain(v):
        m = v.reshape(3, 2)
        return m[1:] * m[:-1]

    jacobian = nd.jacobian(f, sparsity="detect")
    m = np.linspace(1.0, 2.0, 6).reshape(3, 2)
    wide = np.ones((6, 4))
    wide[::2, ::2] = m
    expected = by_complex_step(plain, m.ravel())
    for each in (m, np.asfortranarray(m), wide[::2, ::2]):
        np.testing.assert_allclose(valid(jacobian(each), (4, 6)).toarray(), expected, rtol=1e-14)


@pytest.mark.dear
def test_single_precision_and_complex_results(given):
    x = X.astype(np.float32)
    found = valid(given(x), (N, N), np.float32)
    np.testing.assert_allclose(found.toarray(), by_complex_step(ring, X), rtol=1e-5)

    def f(x):
        return x[1:] * 1j + x[:-1] ** 2

    found = valid(nd.jacobian(f, sparsity="detect")(X), (N - 1, N), np.complex128)
    expected = np.zeros((N - 1, N), complex)
    expected[:, :-1] += np.diag(2.0 * X[:-1])
    expected[:, 1:] += 1j * np.eye(N - 1)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-14)


@pytest.mark.parametrize("sparsity", ["detect", sparse.csr_array((0, 0))])
def test_nothing_at_all(sparsity):
    jacobian = nd.jacobian(ring, sparsity=sparsity)
    assert valid(jacobian(X[:0]), (0, 0)).nnz == 0


def test_no_rows_and_no_columns():
    def none(x):
        return x[:0] * 2.0

    assert valid(nd.jacobian(none, sparsity="detect")(X), (0, N)).nnz == 0

    def of_nothing(x):
        return np.array([1.0, 2.0]) * (x.size + 1.0)

    jacobian = nd.jacobian(of_nothing, sparsity="detect")
    assert valid(jacobian(X[:0]), (2, 0)).nnz == 0
    assert valid(jacobian(X), (2, N)).nnz == 0


def test_results_that_are_numbers_or_tuples():
    def f(x):
        return x[0] * x[1], x[2:4] ** 2, 3, x[4]

    found = nd.jacobian(f, sparsity="detect")(X)
    expected = np.zeros((5, N))
    expected[0, :2] = X[1], X[0]
    expected[[1, 2], [2, 3]] = 2.0 * X[2:4]
    expected[4, 4] = 1.0
    rows = [0, 1, 2, 4]
    valid(found, (5, N))
    np.testing.assert_allclose(found.toarray()[rows], expected[rows])


@pytest.mark.dear
def test_gradients_have_sparse_jacobians():
    """A Hessian, by a pattern that is given."""

    def f(x):
        return (x[1:] ** 2 * x[:-1]).sum()

    band = sum(sparse.eye_array(N, k=k) for k in (-1, 0, 1))
    found = valid(nd.jacobian(nd.grad(f), sparsity=band)(X), (N, N))
    np.testing.assert_allclose(found.toarray(), nd.hessian(f)(X), rtol=1e-13)


def test_in_compiled_code(detected):
    inner = nd.jacobian(ring, sparsity=RING)

    @njit
    def total(x):
        return inner(x).sum()

    np.testing.assert_allclose(total(X), by_complex_step(ring, X).sum(), rtol=1e-13)
    with pytest.raises(ValueError, match="another shape"):
        total(X[:4])
    with pytest.raises(nd.UnsupportedError, match="give the pattern"):
        njit(lambda x: detected(x))(X)


def test_threads():
    expected = by_complex_step(ring, X)
    fresh = nd.jacobian(ring, sparsity="detect")
    found = []

    def work():
        found.extend(fresh(X * k).toarray() for k in (1.0, 1.0, 1.0))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 12
    assert all(np.allclose(each, expected, rtol=1e-14) for each in found)
    assert len(fresh._plans) == 1


@pytest.mark.parametrize(("shape", "told"), [((N, N + 1), "columns|column"), ((N - 1, N), "row")])
def test_another_shape(shape, told):
    with pytest.raises(nd.SparsityError, match=told):
        nd.jacobian(ring, sparsity=sparse.csr_array(np.ones(shape)))(X)


@pytest.mark.parametrize("sparsity", ["detected", 3])
def test_no_pattern(sparsity):
    with pytest.raises(nd.SparsityError, match="sparse matrix or"):
        nd.jacobian(ring, sparsity=sparsity)


def test_wrong_arguments_are_told_as_ever(given):
    with pytest.raises(nd.ArgumentError, match="must hold floats"):
        given(np.arange(N))
    with pytest.raises(nd.ArgumentError, match="complex"):
        given(X + 0j)
    with pytest.raises(TypeError):
        given(X, X)


def neighbours(x):
    return x * np.roll(x, 1)


def sum_of_cubes(x):
    return (x**3).sum()


@pytest.mark.parametrize(
    "operator",
    [
        nd.jacobian(neighbours, sparsity="detect"),
        nd.jacobian(neighbours, sparsity=np.ones((5, 5)), mode="reverse"),
        nd.hessian(sum_of_cubes, argnums=(0,), sparsity=np.eye(5)),
    ],
    ids=["detected", "given", "hessian"],
)
def test_sparse_operators_can_be_pickled_and_copied(operator):
    x = np.arange(1.0, 6.0)

    def dense(matrix):
        return matrix[0][0].toarray() if isinstance(matrix, tuple) else matrix.toarray()

    for made in pickle.loads(pickle.dumps(operator)), copy.deepcopy(operator):
        np.testing.assert_array_equal(dense(made(x)), dense(operator(x)))
