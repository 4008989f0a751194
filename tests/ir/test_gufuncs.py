"""What `numba.guvectorize` made, in both modes; the oracle is the same program at complex numbers."""

import numpy as np
import pytest
from numba import complex128, float64, guvectorize, njit

import numbad as nd

MODES = "forward", "reverse"
STEP = 1e-30
A = np.array([[0.4, 1.3, 0.7], [1.1, 0.6, 0.9]])
B = np.array([1.7, 0.8])


def _scaled_sums(y, c, out):
    total = y[0] * 0.0
    for k in range(len(y)):
        total += y[k] * y[k]
        out[k] = c * total


DECLARED = [(t[:], t, t[:]) for t in (float64, complex128)]
scaled_sums = guvectorize(DECLARED, "(n),()->(n)")(_scaled_sums)
at_a_call = guvectorize("(n),()->(n)")(_scaled_sums)


@guvectorize("(n),(n)->(),(n)")
def two_outputs(y, z, s, p):
    s[0] = 0.0
    for k in range(len(y)):
        s[0] += y[k] * z[k]
        p[k] = y[k] * z[k] * z[k]


@njit
def axes_of_the_loop(a, b):
    out = np.zeros_like(a)
    scaled_sums(a, b, out)
    return (out * out).sum()


@njit
def operands_without_that_axis(a, b):
    out = np.zeros_like(a)
    at_a_call(a[0], b, out)
    at_a_call(out, b[1], out)
    return (out * out * out).sum()


@njit
def outputs_of_no_axes(a, b):
    sums, out, one = np.zeros_like(b), np.zeros_like(a), np.zeros_like(b[:1])
    two_outputs(a, out + b[0], sums, out)
    two_outputs(out[0], a[1], one[:1].reshape(()), out[1])
    return sums[0] * sums[1] + one[0] * (out * out).sum()


@njit
def in_a_loop(a, b):
    total, out = b[0], np.zeros_like(a[0])
    for k in range(4):
        scaled_sums(a[k % 2], total, out)
        total = total + out[2] * b[1]
    return total


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "program", [axes_of_the_loop, operands_without_that_axis, outputs_of_no_axes, in_a_loop]
)
def test_of_generalized_ufuncs(program, mode):
    found = nd.grad(program, argnums=(0, 1), mode=mode)(A, B)
    for k, (given, slopes) in enumerate(zip((A, B), found, strict=True)):
        for index in np.ndindex(given.shape):
            moved = [x.astype(complex) for x in (A, B)]
            moved[k][index] += STEP * 1j
            np.testing.assert_allclose(slopes[index], program(*moved).imag / STEP, rtol=1e-13)


@njit
def of_other_shapes(a, b):
    out = np.zeros((2, 4))
    scaled_sums(a, b, out)
    return out.sum()


@njit
def of_other_loops(a, b):
    out = np.zeros((2, 3))
    scaled_sums(a, np.append(b, b[0]), out)
    return out.sum()


@pytest.mark.dear
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", [of_other_shapes, of_other_loops])
def test_shapes_that_do_not_go_together(program, mode):
    message = "incompatible|mismatch in one of its core dimensions"
    with pytest.raises(ValueError, match=message):
        program(A, B)
    with pytest.raises(ValueError, match=message):
        nd.grad(program, mode=mode)(A, B)


@pytest.mark.parametrize("mode", MODES)
def test_a_name_that_means_something_else_since_is_refused(mode):
    names = {"factor": 2.0, "np": np}
    exec("def f(y, out):\n    out[0] = factor * y[0]\n", names)
    frozen = guvectorize([(float64[:], float64[:])], "(n)->(n)")(names["f"])
    names["factor"] = 3.0

    @njit
    def program(a):
        out = np.zeros(1)
        frozen(a, out)
        return out[0]

    assert program(np.ones(1)) == 2.0
    with pytest.raises(nd.UnsupportedError):
        nd.grad(program, mode=mode)(np.ones(1))
