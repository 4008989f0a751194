"""What has no derivative that could be followed is refused, also where only integers come of it."""

import numpy as np
import pytest

import numbad as nd

A = np.array([0.9, 2.1, 0.4])


def bits_of_a_number(x):
    return np.int64(np.float64(x).view(np.int64) + 1).view(np.float64) * x


def bits_of_an_array(a):
    return a.view(np.int64)[1] * a[0]


def bytes_of_an_array(a):
    return a.tobytes()[7] * a[0]


def from_a_buffer(a):
    return np.frombuffer(a, np.int64)[1] * a[0]


def number_of_events(x):
    return np.random.poisson(4.0 * x) * x


def number_of_trials(x):
    return np.random.geometric(0.4 * x) * x


def number_by_a_generator(x, rng):
    return rng.zipf(1.0 + x) * x


@pytest.mark.parametrize(
    ("f", "args", "words"),
    [
        (bits_of_a_number, (0.7,), "bits of values of type float64"),
        (bits_of_an_array, (A,), "bits of values"),
        (bytes_of_an_array, (A,), "bits of values"),
        (from_a_buffer, (A,), "bits of values"),
        (number_of_events, (0.7,), "draw of 'poisson'"),
        (number_of_trials, (0.7,), "draw of 'geometric'"),
        (number_by_a_generator, (0.7, np.random.default_rng(1)), "draw of 'zipf'"),
    ],
)
def test_refused(f, args, words):
    with pytest.raises(nd.UnsupportedError) as error:
        nd.grad(f, 0, mode="reverse")(*args)
    assert words in str(error.value)
    assert f.__name__ in str(error.value)
    assert __file__ in str(error.value)


def bits_of_a_constant(x):
    return x * x * (np.float64(2.0).view(np.int64) >> 52)


def number_with_a_constant(x):
    np.random.seed(3)
    return x * x * (np.random.poisson(40.0) > 0)


@pytest.mark.parametrize(("f", "factor"), [(bits_of_a_constant, 1024), (number_with_a_constant, 1)])
def test_constants_go_in(f, factor):
    assert nd.grad(f, 0, mode="reverse")(0.7) == pytest.approx(1.4 * factor, rel=1e-15)
