"""What closures must not do where they are handed to operators in compiled code."""

import pytest
from numba import njit

import numbad as nd


def changed_after_inlining(x):
    def inner(y):
        c = 1.0
        f = lambda t: c * t * t * x  # noqa: E731
        first = nd.grad(f)(y)
        c = 2.0 * y
        return first + nd.grad(f)(y)

    return inner(x)


def changed_beside_inlining(x):
    def inner(y):
        return y * x

    c = 1.0
    f = lambda t: c * t * t * x  # noqa: E731
    first = nd.grad(f)(x)
    c = 2.0 * x
    return first + nd.grad(f)(x) + inner(x)


def changed_within(x):
    def loss(y):
        c = 1.0

        def g(t):
            return c * t * x

        c = 2.0
        return g(y)

    return nd.grad(loss)(x)


def writes_what_it_captures(x):
    n = 0.0

    def f(t):
        nonlocal n
        n += 1.0
        return t * x

    return nd.grad(f)(x) + n


def one_or_the_other(x):
    if x > 1.0:
        f = lambda t: t * x  # noqa: E731
    else:
        f = lambda t: t * t * x  # noqa: E731
    return nd.grad(f)(x)


@njit
def apply(f, x):
    return f(x)


def handed_on(x):
    return apply(nd.grad(lambda t: t * t * x), 2.0)


def option_of_the_run_time(x):
    k = int(x)
    return nd.grad(lambda t, u: t * u * x, k)(2.0, 3.0)


def starred(x):
    return nd.grad(lambda *t: t[0] * x)(2.0)


def argument_left_out(x):
    return nd.grad(lambda t, u: t * u * x)(2.0)


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (changed_after_inlining, "captures 'c', which may be assigned again"),
        (changed_beside_inlining, "captures 'c', which may be assigned again"),
        (changed_within, "captures 'c', which may be assigned again"),
        (writes_what_it_captures, "'n' .nonlocal."),
        (one_or_the_other, "chosen at run time"),
        (handed_on, "captures 'x', and its result is not called there"),
        (option_of_the_run_time, "needs its option 'argnums'"),
        (starred, "takes '.args'"),
        (argument_left_out, "without its argument 'u'"),
    ],
)
def test_refused(f, told):
    """Each names the line, and no program gets an old value of a variable in silence."""
    with pytest.raises(nd.UnsupportedError, match=told) as caught:
        njit(f)(2.0)
    assert "test_refusals.py" in str(caught.value)
    assert "Way out" in str(caught.value)
