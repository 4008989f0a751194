"""Which NumPy functions share memory with their argument: a promoted copy must not break the tie.

`b` is made of `a` before either holds a derivative. Where Numba makes it a view, what is then written
to `b` is read from `a`, and its derivative with it.
"""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.source import define

VIEWS = (
    *("np.flip(a)", "np.flipud(a)", "np.asarray(a)", "np.atleast_1d(a)", "np.ravel(a)", "a[::-1]"),
    *("np.ascontiguousarray(a)", "np.swapaxes(a, 0, 0)", "np.split(a, 2)[0]", "a.T"),
    *("np.expand_dims(a, 0)[0]", "np.transpose(a)", "a.reshape((2, 2))[0]"),
)
COPIES = (
    "np.copy(a)",
    "np.sort(a)",
    "np.roll(a, 1)",
    "np.where(a > 0, a, a)",
    "a.astype(np.float64)",
)


def program(expression):
    source = f"def f(x):\n    a = np.zeros(4)\n    b = {expression}\n    b[0] = x * x\n    return a.sum()\n"
    return njit(define(source, {"np": np}))


@pytest.mark.deep(but=["a.T*", "a.reshape*", "np.asarray(a)*", "np.flip(a)*", "np.ravel(a)*"])
@pytest.mark.parametrize("expression", VIEWS)
def test_a_view_shares_memory(expression):
    f = program(expression)
    assert f(3.0) == 9.0
    assert nd.value_and_grad(f)(3.0) == (9.0, 6.0)


@pytest.mark.parametrize("expression", COPIES)
def test_a_copy_does_not(expression):
    f = program(expression)
    assert f(3.0) == 0.0
    assert nd.value_and_grad(f)(3.0) == (0.0, 0.0)


@pytest.mark.parametrize(
    "made",
    [
        *("np.random.normal(2.0, 0.1, 4)", "rng.uniform(1.0, 2.0, 4)", "np.logspace(1.0, 2.0, 4)"),
        "np.array([0.5 * k for k in range(1, 5)])",
    ],
)
def test_a_new_array_holds_what_is_stored_later(made):
    source = (
        f"def f(x, rng):\n    b = {made}\n    for i in range(4):\n        b[i] = x * x * b[i]\n"
    )
    f = njit(define(source + "    return b.sum()\n", {"np": np}))
    value, slope = nd.value_and_grad(f, mode="forward")(3.0, np.random.default_rng(1))
    assert value > 9.0
    assert slope == pytest.approx(2.0 * value / 3.0, rel=1e-14)
