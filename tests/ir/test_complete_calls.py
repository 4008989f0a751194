"""Rules of functions that are called with keywords and defaults."""

import pytest
from numba import njit

import numbad as nd
from tests.operators.test_calls_as_written import MODES


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
