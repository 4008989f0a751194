"""Second derivatives by either mode of the gradient."""

import numpy as np
import pytest

import numbad as nd
from tests.operators.test_first_order import cubes

pytestmark = pytest.mark.usefixtures("compiled_anew")


def test_hessian_vector_products():
    a, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    (along,) = nd.hvp(cubes)((a,), (v,))
    np.testing.assert_array_equal(along, 6 * a * v)
    value, (gradient,), (along,) = nd.grad_and_hvp(cubes)((a,), (v,))
    assert value == 9.0
    np.testing.assert_array_equal(gradient, 3 * a**2)
    np.testing.assert_array_equal(along, 6 * a * v)
    np.testing.assert_array_equal(nd.hessian(cubes, mode="reverse")(a), np.diag(6 * a))
