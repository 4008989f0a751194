"""Functions that are given the array for their result, and arrays that are changed in place, in both modes.

Arrays may share memory. Numba goes through the elements in order, whatever overlaps, so that the oracle
is Numba's own function, by central differences: the results are smooth, with partials of order one.
"""

import copy

import numba
import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.forward.compare import same_bits

NUMBA = tuple(map(int, numba.__version__.split(".")[:2]))
ARGUMENTS = {
    "a": np.array([0.53, -1.47, 0.61, 1.77]),
    "b": np.array([0.3, 1.2, -0.7]),
    "c": np.array([1.1, 0.4, -0.2]),
}

ALIASED = [
    "np.add(a, a, a); return a.sum() * a[0]",
    "np.multiply(a[1:], a[:-1], a[1:]); return (a * a).sum()",
    "np.multiply(a[1:], a[:-1], a[:-1]); return (a * a).sum()",
    "np.multiply(a[::-1], a, a); return (a * a).sum()",
    "np.exp(a, a); np.sin(a, a); return a.sum() * a[1]",
    "np.add(a, b[0], a); np.subtract(a, a[0], a); return (a * a * a).sum()",
    "m = np.outer(b, a); np.multiply(m, m[1], m); return (m * m).sum()",
    "m = np.zeros((3, 4)); k = m[1]; np.add(k, a, k); np.multiply(m, k, m); return m.sum() * a[0]",
    "np.maximum(a, 0.2, a); np.minimum(a, 0.7, a); return (a * a).sum()",
    "np.clip(a, -1.2, 0.7, a); return (a * a).sum()",
]
NEW = [
    "out = np.empty((3, 4)); np.multiply(a, b[:, None], out); return (out * out).sum()",
    "out = np.zeros((2, 3, 4)); np.multiply(a, b[:, None], out); return (out * out).sum() * out[1, 2, 3]",
    "out = np.empty((4, 3)).T; np.multiply(a, b[:, None], out); return (out * out).sum()",
    "out = np.ones((6, 4)); np.multiply(a, b[:, None], out[::2]); return (out * out).sum()",
    "out = np.zeros((3, 4)); np.add(out, a, out); np.add(out.T, b, out.T); return (out * out).sum()",
    "out = np.empty(()); np.add(a[0], a[1] * a[1], out); return out[()] * a[2]",
    "out = np.empty(3); np.add(a[0], a[1] * a[1], out); return (out * out).sum()",
    "out = np.empty(4); np.hypot(a, b[1], out); np.arctan2(out, a, out); return (out * out).sum()",
    "out = np.empty(4, np.complex128); np.multiply(a, 1j, out); return (out[0] * out[1]).real * b[0]",
    "out = np.empty((3, 3)); m = np.outer(b, a); np.dot(m, m.T, out); return (out * out).sum()",
    "out = np.empty(3); np.dot(np.outer(b, a), a, out=out); return (out * out).sum()",
    "np.dot(np.outer(c, a), a, b); return (b * b).sum()",
    "out = np.empty(4); np.clip(a, b[2], b[1], out); return (out * out).sum() * b[0]",
    "out = np.empty((3, 4)); out[:] = a; out *= b[:, None]; out += out; out **= 2; return out.sum()",
]
RETURNED = [
    "out = np.zeros(3); r = np.multiply(c, b, out); r[0] = a[0]; return (out * out).sum()",
    "out = np.zeros(3); r = np.multiply(ONE, 2.0, out); r[0] = a[0]; return (out * out).sum()",
    "out = np.zeros(3); k = out; r = np.add(ONE, 1.0, k); r *= a[0]; return (out * out).sum()",
    "out = np.zeros((2, 3)); r = np.add(ONE, 1.0, out[1]); r[1] = a[1]; return (out * out).sum()",
    "out = np.zeros(3); r = np.clip(ONE, 0.5, 3.0, out); r[0] = a[0]; return (out * out).sum()",
    "out = np.zeros(1); r = np.dot(np.ones((1, 3)), ONE, out); r[0] += a[0]; return (out * out).sum()",
]
IN_PLACE = [
    "m = np.outer(b, a); m -= m[0]; return (m * m).sum()",
    "m = np.outer(b, a); m[1:] += m[:-1]; return (m * m).sum()",
    "m = np.outer(b, a); m *= m[1]; return (m * m).sum()",
    "m = np.outer(b, a); m[:, 0] = m[:, 1] * m[0].sum(); m[0] = m[:, 0].sum(); return (m * m).sum()",
    "k = a[:3]; k += a[1:]; return (a * a).sum() * k[0]",
    "k = a[1:]; k += a[:3]; return (a * a).sum() * k[0]",
    "k = a[1:]; k[:] = a[:3]; return (a * a).sum() * k[0]",
    "a[1:] = a[:3] * 2.0; return (a * a).sum()",
    "a[:] = a[::-1]; return (a * a).sum() * a[0]",
    "a[:3] += a[::-1][:3]; return (a * a).sum() * a[0]",
]


