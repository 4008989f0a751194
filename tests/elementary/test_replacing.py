"""Elementary functions put into compiled code: no call of the C library is left, loops are over vectors."""

import numpy as np
import pytest

import numbad as nd
from tests.elementary.test_option import OPERATORS, _made, _text, elementwise, slope, x


@pytest.mark.parametrize("build", OPERATORS.values(), ids=OPERATORS)
def test_none_of_the_c_librarys_functions_is_left_in_a_loop(build):
    operator = _made(build)
    operator(x)
    called = [line for line in _text(operator).splitlines() if "call double @llvm.exp" in line]
    assert "numbad.elementary.exp" in _text(operator)
    assert not called


def test_loops_are_over_vectors():
    operator = _made(lambda: nd.vjp(elementwise))
    (value, (gradient,)) = operator((x,), np.ones(x.size))
    np.testing.assert_allclose(gradient, slope(x), rtol=1e-13, atol=1e-15)
    assert "x double> @numbad.elementary.tanh." in _text(operator)


def test_what_was_compiled_before_does_not_stand_in_for_it():
    """A part that both have is linked twice, under one name."""

    def product(v, w):
        return np.dot(np.tanh(v * w), w)

    plain = nd.value_and_grad(product, mode="reverse")
    plain(x, x)
    vectors = _made(lambda: nd.vjp(product))
    again = _made(lambda: nd.value_and_grad(product, mode="reverse"))
    value, gradient = again(x, x)
    assert value == vectors((x, x), 1.0)[0]
    assert np.any(plain(x, x)[1] != gradient)  # a few bits, of 37 numbers
    np.testing.assert_allclose(gradient, x * x / np.cosh(x * x) ** 2, rtol=1e-13, atol=1e-15)
