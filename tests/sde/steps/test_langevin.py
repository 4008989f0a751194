"""Splittings of Langevin's equation: the linear oscillator's exact law, convergence, structures, refusals."""

import math

import numpy as np
import pytest
from numba import njit, typeof
from numba.core.registry import cpu_target
from scipy.linalg import expm, solve_discrete_lyapunov

import numbad as nd
from numbad.sde.methods import METHODS
from numbad.sde.path_source import Problem, steps_of
from numbad.sde.state_source import form_of
from tests.sde.problems import nested_paths

KEY = nd.random.key(8)
SPRING, FRICTION, NOISE = ARGS = 2.0, 0.7, 0.5
SPLITTINGS = pytest.mark.parametrize("method", ["BAOAB", "ABOBA"])


@njit
def _oscillator(t, y, spring, friction, noise):
    return y[1], -spring * y[0] - friction * y[1]


@njit
def _shaken(t, y, spring, friction, noise):
    return 0.0, noise


def _step_of(method, h):
    """The linear map of one step: y+ = a y + b W."""
    solve = nd.sde.solver(_oscillator, _shaken, method=method, noise="additive", dt=h)

    @njit
    def end(y, w):
        increments = np.array([[0.0, w]])
        return solve((y[0], y[1]), (0.0, h), ARGS, increments)[-1]

    by_state, by_noise = nd.jacobian(end, (0, 1))(np.array([0.3, -0.2]), 0.1)
    return by_state, by_noise.reshape(2, 1)


@pytest.mark.deep
def test_positions_of_the_oscillator_have_their_exact_variance():
    """Whatever the size of the step: Leimkuhler & Matthews (2013), section 4."""
    h = 0.9
    a, b = _step_of("BAOAB", h)
    found = solve_discrete_lyapunov(a, h * b @ b.T)
    assert found[0, 0] == pytest.approx(NOISE**2 / (2.0 * FRICTION * SPRING), rel=1e-12)
    assert abs(found[0, 1]) < 1e-14


@pytest.mark.dear
@pytest.mark.deep(but=["BAOAB"])
@SPLITTINGS
def test_mean_and_covariance_converge_with_order_two(method):
    drift = np.array([[0.0, 1.0], [-SPRING, -FRICTION]])
    noise = np.diag([0.0, NOISE**2])
    block = expm(np.block([[-drift, noise], [np.zeros((2, 2)), drift.T]]))  # Van Loan (1978)
    mean, covariance = block[2:, 2:].T, block[2:, 2:].T @ block[:2, 2:]
    errors = []
    for steps in (8, 16, 32):
        h = 1.0 / steps
        a, b = _step_of(method, h)
        power, total = np.eye(2), np.zeros((2, 2))
        for _ in range(steps):
            power, total = a @ power, a @ total @ a.T + h * b @ b.T
        errors.append(max(np.abs(power - mean).max(), np.abs(total - covariance).max()))
    assert errors[0] < 5e-3
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.05)


@njit
def _double_well(t, y, height, friction, noise):
    return y[1], height * (y[0] - y[0] ** 3) - friction * y[1]


@pytest.mark.deep
@SPLITTINGS
def test_paths_converge_with_order_one(method):
    """In a double well, to SRA1 on the finest of nested paths."""
    ends = {}
    for name, levels in ((method, range(3, 7)), ("SRA1", [9])):
        for level in levels:
            solve = nd.sde.solver(
                _double_well, _shaken, method=name, noise="additive", dt=2.0**-level
            )

            @njit
            def all_ends(ws, hs, solve=solve):
                out = np.empty(ws.shape[0])
                for p in range(out.size):
                    out[p] = solve((0.3, 0.0), (0.0, 1.0), (4.0, 0.7, 0.5), (ws[p], hs[p]))[-1, 0]
                return out

            ends[level] = all_ends(*nested_paths(2, 9, 3, paths=300)[level])
    errors = [np.sqrt(np.mean((ends[k] - ends[9]) ** 2)) for k in range(3, 7)]
    assert np.polyfit(range(3, 7), -np.log2(errors), 1)[0] >= 0.9
    assert errors[-1] < 3e-3


