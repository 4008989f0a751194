"""Complex states of implicit methods, holomorphic or not, against closed forms and matrix exponentials."""

import cmath
import math
from collections import namedtuple

import numba
import numpy as np
import pytest
import scipy.integrate
from scipy.linalg import expm
from scipy.sparse import csr_array

import numbad as nd

METHODS = ["Rodas5P", "RadauIIA5", "KenCarp4", "BDF", "AutoTsit5"]
Pair = namedtuple("Pair", "swing mirrored")
END = 1.2


@numba.njit
def slopes(t, y, damping, frequency, k):
    """A damped oscillation, and u' = -k conj(u), which has no complex derivative."""
    z, u = y
    return complex(-damping, frequency) * z, -k * u.conjugate()


@numba.njit
def closed(x):
    """At END; x: damping, frequency, k, and the parts of both starts."""
    z = (x[3] + 1j * x[4]) * cmath.exp((-x[0] + 1j * x[1]) * END)
    return z, x[5] * math.exp(-x[2] * END) + 1j * x[6] * math.exp(x[2] * END)


@numba.njit
def weigh(z, u):
    return 2.0 * z.real - z.imag + 0.5 * u.real + 3.0 * u.imag


POINT = np.array([0.3, 2.0, 0.7, 1.0, -0.5, 0.4, 0.2])


def weighed(x):
    return weigh(*closed(x))


def loss_of(solve):
    def loss(x):
        start = x[3] + 1j * x[4], x[5] + 1j * x[6]
        ys = solve(start, (0.0, 0.5, END), (x[0], x[1], x[2]))
        return weigh(ys[-1, 0], ys[-1, 1])

    return loss


def check_gradient(solve, mode, rtol):
    value, slope = nd.value_and_grad(loss_of(solve), mode=mode)(POINT)
    np.testing.assert_allclose(value, weigh(*closed(POINT)), rtol)
    np.testing.assert_allclose(slope, nd.grad(weighed, mode="forward")(POINT), 10.0 * rtol)


