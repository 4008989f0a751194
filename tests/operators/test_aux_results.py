"""`has_aux`: what a function returns beside its value comes back, and no derivative of it is taken."""

import math
import pickle
from collections import namedtuple

import numpy as np
import pytest
from numba import float64, njit
from numba.experimental import jitclass

import numbad as nd

Fit = namedtuple("Fit", "loss details")
Details = namedtuple("Details", "waves numbers large nothing")
both = pytest.mark.parametrize("mode", ["forward", "reverse"])

pytestmark = pytest.mark.usefixtures("compiled_anew")


@njit
def misfit(x, gain):
    predicted, total = np.empty(x.size), 0.0
    for i in range(x.size):
        predicted[i] = math.sin(x[i]) * gain
        total += predicted[i] ** 2
    return total, predicted


@njit
def pair(x):
    return x**3, (3 * x**2, 7)


@both
@pytest.mark.parametrize("size", [0, 3, 40])
def test_aux_comes_with_the_gradient(mode, size):
    x = np.linspace(0.1, 2.0, size)
    gradient = 8 * np.sin(x) * np.cos(x), 4 * np.sum(np.sin(x) ** 2)
    (value, predicted), found = nd.value_and_grad(misfit, (0, 1), mode, has_aux=True)(x, 2.0)
    assert value == pytest.approx(4 * np.sum(np.sin(x) ** 2))
    np.testing.assert_allclose(predicted, 2 * np.sin(x))
    np.testing.assert_allclose(found[0], gradient[0], rtol=1e-14)
    assert found[1] == pytest.approx(gradient[1])
    found, predicted = nd.grad(misfit, mode=mode, has_aux=True)(x, 2.0)
    np.testing.assert_allclose(found, gradient[0], rtol=1e-14)
    np.testing.assert_allclose(predicted, 2 * np.sin(x))


@both
def test_aux_may_be_of_any_numbers(mode):
    @njit
    def fit(x):
        waves = np.empty(x.size, np.complex128)
        for i in range(x.size):
            waves[i] = complex(x[i], i)
        return Fit(np.sum(np.abs(waves)), Details(waves, np.arange(2), x > 1, x[:0]))

    x = np.array([1.0, 3.0])
    fit, gradient = nd.value_and_grad(fit, mode=mode, has_aux=True)(x)
    assert type(fit).__name__ == "Fit"
    assert type(fit.details).__name__ == "Details"
    assert fit.loss == pytest.approx(1.0 + math.sqrt(10.0))
    np.testing.assert_array_equal(fit.details.waves, [1.0, 3.0 + 1j])
    np.testing.assert_array_equal(fit.details.numbers, [0, 1])
    np.testing.assert_array_equal(fit.details.large, [False, True])
    assert fit.details.nothing.shape == (0,)
    np.testing.assert_allclose(gradient, [1.0, 3.0 / math.sqrt(10.0)])


@both
def test_aux_is_what_one_of_several_returns_gives(mode):
    @njit
    def either(x):
        if x[0] > 0:
            return np.sum(x), 2 * x
        return np.sum(x * x), np.zeros(3)

    call = nd.grad(either, mode=mode, has_aux=True)
    gradient, aux = call(np.array([1.0, 2.0]))
    assert gradient.tolist() == [1.0, 1.0]
    assert aux.tolist() == [2.0, 4.0]
    gradient, aux = call(np.array([-1.0, 2.0]))
    assert gradient.tolist() == [-2.0, 4.0]
    assert aux.tolist() == [0.0, 0.0, 0.0]


@both
@pytest.mark.parametrize("outer", ["forward", "reverse"])
def test_derivatives_around_it_go_through_value_gradient_and_aux(mode, outer):
    value_and_grad = nd.value_and_grad(misfit, (0, 1), mode, has_aux=True)
    grad = nd.grad(misfit, 1, mode, has_aux=True)
    of_pair = nd.value_and_grad(pair, 0, mode, has_aux=True)

    @njit
    def around(x, gain):
        (value, predicted), (by_x, by_gain) = value_and_grad(x, gain)
        again, once_more = grad(x, gain)
        (cube, (triple, number)), slope = of_pair(gain)
        total = value * by_gain + np.sum(predicted * by_x) + again * np.sum(once_more**3)
        return total + cube * triple * slope * number

    def by_hand(x, gain):
        predicted = np.sin(x) * gain
        by_x, by_gain = 2 * predicted * np.cos(x) * gain, np.sum(2 * predicted * np.sin(x))
        total = np.sum(predicted**2) * by_gain + np.sum(predicted * by_x)
        total = total + by_gain * np.sum(predicted**3)
        return total + gain**3 * (3 * gain**2) * (3 * gain**2) * 7

    x, gain, step = np.array([0.3, 1.1, 2.0]), 1.7, 1e-30
    by_x, by_gain = nd.grad(around, (0, 1), outer)(x, gain)
    for k, unit in enumerate(np.eye(3)):
        assert by_x[k] == pytest.approx(by_hand(x + 1j * step * unit, gain).imag / step, rel=1e-12)
    assert by_gain == pytest.approx(by_hand(x, gain + 1j * step).imag / step, rel=1e-12)