@njit
def _tilted_well(t, y, height, friction, noise):
    return y[1], height * (y[0] - y[0] ** 3) - friction * y[1] + math.sin(2.0 * t)


@njit
def _shaken_in_time(t, y, height, friction, noise):
    return 0.0, noise * (1.0 + math.sin(3.0 * t))


def _ends(method):
    """`ends(level)`: positions and velocities at 1 in the tilted well, on 200 nested paths."""
    problem = Problem(_tilted_well, _shaken_in_time, METHODS[method], "additive", "ito", None)
    y0, args = (0.3, 0.0), (4.0, 0.7, 0.5)
    form = form_of(cpu_target.typing_context, problem, typeof(y0), typeof(args))
    integrate = steps_of(problem, form)["integrate"]

    def ends(level):
        steps, out = 2**level, []
        given = (
            y0,
            np.array([0, steps]),
            np.arange(steps) / steps,
            np.full(steps, 1.0 / steps),
            args,
        )
        for w, h in zip(*nested_paths(2, 9, 3, paths=200)[level], strict=True):
            out.append(integrate(*given, w, h)[-1])
        return np.array(out)

    return ends


def test_interpolated_forces_converge_with_order_two():
    """Forces and noise that vary in time as well; the limit is that of SRA3."""
    ends = _ends("ALIGN")
    finest = ends(9)
    assert np.abs(finest - _ends("SRA3")(9)).max() < 3e-4
    errors = [np.sqrt(np.mean((ends(k) - finest) ** 2, axis=0)) for k in range(3, 7)]
    slopes = np.polyfit(range(3, 7), -np.log2(errors), 1)[0]
    assert (slopes >= 1.85).all(), errors
    assert errors[-1].max() < 5e-4


@pytest.mark.deep
def test_interpolated_forces_in_tuples_and_arrays():
    """Two positions, one of which moves at twice its velocity; gradients in both modes."""
    ts, args, found = (0.0, 0.5, 1.0), (2.0, 0.7), []
    in_tuple = njit(lambda t, y, k, c: (
        y[2], 2.0 * y[3], t - k * y[0] - y[1] - c * y[2], -y[0] - k * y[1]
    ))  # fmt: skip
    in_array = njit(lambda t, y, k, c: np.array(
        (y[2], 2.0 * y[3], t - k * y[0] - y[1] - c * y[2], -y[0] - k * y[1])
    ))  # fmt: skip
    of_tuple = njit(lambda t, y, k, c: (0.0, 0.0, k, t))
    of_array = njit(lambda t, y, k, c: np.array((0.0, 0.0, k, t)))
    start = 0.5, 0.1, -0.3, 0.2
    for drift, noise, y0, mode in (
        (in_tuple, of_tuple, start, "reverse"),
        (in_array, of_array, np.array(start), "forward"),
    ):
        solve = nd.sde.solver(drift, noise, method="ALIGN", noise="additive", dt=0.1)

        def end(k, c, solve=solve, y0=y0):
            return (solve(y0, ts, (k, c), KEY)[-1] ** 2).sum()

        found.append((solve(y0, ts, args, KEY), nd.grad(end, (0, 1), mode=mode)(*args)))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-13)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-10)


@pytest.mark.dear
def test_positions_that_do_not_move_by_their_velocities():
    solve = nd.sde.solver(
        lambda t, y: (y[1] ** 3, -y[0]), lambda t, y: (0.0, 1.0), method="ALIGN", noise="additive", dt=0.1
    )  # fmt: skip
    with pytest.raises(nd.ModelError, match="'ALIGN' solves dq = v dt.*BAOAB"):
        solve((0.3, 0.0), (0.0, 1.0), (), KEY)


