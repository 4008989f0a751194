"""Fields of instances that hold dual numbers, and that hold constants."""

from numba import types
from numba.experimental import jitclass

import numbad as nd


@jitclass([("k", types.float64)])
class Spring:
    def __init__(self, k):
        self.k = k


def test_a_float_field_holds_a_derivative():
    assert nd.derivative(lambda x: Spring(x).k * x)(1.5) == 3.0


def test_constant_fields_are_constants():
    assert nd.derivative(lambda spring, x: spring.k * x * x, 1)(Spring(2.0), 3.0) == 12.0
