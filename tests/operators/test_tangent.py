"""Tangents that fit, and that do not."""

import numpy as np
import pytest

import numbad as nd
from tests.operators.test_wrong_use import f


def test_tangents_that_do_not_fit():
    with pytest.raises(
        nd.ArgumentError, match="needs 2 tangents, one for every argument; it got 1"
    ):
        nd.jvp(f)((1.0, 2), (1.0,))
    with pytest.raises(nd.ArgumentError, match="no value for argument 'count' in primals"):
        nd.jvp(f)((1.0,), (1.0, 1.0))
    with pytest.raises(nd.ArgumentError, match="two tuples"):
        nd.jvp(f)(1.0, 1.0)
    with pytest.raises(nd.ArgumentError, match="the tangent of 'a' must have its structure"):
        nd.jvp(lambda a: a.sum())((np.ones(3),), (1.0,))
    with pytest.raises(nd.ArgumentError, match="must have the shape of the argument"):
        nd.jvp(lambda a: a.sum())((np.ones(3),), (np.ones(2),))


@pytest.mark.parametrize("x", [2.0, np.array([2.0, 3.0])], ids=["float", "array"])
def test_tangents_of_a_type_that_their_argument_cannot_have(x):
    """A complex tangent of a real argument, and one in half precision, which Numba does not compute with."""
    square = nd.jvp(lambda x: x * x)
    with pytest.raises(nd.ArgumentError, match="'x' is a.* complex128, but the argument is real"):
        square((x,), (x * 1j,))
    with pytest.raises(nd.ArgumentError, match="'x' is a.* float16: .*convert it"):
        square((x,), (np.float16(1) * np.ones_like(x, np.float16)[()],))
    with pytest.raises(nd.ArgumentError, match="must have the structure of the result"):
        nd.vjp(lambda x: x * x)((x,), np.ones_like(x, np.float16)[()])


def test_tangents_of_arguments_that_come_in_through_a_star():
    def product(x, *factors):
        return x * factors[0] * factors[1]

    for operator in nd.jvp, nd.hvp:
        with pytest.raises(nd.ArgumentError, match=r"'\*factors'; pass a tuple as one argument"):
            operator(product)((2.0, 3.0, 4.0), (1.0, 1.0, 1.0))


def scaled_by_a_default(x, n, factor=2.0):
    return x * x * n * factor


def test_tangents_of_what_is_given_where_the_rest_is_left_to_defaults():
    assert nd.jvp(scaled_by_a_default)((3.0, 2), (0.5, 0.0)) == (36.0, 12.0)
    assert nd.jvp(scaled_by_a_default)((3.0, 2, 1.0), (0.5, 0.0, 10.0)) == (18.0, 186.0)
    assert nd.hvp(scaled_by_a_default)((3.0, 2), (0.5, 0.0))[0] == 4.0
    with pytest.raises(
        nd.ArgumentError, match="needs 3 tangents, one for every argument; it got 2"
    ):
        nd.jvp(scaled_by_a_default)((3.0, 2, 1.0), (0.5, 0.0))