@pytest.mark.deep
def test_tuples_arrays_and_both_modes_agree():
    in_array = njit(lambda t, y, spring, friction, noise: np.array(
        (y[2], y[3], -spring * y[0] - y[1] - friction * y[2], -y[0] - spring * y[1])
    ))  # fmt: skip
    in_tuple = njit(lambda t, y, spring, friction, noise: (
        y[2], y[3], -spring * y[0] - y[1] - friction * y[2], -y[0] - spring * y[1]
    ))  # fmt: skip
    noise_array = njit(lambda t, y, spring, friction, noise: np.array((0.0, 0.0, noise, t)))
    noise_tuple = njit(lambda t, y, spring, friction, noise: (0.0, 0.0, noise, t))
    noise_matrix = njit(
        lambda t, y, spring, friction, noise: (
            (0.0, 0.0), (0.0, 0.0), (noise, noise), (t, 0.0)
        )
    )  # fmt: skip
    start, found = (0.5, 0.1, -0.3, 0.2), []
    for drift, diffusion, y0, mode in (
        (in_tuple, noise_tuple, start, "forward"),
        (in_array, noise_array, np.array(start), "reverse"),
    ):
        solve = nd.sde.solver(drift, diffusion, method="BAOAB", noise="additive", dt=0.1)

        @njit
        def total(spring, friction, noise, solve=solve, y0=y0):
            return solve(y0, (0.0, 1.0), (spring, friction, noise), KEY)[-1].sum()

        value, slopes = nd.value_and_grad(total, (0, 1, 2), mode=mode)(*ARGS)
        found.append((value, *slopes))
        if mode == "forward":
            h = 1e-6
            around = [total(SPRING, FRICTION + s, NOISE) for s in (h, -h)]
            assert slopes[1] == pytest.approx((around[0] - around[1]) / (2 * h), rel=1e-6)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)
    solve = nd.sde.solver(in_tuple, noise_matrix, method="BAOAB", noise="additive", dt=0.1)
    w = np.random.default_rng(1).normal(size=(10, 2)) * math.sqrt(0.1)
    each = np.column_stack([np.zeros((10, 2)), w.sum(axis=1), w[:, 0]])
    apart = nd.sde.solver(in_tuple, noise_tuple, method="BAOAB", noise="additive", dt=0.1)
    np.testing.assert_allclose(
        solve(start, (0.0, 1.0), ARGS, w), apart(start, (0.0, 1.0), ARGS, each), rtol=1e-12
    )


@pytest.mark.deep
def test_paths_of_an_ensemble_are_those_of_the_solver():
    solve = nd.sde.solver(_oscillator, _shaken, method="BAOAB", noise="additive", dt=0.1)
    paths = nd.sde.ensemble(solve, (1.0, 0.0), (0.0, 0.55, 1.0), ARGS, KEY, 40)
    for p in (0, 17, 39):
        alone = solve((1.0, 0.0), (0.0, 0.55, 1.0), ARGS, (KEY, p))
        np.testing.assert_allclose(paths[p], alone, rtol=1e-13)


@pytest.mark.deep(but=["friction", "position", "noise", "odd", "number", "array"])
@pytest.mark.parametrize(
    ("drift", "diffusion", "y0"),
    [
        (lambda t, y: (y[1], -y[0] * y[1]), lambda t, y: (0.0, 1.0), (1.0, 1.0)),
        (lambda t, y: (y[1], -y[0] - y[1] ** 3), lambda t, y: (0.0, 1.0), (1.0, 1.0)),
        (lambda t, y: (y[0] * y[1], -y[0]), lambda t, y: (0.0, 1.0), (1.0, 1.0)),
        (lambda t, y: (y[1], -y[0]), lambda t, y: (1.0, 1.0), (1.0, 1.0)),
        (lambda t, y: (y[1], -y[0], 0.0), lambda t, y: (0.0, 1.0, 1.0), (1.0, 1.0, 0.0)),
        (lambda t, y: -y, lambda t, y: 1.0, 1.0),
        (lambda t, y: y[::-1] * y, lambda t, y: np.array([0.0, 1.0]), np.array([1.0, 1.0])),
    ],
    ids=["friction", "cubic", "position", "noise", "odd", "number", "array"],
)
def test_another_problem_is_refused(drift, diffusion, y0):
    solve = nd.sde.solver(drift, diffusion, method="BAOAB", noise="additive", dt=0.1)
    with pytest.raises(nd.ModelError, match="this method solves dq = v dt"):
        solve(y0, (0.0, 1.0), (), KEY)
