"""Calls that ask for literals, blocks in object mode, arrays picked by a branch, names in messages."""

import numba
import numpy as np
import pytest
from numba import njit, objmode

import numbad as nd
from numbad.ir.fence import readable

MODES = pytest.mark.parametrize("mode", ["forward", "reverse"])


@njit
def power(x, n):
    return x ** numba.literally(n)


@njit
def cube_and_square(x):
    return power(x, 3) + power(x, 2)


@njit
def count_in_python(n):
    with objmode(t="float64"):
        t = float(n)
    return t


@njit
def times_counts(x):
    with objmode():
        len("nothing that is differentiated")
    return count_in_python(3) * x * x


@MODES
def test_calls_that_touch_nothing_differentiated_are_left_alone(mode):
    assert nd.value_and_grad(cube_and_square, mode=mode)(2.0) == (12.0, 16.0)
    assert nd.value_and_grad(times_counts, mode=mode)(2.0) == (12.0, 12.0)


@njit
def in_python(x):
    with objmode(y="float64"):
        y = x * 2.0
    return y


@MODES
def test_a_block_that_takes_what_is_differentiated_is_refused(mode):
    with pytest.raises(nd.UnsupportedError, match="a block in object mode") as caught:
        nd.grad(in_python, mode=mode)(1.5)
    assert "defect" not in str(caught.value)


@njit
def picked(t, a, b, first):
    z = a if first else b
    return np.sum(z * t * t * a)


def test_reverse_mode_of_a_derivative_that_picks_its_array():
    slope = nd.derivative(picked)
    f = njit(lambda t, a, b, first: slope(t, a, b, first))
    a, b = np.array([1.0, 3.0]), np.array([2.0, 5.0])
    gradient = nd.grad(f, (0, 1, 2), mode="reverse")
    for first, by_a, by_b in ((True, 8.0 * a, 0.0 * b), (False, 4.0 * b, 4.0 * a)):
        by_t, found_a, found_b = gradient(2.0, a, b, first)
        assert by_t == 2.0 * np.sum((a if first else b) * a)
        np.testing.assert_allclose(found_a, by_a, rtol=1e-14)
        np.testing.assert_allclose(found_b, by_b, rtol=1e-14)


@njit(inline="always")
def _inlined(x, k):
    parts = {1: np.array([x, 2.0])}
    return parts[k][0]


def test_messages_name_what_the_source_names():
    with pytest.raises(nd.UnsupportedError) as caught:
        nd.grad(njit(lambda x: _inlined(x, 1)), mode="reverse")(1.0)
    assert "_v" not in str(caught.value).partition("File")[0]
    told = "Function(<function sum at 0x7f5bd4681580>) of '_pdf_v1351730580895_z.2'"
    assert readable(told) == "sum of 'z.2'"
    assert readable("Function(<ufunc 'add'>)") == "add"


def scalar_rule(f):
    nd.scalar_rule(f, lambda ans, x, n, k: (7.0 * n, 0.0, 11.0 * k))


def jvp_and_vjp(f):
    nd.rule(
        f,
        jvp=lambda p, t: (p[0] ** p[1] * p[2], 7.0 * p[1] * t[0] + 11.0 * p[2] * t[2]),
        vjp=(
            lambda x, n, k: (x**n * k, (n, k)),
            lambda kept, c: (7.0 * kept[0] * c, 0.0, 11.0 * kept[1] * c),
        ),
    )


@MODES
@pytest.mark.parametrize("give", [scalar_rule, jvp_and_vjp])
def test_a_rule_meets_keywords_and_defaults_in_their_places(give, mode):
    """The rule claims the slopes 7 n by x and 11 k by k."""

    @njit
    def hill(x, n=2.0, k=3.0):
        return x**n * k

    give(hill)
    for called, expected in (
        (lambda x: hill(x), (4.0 * 3.0, 14.0)),
        (lambda x: hill(x, 1.0), (2.0 * 3.0, 7.0)),
        (lambda x: hill(x, k=5.0), (4.0 * 5.0, 14.0)),
        (lambda x: hill(k=x, x=3.0 * x), (36.0 * 2.0, 3.0 * 14.0 + 22.0)),
        (hill, (4.0 * 3.0, 14.0)),
    ):
        assert nd.value_and_grad(called, mode=mode)(2.0) == expected
    assert nd.grad(hill, mode=mode)(2.0, k=5.0) == 14.0


@MODES
def test_partials_by_the_first_arguments_alone(mode):
    @njit
    def scaled(x, by=2.0):
        return by * x

    nd.scalar_rule(scaled, lambda ans, x: 7.0)
    assert nd.grad(lambda x: scaled(x) * x, mode=mode)(2.0) == 7.0 * 2.0 + 4.0