@pytest.mark.dear
@pytest.mark.deep(but=["reverse-Rodas5P"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gradients(method, mode):
    rtol = 1e-5 if method == "Rodas5P" and mode == "reverse" else 1e-8
    own = 0.1 * rtol if method == "BDF" else rtol
    check_gradient(nd.ode.solver(slopes, method=method, rtol=own, atol=own), mode, 300.0 * rtol)


@pytest.mark.deep
@pytest.mark.parametrize("adjoint", ["forward", "interpolating", "gauss", "backsolve"])
def test_other_adjoints(adjoint):
    solve = nd.ode.solver(slopes, adjoint=adjoint, rtol=1e-8, atol=1e-8)
    check_gradient(solve, "reverse", 1e-6)


@pytest.mark.deep
def test_second_order():
    along = np.array([1.0, -0.5, 0.2, 0.3, 1.0, -1.0, 0.6])
    loss = loss_of(nd.ode.solver(slopes, method="RadauIIA5", rtol=1e-9, atol=1e-9))
    found = nd.jvp(nd.grad(loss, mode="reverse"))((POINT,), (along,))[1]
    exact = nd.jvp(nd.grad(weighed, mode="forward"))((POINT,), (along,))[1]
    np.testing.assert_allclose(found, exact, 1e-5)


@pytest.mark.deep
@pytest.mark.parametrize("method", METHODS)
def test_forms_of_the_state(method):
    options = dict(method=method, rtol=1e-8, atol=1e-8)
    expected, args = closed(POINT), tuple(POINT[:3])
    start = 1.0 - 0.5j, 0.4 + 0.2j

    def of_pair(t, y, *args):
        return slopes(t, (y.swing, y.mirrored), *args)

    def of_array(t, y, damping, frequency, k):
        return np.array([complex(-damping, frequency) * y[0], -k * np.conj(y[1])])

    found = nd.ode.solver(of_pair, **options)(Pair(*start), (0.0, END), args)
    np.testing.assert_allclose(found[-1], expected, 1e-5)
    found = nd.ode.solver(of_array, **options)(np.array(start), (0.0, END), args)
    np.testing.assert_allclose(found[-1], expected, 1e-5)
    found = nd.ode.solver(lambda t, y: 1j * y, **options)(0.5j, (0.0, END))
    np.testing.assert_allclose(found[-1], [0.5j * cmath.exp(1j * END)], 1e-5)
    real_first = nd.ode.solver(lambda t, y: (1.0, 1j * y[1]), **options)((2.0, 1.0j), (0.0, END))
    np.testing.assert_allclose(real_first[-1], [2.0 + END, 1j * cmath.exp(1j * END)], 1e-5)


SIZE = 24
CHAIN = 2j * (np.eye(SIZE, k=1) + np.eye(SIZE, k=-1)) - np.diag(np.linspace(1.0, 60.0, SIZE))


def chain(t, y, dy, strength):
    """Complex hopping along a line, and losses."""
    for i in range(len(y)):
        dy[i] = -(1.0 + 59.0 * i / (len(y) - 1)) * y[i]
        if i > 0:
            dy[i] += strength * 2j * y[i - 1]
        if i < len(y) - 1:
            dy[i] += strength * 2j * y[i + 1]


@pytest.mark.deep
@pytest.mark.parametrize("method", METHODS)
def test_patterns_masses_and_tolerances_by_component(method):
    """M y' = A y for a mass matrix of blocks of 2, dense and by entries, against expm(M^-1 A t)."""
    start = np.exp(1j * np.arange(SIZE))
    pattern = np.eye(SIZE) + np.eye(SIZE, k=1) + np.eye(SIZE, k=-1)
    mass = np.diag(np.linspace(1.0, 2.0, SIZE)) + 0.1 * np.eye(SIZE, k=1)
    options = dict(method=method, inplace=True, rtol=1e-8, atol=np.linspace(1e-9, 1e-8, SIZE))

    def check(matrix, **more):
        found = nd.ode.solver(chain, **options, **more)(start, (0.0, 0.3), (1.0,))[-1]
        np.testing.assert_allclose(found, expm(0.3 * matrix) @ start, atol=1e-6)

    check(CHAIN, jac_sparsity=pattern)
    if method in ("KenCarp4", "AutoTsit5"):
        return
    check(np.linalg.solve(mass, CHAIN), mass_matrix=mass)
    check(np.linalg.solve(mass, CHAIN), mass_matrix=csr_array(mass), jac_sparsity=pattern)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Rodas5P", "BDF"])
def test_a_given_jacobian(method):
    matrix = np.array([[-1.0 + 2.0j, 0.5j], [0.3, -20.0 - 1.0j]])
    start = np.array([1.0, 1.0 + 1.0j])
    solve = nd.ode.solver(
        lambda t, y, a: a @ y, jac=lambda t, y, a: a, method=method, rtol=1e-8, atol=1e-8
    )
    found = solve(start, (0.0, 1.0), (matrix,))[-1]
    np.testing.assert_allclose(found, expm(matrix) @ start, 1e-5)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Rodas5P", "RadauIIA5", "BDF"])
def test_events_and_times(method):
    """z = exp(iwt) is conjugated and doubled where its real part is zero, at w t = pi / 2."""
    turned = nd.ode.event(
        lambda t, y, w: y[0].real, direction=-1, change=lambda t, y, w: (2.0 * y[0].conjugate(),)
    )
    solve = nd.ode.solver(
        lambda t, y, w: (1j * w * y[0],),
        events=turned,
        keep_events=2,
        method=method,
        rtol=1e-9,
        atol=1e-9,
    )
    ys, times, states, numbers = solve((1.0 + 0.0j,), (0.0, 2.0), (1.3,))
    after = -2j * cmath.exp(1j * (2.0 * 1.3 - math.pi / 2.0))
    np.testing.assert_allclose(ys[-1, 0], after, 1e-6)
    np.testing.assert_allclose(times[0], math.pi / 2.6, 1e-7)
    np.testing.assert_allclose(states[0], [1j], atol=1e-6)
    assert list(numbers) == [0, -1]

    def part(w, end):
        ys, times, _, _ = solve((1.0 + 0.0j,), (0.0, end), (w,))
        return ys[-1, 0].real + times[0]

    by_w, by_end = nd.grad(part, (0, 1), mode="reverse")(1.3, 2.0)
    np.testing.assert_allclose(by_w, (2j * after).real - math.pi / (2.0 * 1.3**2), 1e-5)
    np.testing.assert_allclose(by_end, (1.3j * after).real, 1e-5)


@pytest.mark.deep
def test_matrices():
    matrix = np.array([[-1.0 + 2.0j, 0.5j], [0.3, -4.0 - 1.0j]])
    solve = nd.ode.solver(lambda t, y, a: a @ y, method="BDF", rtol=1e-8, atol=1e-8)
    start = np.array([[1.0, 1.0j, 2.0], [0.5, -1.0, 1.0 + 1.0j]])
    found = solve(start, (0.0, 1.0), (matrix,))[-1]
    np.testing.assert_allclose(found, expm(matrix) @ start, 1e-5)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Radau", "BDF", "Rodas5P", "LSODA"])
def test_solve_ivp(method):
    """With dense output and events; a function of tuples as well, which SciPy's takes, too."""

    def fun(t, y, damping, frequency, k):
        z, u = y
        return complex(-damping, frequency) * z, -k * u.conjugate()

    start, args = np.array([1.0 - 0.5j, 0.4 + 0.2j]), tuple(POINT[:3])
    ours = nd.ode.solve_ivp(
        fun,
        (0.0, END),
        start,
        method,
        dense_output=True,
        events=lambda t, y, *args: y[0].real,
        args=args,
        rtol=1e-9,
        atol=1e-9,
    )
    np.testing.assert_allclose(ours.y[:, -1], closed(POINT), 1e-6)
    theirs = scipy.integrate.solve_ivp(
        fun, (0.0, END), start, "DOP853", dense_output=True, args=args, rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(ours.sol(0.4), theirs.sol(0.4), 1e-6)
    (t,), (y,) = (found[0] for found in (ours.t_events, ours.y_events))
    np.testing.assert_allclose(np.angle((1.0 - 0.5j) * np.exp(2j * t)), np.pi / 2.0, 1e-6)
    np.testing.assert_allclose(y, theirs.sol(t), atol=1e-6)


@pytest.mark.deep
def test_steps_are_no_shorter_where_there_is_no_complex_derivative():
    """A Rosenbrock method loses its order with half of a Jacobian: 600 steps here, in place of 20."""

    def mirrored(t, y, k):
        return -k * y[0].conjugate() + 1j * abs(y[1]) * y[0], -y[1].conjugate()

    start = np.array([1.0 + 0.5j, 0.7 + 0.3j])
    options = dict(args=(1.5,), rtol=1e-6, atol=1e-6)
    found = nd.ode.solve_ivp(mirrored, (0.0, 2.0), start, "Rodas5P", **options)
    theirs = scipy.integrate.solve_ivp(
        mirrored, (0.0, 2.0), start, "DOP853", args=(1.5,), rtol=1e-9, atol=1e-9
    )
    assert len(found.t) < 40
    np.testing.assert_allclose(found.y[:, -1], theirs.y[:, -1], 1e-5)


@pytest.mark.dear
@pytest.mark.parametrize(
    ("fun", "said"),
    [
        (lambda t, y: (1j * y[0],), "2 in all; it returns 1"),
        (lambda t, y: np.ones(3), "one value for each component of the state"),
        (lambda t, y: "one", "must return a tuple, a list or a one-dimensional array"),
        (lambda t, y: y[0].attribute, "Numba cannot compile <lambda>"),
    ],
)
def test_what_is_no_slope_is_told(fun, said):
    with pytest.raises(nd.ModelError, match=said):
        nd.ode.solver(fun, method="Rosenbrock23")((1.0j, 2.0), (0.0, 1.0))


@pytest.mark.deep
def test_complex_states():
    ys = nd.ode.solver(lambda t, y: 1j * y, rtol=1e-9)(1.0 + 0.0j, (0.0, 2.0))
    assert ys[-1, 0] == pytest.approx(np.exp(2j), abs=1e-7)


@pytest.mark.deep(but=["False"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_complex_mass_matrix(sparse):
    """Of (1, i / 2; 0, 0): y' + z' i / 2 = -k y with z = 2 y, so that y' = -k y / (1 + i)."""
    mass = np.array([[1.0, 0.5j], [0.0, 0.0]])
    pattern = {"jac_sparsity": np.array([[1, 0], [1, 1]])} if sparse else {}
    solve = nd.ode.solver(
        lambda t, y, k: (-k * y[0], y[1] - 2.0 * y[0]),
        method="Rodas5P",
        rtol=1e-9,
        atol=1e-11,
        mass_matrix=mass,
        **pattern,
    )
    expected = np.exp(-0.7 / (1.0 + 1.0j))
    found = solve((1.0 + 0.0j, 2.0 + 0.0j), (0.0, 1.0), (0.7,))[-1]
    np.testing.assert_allclose(found, [expected, 2.0 * expected], rtol=1e-8)
    size = nd.grad(lambda k: abs(solve((1.0 + 0j, 2.0 + 0j), (0.0, 1.0), (k,))[-1, 1]) ** 2)
    assert size(0.7) == pytest.approx(-4.0 * math.exp(-0.7), rel=1e-7)  # 4 exp(-k), of k
    with pytest.raises(nd.ModelError, match="mass_matrix has complex entries, and y0 is real"):
        solve((1.0, 2.0), (0.0, 1.0), (0.7,))


@pytest.mark.dear
def test_second_derivatives_by_the_end_time_forward_over_reverse():
    """Of the imaginary part of exp(-i p), p = end * rate."""
    solve = nd.ode.solver(lambda t, y, rate: -1j * rate * y, rtol=1e-9)

    def swung(x):
        return solve(1.0 + 0.0j, (0.0, x[0]), (x[1],))[-1, 0].imag

    (end, rate), p = (1.3, 0.7), 1.3 * 0.7
    mixed = p * math.sin(p) - math.cos(p)
    bend = np.array([[rate**2 * math.sin(p), mixed], [mixed, end**2 * math.sin(p)]])
    found = nd.hessian(swung, mode="reverse")(np.array([end, rate]))
    np.testing.assert_allclose(found, bend, atol=1e-8)
