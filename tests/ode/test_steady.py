"""Steady states and their derivatives, against closed forms."""

import numba
import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov

import numbad as nd
from numbad.errors import ArgumentError, ConvergenceError, SingularError
from numbad.ode.failure import SolveError


@numba.njit
def binding(t, y, on, off):
    """Free partners and their complex: the totals of both are conserved."""
    a, b, c = y
    rate = on * a * b - off * c
    return -rate, -rate, rate


def bound(a, b, on, off):
    """The complex at equilibrium, from totals a and b, for complex numbers too."""
    total = a + b + off / on
    return 0.5 * (total - (total**2 - 4.0 * a * b) ** 0.5)


POINT = np.array([2.0, 3.0, 1e4, 2e3])  # of a, b, on, off


@numba.njit
def complexes(x):
    return nd.ode.steady_state(binding, (x[0], x[1], 0.0), (x[2], x[3]))[2]


def by_complex_step(k):
    moved = POINT.astype(complex)
    moved[k] += 1e-30j
    return bound(*moved).imag / 1e-30


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_binding_with_two_conserved_totals(mode):
    value, slope = nd.value_and_grad(complexes, mode=mode)(POINT)
    assert value == pytest.approx(bound(*POINT), rel=1e-13)
    np.testing.assert_allclose(slope, [by_complex_step(k) for k in range(4)], rtol=1e-10)


@pytest.mark.deep
def test_second_derivatives():
    found = nd.hessian(complexes)(POINT)
    steps = 1e-4 * POINT
    for k in range(4):
        beside = [POINT + sign * steps[k] * np.eye(4)[k] for sign in (1.0, -1.0)]
        up, down = (nd.grad(complexes)(x) for x in beside)
        np.testing.assert_allclose(found[k], (up - down) / (2.0 * steps[k]), rtol=1e-5)


@numba.njit
def complex_of(totals, on, off):
    return nd.ode.steady_state(binding, (totals[0], totals[1], 0.0), (on, off))[2]


@pytest.mark.deep(but=["1-reverse"])
@pytest.mark.parametrize("first", ["forward", "reverse"])
@pytest.mark.parametrize("by", [0, 1, 2])
@pytest.mark.dear
def test_second_order_by_some_arguments(by, first):
    """Few arrays of a sweep hold duals then; the number of Newton's steps does not depend on which."""
    args = POINT[:2], *POINT[2:]
    gradient = nd.grad(complex_of, by, mode=first)
    along = np.array([0.3, -0.5]) if by == 0 else 1.0
    _, (found,) = nd.vjp(gradient, by)(args, along)
    width = 1e-4 * np.min(args[by])

    def beside(sign):
        moved = list(args)
        moved[by] = moved[by] + sign * width * along
        return nd.grad(complex_of, by, mode="forward")(*moved)

    np.testing.assert_allclose(found, (beside(1.0) - beside(-1.0)) / (2.0 * width), rtol=1e-5)


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", pytest.param("reverse", marks=pytest.mark.deep)])
def test_a_function_made_in_compiled_code(mode):
    def level(rate):
        return nd.ode.steady_state(lambda t, y: 1.0 - rate * y, 1.0)[0]

    assert nd.grad(level, mode=mode)(2.0) == pytest.approx(-0.25, rel=1e-13)


@pytest.mark.deep
def test_what_is_not_steady():
    with pytest.raises(ConvergenceError, match="by t = .*oscillates"):
        nd.ode.steady_state(lambda t, y: (y[1], -y[0]), (1.0, 0.0), (), max_steps=1000)
    with pytest.raises(SingularError, match="<lambda> is not isolated"):
        nd.ode.steady_state(lambda t, y: -(y**3), 1.0)
    with pytest.raises(ArgumentError, match="<lambda> depends on the time"):
        nd.ode.steady_state(lambda t, y: 1.0 / (1.0 + t) - y, 1.0)
    with pytest.raises(ArgumentError, match="<lambda> depends on the time"):
        nd.ode.steady_state(lambda t, y: np.sin(t) - y, 1.0)
    with pytest.raises(ConvergenceError, match="grows"):
        nd.ode.steady_state(lambda t, y: y, 1.0)
    with pytest.raises(SolveError, match="initial state .* is NaN"):
        nd.ode.steady_state(lambda t, y: 1.0 - y, np.nan)


def cavity(t, y, loss, detuning, gain):
    """A field in a resonator with a parametric drive, which no complex derivative describes."""
    return (-(loss + 1j * detuning) * y[0] + gain * np.conj(y[0]) + 2.0,)


def parts_of_cavity(p):
    """Twice the real part and three times the imaginary part, for complex parameters too."""
    loss, detuning, gain = p
    return 2.0 * (2.0 * (loss + gain) - 3.0 * detuning) / (loss**2 + detuning**2 - gain**2)


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_complex_states(mode):
    def found(p):
        (field,) = nd.ode.steady_state(cavity, (0.3 + 0.1j,), (p[0], p[1], p[2]))
        return 2.0 * field.real + 3.0 * field.imag

    point = np.array([1.0, 0.7, 0.4])
    value, slope = nd.value_and_grad(found, mode=mode)(point)
    assert value == pytest.approx(parts_of_cavity(point), rel=1e-12)
    steps = 1e-30j * np.eye(3)
    np.testing.assert_allclose(
        slope, [parts_of_cavity(point + h).imag / 1e-30 for h in steps], 1e-10
    )


@pytest.mark.deep
def test_forms_of_a_state():
    """The covariance of a linear system, which solves Lyapunov's equation; and parts in tuples."""
    A, Q = np.array([[-1.0, 2.0], [0.3, -1.5]]), np.eye(2)
    found = nd.ode.steady_state(lambda t, y, a: a @ y + y @ a.T + np.eye(2), np.zeros((2, 2)), A)
    np.testing.assert_allclose(found, solve_continuous_lyapunov(A, -Q), rtol=1e-12)

    def nested(t, y, on, off):
        (a, b), c = y
        rate = on * a * b - off * c
        return (-rate, -rate), rate

    found = nd.ode.steady_state(nested, ((2.0, 3.0), 0.0), (1e4, 2e3))
    np.testing.assert_allclose(found[2], bound(*POINT), rtol=1e-12)
