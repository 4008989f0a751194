"""`functools.partial` is differentiated as the function of the arguments that it leaves open."""

from functools import partial

import numpy as np
import pytest
from numba import njit

import numbad as nd

FACTOR = 2.0


def loss(data, p, q=3.0, power=2):
    return FACTOR * np.sum((data * p + q) ** power)


DATA = np.array([1.0, -2.0])


def slope(p, q):
    """By p, by hand."""
    return 2.0 * FACTOR * np.sum(DATA * (DATA * p + q))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("function", [loss, njit(loss)], ids=["plain", "compiled"])
def test_arguments_given_by_place_and_by_name(function, mode):
    """What is left keeps its default."""
    given = partial(function, DATA, power=2)
    gradient = nd.grad(given, mode=mode)
    assert gradient(0.7) == pytest.approx(slope(0.7, 3.0))
    assert gradient(0.7, 1.0) == pytest.approx(slope(0.7, 1.0))
    assert nd.grad(partial(given, q=1.0), mode=mode)(0.7) == pytest.approx(slope(0.7, 1.0))


def test_what_it_means_now(monkeypatch):
    """A global that changes, and an array that is changed in place, count for new operators."""
    data = DATA.copy()
    given = partial(loss, data)
    before = nd.grad(given)(0.7)
    monkeypatch.setitem(globals(), "FACTOR", 2.0 * FACTOR)
    assert nd.grad(given)(0.7) == pytest.approx(2.0 * before)
    data *= 2.0
    data /= 4.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "DATA", data)
        assert nd.value_and_grad(given)(0.7)[1] == pytest.approx(slope(0.7, 3.0))


def test_a_function_that_is_given():
    def twice(f, x):
        return f(f(x))

    assert nd.grad(partial(twice, lambda x: x * x))(3.0) == pytest.approx(108.0)


def test_what_does_not_fit():
    with pytest.raises(nd.ArgumentError, match="partial of loss: too many positional"):
        nd.grad(partial(loss, 1.0, 2.0, 3.0, 4.0, 5.0))
    with pytest.raises(nd.ArgumentError, match="partial of loss: got an unexpected keyword"):
        nd.grad(partial(loss, scale=2.0))
    with pytest.raises(nd.ArgumentError, match=r"any number of arguments \(values\). Way out"):
        nd.grad(partial(lambda *values: values[0], 1.0))


def test_what_is_given_may_change():
    given = partial(lambda x, k: k * x**3, k=2.0)
    assert nd.value_and_grad(given)(2.0) == (16.0, 24.0)
    given.keywords["k"] = 3.0
    assert nd.value_and_grad(given)(2.0) == (24.0, 36.0)
    given.keywords["k"] = 2.0
    assert nd.value_and_grad(given)(2.0) == (16.0, 24.0)
