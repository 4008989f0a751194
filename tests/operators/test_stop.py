"""`stop_gradient` in both modes."""

import numpy as np

import numbad as nd


def test_stop_gradient():
    assert nd.derivative(lambda x: x * nd.stop_gradient(x))(3.0) == 3.0
    gradient = nd.grad(lambda a: (a * nd.stop_gradient(a)).sum())(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gradient, [1.0, 2.0])
    second = nd.derivative(nd.derivative(lambda x: x**3 + nd.stop_gradient(x) ** 5))
    assert second(2.0) == 12.0
    assert nd.stop_gradient(3.0) == 3.0
