"""Functions among the arguments of operators that take all of them as a tuple."""

import fractions

import numpy as np
import pytest
from numba import njit

import numbad as nd

pytestmark = pytest.mark.usefixtures("compiled_anew")


def test_functions_among_primals():
    @njit
    def square(x):
        return x * x

    @njit
    def cubed(x):
        return x * x * x

    @njit
    def apply(f, a, g, factor=2.0):
        return f(a[0]) * a[1] * g(factor)

    a, along = np.array([3.0, 2.0]), np.array([1.0, -1.0])
    value, cotangents = nd.vjp(apply)((square, a, cubed), 1.0)
    assert value == 18.0 * 8.0
    assert cotangents[0] is None
    assert cotangents[2] is None
    np.testing.assert_array_equal(cotangents[1], [96.0, 72.0])
    assert cotangents[3] == 18.0 * 12.0
    value, (by_factor,) = nd.vjp(apply, (3,))((square, a, square, 1.5), 2.0)
    assert (value, by_factor) == (18.0 * 2.25, 2.0 * 18.0 * 3.0)
    assert nd.jvp(apply)((square, a, square, 1.0), (None, along, None, 0.5)) == (18.0, 3.0 + 18.0)
    assert nd.jvp(apply, 1)((square, a, square, 1.0), (along,)) == (18.0, 3.0)
    by_a, by_factor = nd.hvp(apply)((square, a, square, 1.0), (None, along, None, 0.0))
    np.testing.assert_array_equal(by_a, [4.0 - 6.0, 6.0])
    assert by_factor == 2.0 * 3.0

    @njit
    def composed(f, g):
        return f(g(2.0))

    with pytest.raises(nd.ArgumentError, match="no argument holds floats"):
        nd.vjp(composed)((square, cubed), 1.0)


@pytest.mark.filterwarnings("ignore:First-class function")  # of Numba's, for such a tuple
def test_functions_among_primals_in_compiled_code():
    @njit
    def square(x):
        return x * x

    @njit
    def apply(f, a):
        return f(a[0]) * a[1]

    @njit
    def from_compiled(a):
        return nd.vjp(apply)((square, a), 1.0)[1][1]

    a = np.array([3.0, 2.0])
    np.testing.assert_array_equal(from_compiled(a), [12.0, 9.0])
    with pytest.raises(nd.ArgumentError, match="'f'"):
        nd.vjp(apply, 0)((square, a), 1.0)


@pytest.mark.parametrize("operator", [nd.jvp, nd.vjp], ids=lambda f: f.__name__)
def test_numbers_of_another_byte_order_are_told_of(operator):
    """Numba reads them as its own within a tuple, once it has compiled for such."""

    def f(a):
        return (a * a).sum()

    a, call = np.array([1.0, 2.0]), operator(f)
    given = {"jvp": (np.ones(2),), "vjp": 1.0}[operator.__name__]
    assert call((a,), given)[0] == 5.0
    with pytest.raises(nd.ArgumentError, match="an array of >f8"):
        call((a.astype(">f8"),), given)
    with pytest.raises(nd.ArgumentError, match="Numba has no type for"):
        call((fractions.Fraction(1, 2),), given)
