"""Sparse Hessians against closed forms and complex steps through gradients written by hand."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import sparse

import numbad as nd
from numbad.patterns import interactions
from tests.operators.test_sparse import valid

N = 9
X = np.linspace(0.5, 2.0, N)


def chain(x):
    """The chained Rosenbrock function."""
    total = 0.0
    for i in range(x.size - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def chain_matrix(x):
    inner = np.zeros(x.size)
    inner[:-1] += 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    inner[1:] += 200.0
    beside = -400.0 * x[:-1]
    return np.diag(inner) + np.diag(beside, 1) + np.diag(beside, -1)


def hub(x):
    """Every number meets the last one, and no other."""
    total = 0.0
    for i in range(x.size - 1):
        total += np.sin(x[i]) * x[-1]
    return total


def hub_matrix(x):
    dense = np.diag(np.append(-np.sin(x[:-1]) * x[-1], 0.0))
    dense[-1, :-1] = dense[:-1, -1] = np.cos(x[:-1])
    return dense


@pytest.mark.parametrize(
    ("f", "matrix", "colours", "entries"),
    [(chain, chain_matrix, 3, 3 * N - 2), (hub, hub_matrix, 2, 3 * N - 3)],
)
def test_against_closed_forms(f, matrix, colours, entries):
    hessian = nd.hessian(f, sparsity="detect")
    found = valid(hessian(X), (N, N))
    np.testing.assert_allclose(found.toarray(), matrix(X), rtol=1e-13, atol=1e-13)
    assert hessian.plan((X,)).count == colours
    assert found.nnz == entries
    assert (found != found.T).nnz == 0  # mirror images are read once
    given = nd.hessian(f, sparsity=sparse.csr_array(matrix(X) != 0))
    np.testing.assert_allclose(given(X).toarray(), matrix(X), rtol=1e-13, atol=1e-13)


def test_other_modes_of_the_gradient():
    for mode in ("forward", "reverse"):
        found = nd.hessian(chain, mode=mode, sparsity="detect")(X)
        np.testing.assert_allclose(found.toarray(), chain_matrix(X), rtol=1e-13)


def test_more_colours_than_a_pass_has_partials():
    found = nd.hessian(chain, sparsity=np.ones((N, N)), chunk=4)
    assert found.plan((X,)).count == N
    np.testing.assert_allclose(found(X).toarray(), chain_matrix(X), rtol=1e-13)


def test_blocks_of_several_arguments():
    def f(a, x, y):
        return a * (x[0] * y).sum() + y[1] ** 3

    x, y = np.array([2.0, 3.0]), np.array([5.0, 7.0, 11.0])
    blocks = nd.hessian(f, (0, 2, 1), sparsity="detect")(1.5, x, y)
    assert [[b.shape for b in row] for row in blocks] == [
        [(1, 1), (1, 3), (1, 2)],
        [(3, 1), (3, 3), (3, 2)],
        [(2, 1), (2, 3), (2, 2)],
    ]
    whole = np.block([[b.toarray() for b in row] for row in blocks])
    expected = np.zeros((6, 6))  # a, y, x
    expected[0, 1:4] = x[0]
    expected[0, 4] = y.sum()
    expected[1:4, 4] = 1.5
    expected += expected.T
    expected[2, 2] = 6.0 * y[1]
    np.testing.assert_allclose(whole, expected, rtol=1e-14)


@pytest.mark.dear
def test_floats_tuples_and_matrices():
    assert nd.hessian(lambda x: x**3, sparsity="detect")(2.0).toarray().tolist() == [[12.0]]
    found = nd.hessian(lambda p: p[0] * p[1][1] ** 2, sparsity="detect")((2.0, X[:2]))
    expected = [[0.0, 0.0, 2.0 * X[1]], [0.0, 0.0, 0.0], [2.0 * X[1], 0.0, 4.0]]
    np.testing.assert_allclose(found.toarray(), expected)
    found = nd.hessian(lambda m: (m[1:] * m[:-1]).sum(), sparsity="detect")(X.reshape(3, 3))
    expected = np.eye(N, k=3) + np.eye(N, k=-3)
    np.testing.assert_allclose(found.toarray(), expected)


def test_nothing_meets():
    assert valid(nd.hessian(lambda x: 3.0 * x.sum(), sparsity="detect")(X), (N, N)).nnz == 0
    assert valid(nd.hessian(chain, sparsity="detect")(X[:0]), (0, 0)).nnz == 0


def test_single_precision():
    found = valid(nd.hessian(hub, sparsity="detect")(X.astype(np.float32)), (N, N), np.float32)
    np.testing.assert_allclose(found.toarray(), hub_matrix(X), rtol=1e-5, atol=1e-6)


def test_in_compiled_code():
    hessian = nd.hessian(chain, sparsity=nd.sparsity(nd.grad(chain))(X))

    @njit
    def entries(x):
        return hessian(x)

    np.testing.assert_array_equal(entries(X), hessian(X).data)
    detecting = nd.hessian(chain, sparsity="detect")
    with pytest.raises(nd.UnsupportedError, match=r"nd\.sparsity\(nd\.grad"):
        njit(lambda x: detecting(x))(X)


# -- patterns ------------------------------------------------------------------------------------

PROGRAMS = {}


def meets(expected):
    """A function of four numbers, and the pairs that meet in it (`"01 22"`)."""

    def add(f):
        PROGRAMS[f.__name__] = f, expected
        return f

    return add


@meets("")
def sums(x):
    return 2.0 * x[0] - x[1] / 3.0 + max(x[2], x[3]) + np.float64(x[0])


@meets("01")
def product(x):
    return x[0] * x[1] + x[2]


@meets("03 13 33")
def quotient(x):
    return (x[0] + x[1]) / x[3]


@meets("00 01 11")
def function_of_a_sum(x):
    return math.exp(x[0] + x[1]) + x[2]


@meets("00 22")
def on_both_sides(x):
    return x[0] ** 2 if x[1] > 1.0 else np.sin(x[2])


@meets("00 11 22 33")
def dot(x):
    return x @ x


@meets("02 03 12 13")
def product_of_sums(x):
    return (x[0] + x[1]) * (x[2] + x[3])


@meets("01 12 23")
def through_an_array(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] += x[i] * x[i + 1]
    return y.sum()


@meets("01 11 12")
def after_a_loop_without_end(x):
    s = x[0]
    while s < 10.0:
        s = s * (1.0 + x[1]) + x[2]
    return s


@meets("02 11")  # what meets before the rounding counts
def rounded(x):
    return np.floor(x[1] ** 2) * x[0] * x[2]


@njit
def squared(x):
    return x * x


@meets("00 11")
def in_a_callee(x):
    return squared(x[0]) + squared(x[1])


@meets("00 01 11")
def norm(x):
    return np.linalg.norm(x[:2])


@meets("01")
def complex_numbers(x):
    return ((x[0] + 0j) * (x[1] * 1j)).imag


@pytest.mark.parametrize("name", PROGRAMS)
def test_detected_patterns(name):
    f, expected = PROGRAMS[name]
    pattern = nd.sparsity(nd.grad(f))(X[:4])
    found = {f"{i}{k}" for i, k in zip(*pattern.nonzero(), strict=True) if i <= k}
    assert found == set(expected.split())
    assert (pattern != pattern.T).nnz == 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_entry_is_missing(name):
    """Second differences of the program in Python, of steps that no pair without interaction feels."""
    f = PROGRAMS[name][0]
    pattern = nd.sparsity(nd.grad(f))(X[:4]).toarray()
    value = f if name != "in_a_callee" else lambda x: x[0] * x[0] + x[1] * x[1]
    unit, h = np.eye(4), 1e-3
    for base in (np.array([0.7, 1.3, 1.9, 2.4]), np.array([1.9, 0.6, 1.1, 0.8])):
        for i in range(4):
            for k in range(4):
                corners = [base + h * (a * unit[i] + b * unit[k]) for a in (1, -1) for b in (1, -1)]
                pp, pm, mp, mm = map(value, corners)
                if abs(pp - pm - mp + mm) / (4.0 * h * h) > 1e-6:
                    assert pattern[i, k], (i, k)


def test_a_pattern_by_a_gradient_of_other_arguments_is_refused():
    def f(x, y):
        return (x * y).sum()

    with pytest.raises(nd.UnsupportedError, match="same argnums"):
        nd.sparsity(nd.grad(f, 1))(X, X)


def test_what_cannot_be_followed_is_refused():
    def f(x):
        values = [x[0], x[1]]
        values.append(x[0] * x[1])
        return values[2]

    with pytest.raises(nd.UnsupportedError, match="give the pattern"):
        nd.hessian(f, sparsity="detect")(X)


# -- patterns that do not fit ----------------------------------------------------------------------


@pytest.mark.parametrize("dropped", [(0, 0), (3, 4)])
def test_a_missing_entry_is_found(dropped):
    dense = chain_matrix(X)
    dense[dropped] = dense[dropped[::-1]] = 0.0
    with pytest.raises(nd.SparsityError, match="nd.hessian"):
        nd.hessian(chain, sparsity=sparse.csr_array(dense))(X)


def test_a_dropped_interaction_is_found(monkeypatch):
    add = interactions.Interactions.add
    monkeypatch.setattr(
        interactions.Interactions, "add", lambda self, a, b: None if 3 in a else add(self, a, b)
    )
    with pytest.raises(nd.SparsityError, match="please report"):
        nd.hessian(lambda x: (x[1:] * x[:-1]).sum(), sparsity="detect")(X)


@pytest.mark.parametrize("pattern", [np.triu(np.ones((N, N))), np.ones((N, N + 1))])
def test_what_is_not_symmetric(pattern):
    with pytest.raises(nd.SparsityError, match="not symmetric"):
        nd.hessian(chain, sparsity=pattern)


def test_another_shape():
    with pytest.raises(nd.SparsityError, match="one a column"):
        nd.hessian(chain, sparsity=np.eye(N + 1))(X)


def test_no_pattern():
    with pytest.raises(nd.SparsityError, match="nd.hessian: sparsity is"):
        nd.hessian(chain, sparsity="detected")


def test_members_that_are_no_floats():
    with pytest.raises(nd.ArgumentError, match="floats alone"):
        nd.hessian(lambda p: p[0] ** 2 * p[1], sparsity="detect")((2.0, 3))