def program(text):
    lines = [f"    {line}" for line in text.split("; ")]
    names = {"np": np, "ONE": np.array([1.0, 2.0, 3.0])}
    exec("\n".join(["def f(a, b, c):", *lines]), names)
    return njit(names["f"])


def arguments():
    return copy.deepcopy(tuple(ARGUMENTS.values()))


def differences(f, h=1e-6):
    for k, argument in enumerate(arguments()):
        found = np.empty_like(argument)
        for i in range(argument.size):
            ends = [arguments(), arguments()]
            ends[0][k][i] -= h
            ends[1][k][i] += h
            left, right = (f(*args) for args in ends)
            found[i] = (right - left) / (2 * h)
        yield found


@pytest.mark.dear
@pytest.mark.deep(
    but=[
        "np.add(a, a, a); *",
        "np.exp(a, a); *",
        "np.multiply(a[[]::-1], a, a); *",
        "a[[]:3] += a[[]::-1]*",
        "k = a[[]1:]; k += a[[]:3]; *",
        "np.clip(a, *",
    ]
)
@pytest.mark.parametrize("text", [*ALIASED, *NEW, *RETURNED, *IN_PLACE])
def test_gradient(text):
    f, left = program(text), arguments()
    expected, value = list(differences(f)), f(*left)
    for mode in ("forward", "reverse"):
        args = arguments()
        found, gradient = nd.value_and_grad(f, (0, 1, 2), mode=mode)(*args)
        assert same_bits(found, value)
        assert all(map(same_bits, args, left)), "arguments are left as the function leaves them"
        for one, other in zip(gradient, expected, strict=True):
            assert one == pytest.approx(other, rel=1e-6, abs=1e-7)


def in_single_precision(a, b, c):
    out = np.empty(4, np.float32)
    np.sin(a, out)
    return out.sum() * a[0]


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_into_single_precision(mode):
    a, b, c = arguments()
    found = nd.grad(in_single_precision, mode=mode)(a, b, c)
    assert found == pytest.approx(np.cos(a) * a[0] + np.eye(4)[0] * np.sin(a).sum(), rel=1e-6)


@pytest.mark.dear
@pytest.mark.deep(but=["<lambda>0-*", "*-reverse"])
@pytest.mark.skipif(NUMBA < (0, 68), reason="older versions of Numba write past the end")
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.clip(a, a[0], 2.0, np.empty(3)).sum(),
        lambda a: np.clip(a, 0.0, 2.0, np.empty(5)).sum(),
        lambda a: np.dot(np.outer(a, a), a, np.empty(3)).sum(),
    ],
)
def test_outputs_of_another_shape_raise_as_in_the_primal(f, mode):
    for called in (njit(f), nd.grad(f, mode=mode)):
        with pytest.raises(ValueError, match="shape|size"):
            called(np.ones(4))
