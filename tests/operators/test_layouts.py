"""Whether a function shares memory with an argument depends on its layout, for duals and shadows too."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

M = np.array([[0.53, 1.3, 0.2, 0.9], [0.7, 2.1, 1.1, 0.4]])
STEP = 1e-30


def laid_out(layout, dtype=float):
    """`M` in C order, in Fortran's, or as every second column of a larger matrix."""
    if layout == "strided":
        larger = np.zeros((2, 8), dtype)
        larger[:, ::2] = M
        return larger[:, ::2]
    return np.array(M, dtype, order=layout)


@njit
def shared_or_copied(m):
    """Writes through what may be the matrix itself or a copy, each to an element of its own."""
    c, f = np.ascontiguousarray(m), np.asfortranarray(m)
    r, t = m.ravel(), m.T.ravel()
    c[0, 0] *= c[0, 3]
    f[0, 1] *= m[1, 1]
    r[2] *= r[0]
    t[1] *= t[3]
    total = 2.0 * m[0, 0] + 3.0 * m[0, 1] + 5.0 * m[0, 2] + 7.0 * m[1, 0]
    return total + c[0, 1] * f[0, 2] * r[4] * t[0] + c[0, 0] * f[0, 1] * r[2] * t[1]


@njit
def parts(m):
    """The same of parts of it, which are contiguous or not as is found at run time."""
    whole, turned = np.ascontiguousarray(m[:, :]), np.asfortranarray(m[:, :])
    row, column = np.ascontiguousarray(m[1, :]), np.ascontiguousarray(m[:, 3])
    whole[0, 0] *= whole[0, 3]
    turned[0, 1] *= m[1, 1]
    row[0] *= row[2]
    column[0] *= column[1]
    total = 2.0 * m[0, 0] + 3.0 * m[0, 1] + 5.0 * m[1, 0] + 7.0 * m[0, 3]
    for k in range(4):
        one = np.ascontiguousarray(m[:, k])
        total += one[0] * one[1] * one[1]
        one[1] = total
    return total * whole[0, 0] * turned[0, 1] * row[0] * column[0] * m[1, 3]


def by_complex_step(f, layout):
    """Value, final contents and gradient by NumPy, which shares and copies as Numba does."""
    gradient = np.zeros(M.shape)
    for index in np.ndindex(M.shape):
        m = laid_out(layout, complex)
        m[index] += STEP * 1j
        value = f.py_func(m)
        gradient[index] = value.imag / STEP
    return value.real, m.real, gradient


@pytest.mark.deep(but=["shared_or_copied-C"])
@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("f", [shared_or_copied, parts], ids=lambda f: f.py_func.__name__)
def test_what_is_shared_in_the_primal_is_shared(f, layout):
    value, contents, gradient = by_complex_step(f, layout)
    m = laid_out(layout)
    assert f(m) == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(m, contents, rtol=1e-14)
    along = np.arange(1.0, 9.0).reshape(M.shape)
    m = laid_out(layout)
    found = nd.jvp(f)((m,), (along,))
    assert found == pytest.approx((value, np.sum(gradient * along)), rel=1e-13)
    np.testing.assert_allclose(m, contents, rtol=1e-14)
    for mode in ("forward", "reverse"):
        m = laid_out(layout)
        found, slopes = nd.value_and_grad(f, mode=mode)(m)
        assert found == pytest.approx(value, rel=1e-14)
        np.testing.assert_allclose(slopes, gradient, rtol=1e-13, err_msg=mode)
        np.testing.assert_allclose(m, contents, rtol=1e-14)


@pytest.mark.deep
@pytest.mark.parametrize("layout", ["F", "strided"])
def test_second_derivatives_share_it_too(layout):
    gradient = nd.grad(shared_or_copied, mode="reverse")
    along = np.arange(1.0, 9.0).reshape(M.shape)
    (found,) = nd.hvp(shared_or_copied)((laid_out(layout),), (along,))
    slopes = []
    for h in (1e-5, -1e-5):
        m = laid_out(layout)
        m += h * along
        slopes.append(gradient(m))
    np.testing.assert_allclose(found, (slopes[0] - slopes[1]) / 2e-5, rtol=1e-8, atol=1e-8)


def test_flags_of_duals_that_may_be_contiguous_are_refused():
    @njit
    def f(m):
        return m[0, 0] * (2.0 if m[:, :].flags.c_contiguous else 3.0)

    with pytest.raises(nd.UnsupportedError, match="flags"):
        nd.grad(f, mode="forward")(laid_out("C"))
    assert nd.grad(f, mode="reverse")(laid_out("C"))[0, 0] == 2.0
    assert nd.grad(f, mode="reverse")(laid_out("strided"))[0, 0] == 3.0
