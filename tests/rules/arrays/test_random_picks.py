"""Elements picked or reordered at random, in both modes.

With the random numbers given, a result is a polynomial of the elements; differences of polynomials of degree
three, extrapolated once, are exact but for rounding.
"""

import copy
import random

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.forward.compare import same_bits

SEED = 7
A = np.array([1.3, 0.7, -0.4, 2.2])

PICKED = [
    "return np.random.choice(a) * a[1]",
    "b = np.random.choice(a, 6); return b.sum() * b[2] * a[0]",
    "b = np.random.choice(a, (2, 3)); return (b * b).sum() * b[1, 2]",
    "b = np.random.choice(a, size=3, replace=False); return (b * WEIGHTS[:3]).sum() * a[0]",
    "b = np.random.permutation(a); return (b * WEIGHTS).sum() * a[0]",
    "b = np.random.permutation(np.outer(a, a[:3])); return (b[1] * WEIGHTS[:3]).sum() * a[0]",
    "b = rng.permutation(a); return (b * WEIGHTS).sum() * a[0]",
    "np.random.shuffle(a); return (a * WEIGHTS).sum() * a[0]",
    "np.random.shuffle(a[1:]); return (a * WEIGHTS).sum() * a[1]",
    "random.shuffle(a); return (a * WEIGHTS).sum() * a[0]",
    "rng.shuffle(a); return (a * WEIGHTS).sum() * a[0]",
    "b = np.outer(a, a[:3]); rng.shuffle(b); np.random.shuffle(b); return (b[1] * WEIGHTS[:3]).sum()",
    "c = WEIGHTS.copy(); b = a * c; np.random.shuffle(c); return (b * c).sum() * np.random.choice(c)",
]


def program(text):
    lines = [f"    {line}" for line in text.split("; ")]
    head = ["def f(a, rng):", f"    np.random.seed({SEED})", f"    random.seed({SEED})"]
    names = {"np": np, "random": random, "WEIGHTS": np.array([0.3, 1.9, -0.6, 1.1])}
    exec("\n".join([*head, *lines]), names)
    return njit(names["f"])


def rng():
    return np.random.default_rng(SEED)


def difference(f, k, h):
    ends = [f(A + sign * h * np.eye(A.size)[k], rng()) for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * h)


def derivatives(f):
    return [(4 * difference(f, k, 0.1) - difference(f, k, 0.2)) / 3 for k in range(A.size)]


@pytest.mark.deep(
    but=[
        "return np.random.choice(a)*",
        "np.random.shuffle(a); *",
        "b = np.random.permutation(a); *",
    ]
)
@pytest.mark.parametrize("text", PICKED)
def test_gradient(text):
    f, left = program(text), A.copy()
    expected, value = derivatives(f), f(left, rng())
    for mode in ("forward", "reverse"):
        a = A.copy()
        if mode == "forward":
            found, gradient = by_directions(f, a)
        else:
            found, gradient = nd.value_and_grad(f, mode=mode)(a, rng())
        assert same_bits(found, value)
        assert same_bits(a, left)
        assert gradient == pytest.approx(expected, rel=1e-11, abs=1e-12)


def by_directions(f, a):
    """One pass for each input, as a generator goes on from pass to pass."""
    jvp, gradient = nd.jvp(f, 0), []
    for direction in np.eye(A.size):
        changed = copy.deepcopy(A)
        value, slope = jvp((changed, rng()), (direction,))
        gradient.append(slope)
    a[:] = changed
    return value, gradient


def resampled(a):
    np.random.seed(SEED)
    total = 0.0
    for _ in range(5):
        b = np.random.choice(a, a.size)
        total += np.exp(-b.mean() * b.var()) * b[0]
        np.random.shuffle(b)
        total += b[1] * b[1] * b[2]
    return total


@pytest.mark.deep
def test_a_bootstrap():
    expected = nd.grad(resampled, mode="forward")(A)
    assert nd.grad(resampled, mode="reverse")(A) == pytest.approx(expected, rel=1e-13)
    h = 1e-6
    for k, direction in enumerate(np.eye(A.size)):
        ahead, behind = (njit(resampled)(A + s * h * direction) for s in (1, -1))
        assert expected[k] == pytest.approx((ahead - behind) / (2 * h), rel=1e-6)


@pytest.mark.deep
def test_second_order():
    h = 1e-6
    hessian = nd.hessian(resampled)(A)
    gradient = nd.grad(resampled, mode="reverse")
    for k, direction in enumerate(np.eye(A.size)):
        column = (gradient(A + h * direction) - gradient(A - h * direction)) / (2 * h)
        assert hessian[:, k] == pytest.approx(column, rel=1e-5, abs=1e-7)