@both
def test_a_gradient_is_differentiated_with_itself_as_aux(mode):
    with_gradient = nd.value_and_grad(lambda x: x**3, mode=mode)
    assert nd.grad(with_gradient, mode=mode, has_aux=True)(2.0) == (12.0, 12.0)


def test_in_compiled_code_in_batches_in_other_processes_and_by_instances():
    @jitclass([("a", float64), ("w", float64[:])])
    class Weights:
        def __init__(self, a, w):
            self.a, self.w = a, w

    @njit
    def inside(x, k):
        def loss(p, q):
            return (p - k) ** 2 * q, p - k

        return nd.grad(loss, argnums=(0, 1), has_aux=True)(x, 2.0)

    assert inside(1.0, 3.0) == ((-8.0, 4.0), -2.0)
    (values, (parts, numbers)), slopes = nd.batch(nd.value_and_grad(pair, has_aux=True))(
        np.arange(3.0)
    )
    assert values.tolist() == [0.0, 1.0, 8.0]
    assert parts.tolist() == [0.0, 3.0, 12.0]
    assert numbers.tolist() == [7, 7, 7]
    assert slopes.tolist() == [0.0, 3.0, 12.0]
    again = pickle.loads(pickle.dumps(nd.grad(pair, has_aux=True)))
    assert again(2.0) == (12.0, (12.0, 7))
    with pytest.raises(nd.ArgumentError, match="or holds a jitclass object"):
        nd.grad(lambda p: (p.a, p), has_aux=True)(Weights(2.0, np.ones(3)))
    total = njit(lambda p: (p.a * np.sum(p.w), 2 * p.w))
    gradient, aux = nd.grad(total, has_aux=True)(Weights(2.0, np.ones(3)))
    assert gradient.a == 3.0
    assert gradient.w.tolist() == [2.0, 2.0, 2.0] == aux.tolist()
    (value, aux), gradient = nd.value_and_grad(total, has_aux=True)(Weights(2.0, np.ones(3)))
    assert value == 6.0
    assert gradient.a == 3.0
    assert aux.tolist() == [2.0, 2.0, 2.0]


@both
def test_what_is_no_pair_of_a_float_and_numbers_is_named(mode):
    def told(f):
        with pytest.raises(nd.ArgumentError) as error:
            nd.grad(f, mode=mode, has_aux=True)(2.0)
        return str(error.value)

    asked = "has_aux=True, <lambda> must return (value, aux)"
    assert f"{asked}; it returns a float64" in told(lambda x: x)
    assert f"{asked}; it returns a tuple of 3" in told(lambda x: (x, x, x))
    assert "where value is a float; it is an array of float64" in told(lambda x: (np.array([x]), x))
    assert "where value is a float; it is an int" in told(lambda x: (1, x))
    assert "it is or holds a list of float64" in told(lambda x: (x, [x]))
    with pytest.raises(nd.ArgumentError, match=r"or has_aux=True, for a function that returns"):
        nd.grad(lambda x: (x, 2 * x), mode=mode)(2.0)
    with pytest.raises(nd.ArgumentError, match="has_aux is True or False, not 'yes'"):
        nd.grad(pair, has_aux="yes")


def test_reverse_mode_goes_back_through_nothing_that_aux_alone_needs():
    def with_total(p):  # reverse mode does not go back through sets
        total = 0.0
        for x in {p[0] ** 3, p[1] ** 3}:
            total += x
        return np.sum(p * p), total

    p = np.array([1.0, -3.0])
    with pytest.raises(nd.UnsupportedError, match="set"):
        nd.jacobian(with_total, mode="reverse")(p)
    gradient, total = nd.grad(with_total, mode="reverse", has_aux=True)(p)
    np.testing.assert_array_equal(gradient, [2.0, -6.0])
    assert total == -26.0
