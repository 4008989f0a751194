"""Complex numbers and work arrays among the further arguments of a solution, by every adjoint."""

import numpy as np
import pytest

import numbad as nd

END = 1.5
KINDS = "discrete", "gauss", "quadrature", "interpolating", "backsolve", "forward"


def decaying(t, y, z, w):
    rate = z * w[0] + 1j * w[1] * t
    return (-rate.real * y[0],)


def writing(t, y, dy, z, w, work):
    """The same; what it writes to `work` depends on time, and not on the state."""
    work[0] = z * w[0] + 1j * w[1] * t
    dy[0] = -work[0].real * y[0]


def final(z, w):
    return np.exp(-(z * w[0]).real * END + 0.5 * w[1].imag * END**2)


def expected(z, w):
    """Of x + iy, the derivative by x less i times that by y."""
    value = final(z, w)
    return -END * value * w[0], np.array([-END * value * z, -0.5j * END**2 * value])


@pytest.mark.parametrize("adjoint", KINDS)
@pytest.mark.deep(but=["gauss", "interpolating", "forward"])
def test_complex_arguments(adjoint):
    z, w = 0.7 + 0.4j, np.array([1 + 0.3j, 0.5 - 0.2j])
    solve = nd.ode.solver(decaying, adjoint=adjoint, rtol=1e-10, atol=1e-12)
    loss = nd.grad(lambda z, w: solve((1.0,), (0.0, END), (z, w))[-1, 0], (0, 1), mode="reverse")
    for found, right in zip(loss(z, w), expected(z, w), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("adjoint", KINDS[:4])
@pytest.mark.parametrize("method", ["Rodas5P", "BDF"])
@pytest.mark.deep(but=["Rodas5P-gauss"])
def test_complex_work_arrays_that_depend_on_time(method, adjoint):
    z, w, work = 0.7 + 0.4j, np.array([1 + 0.3j, 0.5 - 0.2j]), np.zeros(1, complex)
    options = dict(method=method, inplace=True, adjoint=adjoint, rtol=1e-9, atol=1e-11)
    solve = nd.ode.solver(writing, **options)

    def loss(z, w, work):
        return solve(np.ones(1), (0.0, END), (z, w, work))[-1, 0]

    gradient = nd.grad(loss, (0, 1), mode="reverse")(z, w, work)
    for found, right in zip(gradient, expected(z, w), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-7)


def test_a_real_solution_stays_real_in_dual_numbers():
    z, w = 0.7 + 0.4j, np.array([1 + 0.3j, 0.5 - 0.2j])
    solve = nd.ode.solver(decaying, rtol=1e-10, atol=1e-12)

    def end(z):
        return solve((1.0,), (0.0, END), (z, w))[-1, 0]

    value, moved = nd.jvp(end)((z,), (0.3 - 1.2j,))
    assert isinstance(value, float)
    np.testing.assert_allclose(moved, (expected(z, w)[0] * (0.3 - 1.2j)).real, rtol=1e-8)
