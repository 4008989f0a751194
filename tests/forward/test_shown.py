"""What a user sees of numbers in forward mode: values, without partials."""

import pytest
from numba import njit

import numbad as nd


def checked(x, n):
    if x < 0:
        raise ValueError("negative", x, n, 2.0 * x)
    return x * x


def test_exceptions_carry_values():
    slope = nd.derivative(checked)
    assert slope(2.0, 3) == 4.0
    with pytest.raises(ValueError, match="negative") as caught:
        slope(-2.0, 3)
    assert caught.value.args == ("negative", -2.0, 3, -4.0)


def test_print_shows_values(capfd):
    @njit
    def shown(x):
        print("x =", x)
        return x * x

    assert nd.derivative(shown)(1.5) == 3.0
    assert capfd.readouterr().out == "x = 1.5\n"
