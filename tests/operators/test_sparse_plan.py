"""The mode in which a sparse Jacobian is evaluated."""

import numpy as np
import pytest
from numba import njit
from scipy import sparse

import numbad as nd
from tests.operators.test_compressed_rows import arrow
from tests.operators.test_sparse import RING, X, ring, valid


def arrow_matrix(x):
    return np.vstack([np.diag(2.0 * x), 3.0 * x**2])


wide = np.linspace(0.5, 2.0, 40)


def test_few_full_rows_are_pulled_back():
    jacobian = nd.jacobian(arrow, sparsity="detect")
    np.testing.assert_allclose(valid(jacobian(wide), (41, 40)).toarray(), arrow_matrix(wide))
    plan = jacobian.plan((wide,))
    assert (plan.mode, plan.count) == ("reverse", 2)


@pytest.mark.parametrize(
    ("options", "mode"),
    [({}, "reverse"), ({"mode": "forward"}, "forward"), ({"chunk": 8}, "forward")],
)
def test_the_mode_that_is_asked_for(options, mode):
    jacobian = nd.jacobian(arrow, sparsity="detect", **options)
    assert jacobian.plan((wide,)).mode == mode
    np.testing.assert_allclose(jacobian(wide).toarray(), arrow_matrix(wide))


def test_few_columns_go_forward():
    assert nd.jacobian(ring, sparsity=RING).plan((X,)).mode == "forward"
    assert nd.jacobian(arrow, sparsity="detect").plan((wide[:4],)).mode == "forward"


def full_row_of_complex_numbers(x):
    y = x * 1j
    y[0] = x.sum()
    return y


@pytest.mark.dear
def test_what_reverse_mode_refuses_goes_forward():
    f = full_row_of_complex_numbers
    expected = 1j * np.eye(40)
    expected[0] = 1.0
    jacobian = nd.jacobian(f, sparsity="detect")
    assert jacobian.plan((wide,)).mode == "reverse"
    np.testing.assert_allclose(jacobian(wide).toarray(), expected)
    assert jacobian.plan((wide,)).mode == "forward"
    in_code = nd.jacobian(f, sparsity=nd.sparsity(f)(wide))
    np.testing.assert_allclose(njit(lambda x: in_code(x))(wide), jacobian(wide).data)
    with pytest.raises(nd.UnsupportedError, match="complex"):
        nd.jacobian(f, sparsity="detect", mode="reverse")(wide)


def test_wrong_arguments_do_not_change_the_mode():
    jacobian = nd.jacobian(arrow, sparsity=sparse.csr_array(arrow_matrix(wide)))
    with pytest.raises(nd.ArgumentError, match="must hold floats"):
        jacobian(np.arange(40))
    assert jacobian.plan((wide,)).mode == "reverse"
