"""`solver`: reference solutions, the kinds of states and right-hand sides, options."""

import math
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.errors import ArgumentError
from tests.ode.problems import (
    LORENZ,
    LORENZ_PARAMETERS,
    LORENZ_START,
    LORENZ_TIMES,
    VOLTERRA_END,
    VOLTERRA_PARAMETERS,
    VOLTERRA_START,
    VOLTERRA_TIMES,
    Point,
    Spring,
    decay,
    lorenz,
    volterra,
)

TIMES = np.linspace(0.0, 2.0, 9)


def spring_tuple(t, y, stiffness, mass):
    position, velocity = y
    return velocity, -stiffness / mass * position


def spring_named(t, y, spring):
    return Point(y.velocity, -spring.stiffness / spring.mass * y.position)


def spring_array(t, y, stiffness, mass):
    return np.array([y[1], -stiffness / mass * y[0]])


def spring_list(t, y, stiffness, mass):
    return [y[1], -stiffness / mass * y[0]]


def spring_in_place(t, y, dy, stiffness, mass):
    dy[0] = y[1]
    dy[1] = -stiffness / mass * y[0]


def constant_velocity(t, y, velocity):
    return velocity, 0


@pytest.fixture(scope="module")
def spring():
    return nd.ode.solver(spring_tuple)((1.0, 0.5), TIMES, (3.0, 2.0))


@pytest.mark.deep
def test_further_stages_for_outputs_backwards_and_in_arrays():
    """DOP853 evaluates one more slope after a step, and three more where an output falls."""
    ts, rate = np.linspace(2.0, -1.0, 14), math.sqrt(1.5)
    options = dict(method="DOP853", rtol=1e-9, atol=1e-9)
    found = nd.ode.solver(spring_tuple, **options)((1.0, 0.5), ts, (3.0, 2.0))
    position = np.cos(rate * (ts - 2.0)) + 0.5 / rate * np.sin(rate * (ts - 2.0))
    np.testing.assert_allclose(found[:, 0], position, rtol=0, atol=2e-8)
    in_place = nd.ode.solver(spring_in_place, inplace=True, **options)
    np.testing.assert_allclose(in_place(np.array([1.0, 0.5]), ts, (3.0, 2.0)), found, atol=1e-14)


def test_lorenz_against_the_reference():
    solve = nd.ode.solver(lorenz, rtol=1e-13, atol=1e-13)
    ys = solve(LORENZ_START, LORENZ_TIMES, LORENZ_PARAMETERS)
    assert ys.shape == LORENZ.shape
    errors = np.abs(ys - LORENZ).max(axis=1)
    # the error of one step grows by about e**(0.9 t)
    assert errors[0] == 0.0
    assert errors[1] < 1e-10
    assert errors[2] < 1e-9
    assert errors[3] < 1e-6


def test_volterra_against_the_reference():
    solve = nd.ode.solver(volterra, rtol=1e-10, atol=1e-10)
    ys = solve(VOLTERRA_START, VOLTERRA_TIMES, VOLTERRA_PARAMETERS)
    np.testing.assert_allclose(ys[-1], VOLTERRA_END, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("function", "start", "arguments"),
    [
        (spring_named, Point(1.0, 0.5), Spring(3.0, 2.0)),
        (spring_array, np.array([1.0, 0.5]), (3.0, 2.0)),
        pytest.param(spring_list, np.array([1.0, 0.5]), (3.0, 2.0), marks=pytest.mark.deep),
    ],
)
def test_all_kinds_of_states_take_the_same_steps(spring, function, start, arguments):
    """Bit for bit: a state's form changes where it is kept, not what is computed."""
    np.testing.assert_array_equal(nd.ode.solver(function)(start, TIMES, arguments), spring)
    frequency = math.sqrt(1.5)
    exact = np.cos(frequency * TIMES) + 0.5 / frequency * np.sin(frequency * TIMES)
    np.testing.assert_allclose(spring[:, 0], exact, rtol=0, atol=1e-5)


@pytest.mark.dear
def test_writing_in_place(spring):
    """The start may be an array that is not contiguous; it stays unchanged."""
    backing = np.array([1.0, -7.0, 0.5, -7.0])
    solve = nd.ode.solver(spring_in_place, inplace=True)
    np.testing.assert_array_equal(solve(backing[::2], TIMES, (3.0, 2.0)), spring)
    np.testing.assert_array_equal(backing, [1.0, -7.0, 0.5, -7.0])


@pytest.mark.deep
def test_writing_in_place_from_a_tuple(spring):
    solve = nd.ode.solver(spring_in_place, inplace=True)
    np.testing.assert_array_equal(solve((1.0, 0.5), TIMES, (3.0, 2.0)), spring)


@pytest.fixture(scope="module")
def solve():
    """Exponential decay: a float as state, a float as argument."""
    return nd.ode.solver(decay, rtol=1e-9, atol=1e-12)


class TestDecay:
    def test_forwards(self, solve):
        ys = solve(2.0, TIMES, 0.7)
        assert ys.shape == (9, 1)
        np.testing.assert_allclose(ys[:, 0], 2.0 * np.exp(-0.7 * TIMES), rtol=1e-8)

    def test_backwards(self, solve):
        ts = TIMES[::-1].copy()
        ys = solve(2.0, ts, 0.7)
        np.testing.assert_allclose(ys[:, 0], 2.0 * np.exp(-0.7 * (ts - 2.0)), rtol=1e-8)

    def test_there_and_back(self, solve):
        end = solve(2.0, np.array([0.0, 3.0]), 0.7)[-1, 0]
        assert solve(end, np.array([3.0, 0.0]), 0.7)[-1, 0] == pytest.approx(2.0, rel=1e-7)

    def test_one_time_gives_the_start(self, solve):
        assert solve(2.0, np.array([5.0]), 0.7).tolist() == [[2.0]]

    def test_the_last_output_is_the_end_of_the_last_step(self, solve):
        alone = solve(2.0, np.array([0.0, 2.0]), 0.7)[-1]
        assert solve(2.0, TIMES, 0.7)[-1] == alone

    def test_times_as_a_tuple_and_as_ints(self, solve):
        exact = solve(2.0, np.array([0.0, 2.0]), 0.7)
        np.testing.assert_array_equal(solve(2.0, (0.0, 2.0), 0.7), exact)
        np.testing.assert_array_equal(solve(2.0, (0, 2.0), 0.7), exact)
        np.testing.assert_array_equal(solve(2.0, np.array([0, 2]), 0.7), exact)

    def test_from_threads(self, solve):
        exact = solve(2.0, TIMES, 0.7)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: solve(2.0, TIMES, 0.7), range(20)))
        assert all(np.array_equal(ys, exact) for ys in found)

    def test_in_nopython_code_and_prange(self, solve):
        @numba.njit(parallel=True)
        def ends(rates):
            out = np.full(len(rates), np.nan)
            for i in numba.prange(len(rates)):
                out[i] = solve(1.0, (0.0, 1.0), rates[i])[-1, 0]
            return out

        rates = np.linspace(0.1, 2.0, 20)
        np.testing.assert_allclose(ends(rates), np.exp(-rates), rtol=1e-8)

    def test_as_a_c_function(self, solve):
        @numba.cfunc("float64(float64)")
        def end(rate):
            return solve(1.0, (0.0, 1.0), rate)[-1, 0]

        assert end.ctypes(2.0) == solve(1.0, (0.0, 1.0), 2.0)[-1, 0]


def test_ints_become_floats():
    """In the start, in what the right-hand side returns, and in the arguments."""
    ys = nd.ode.solver(constant_velocity)((0, 1), (0, 2), (3,))
    np.testing.assert_allclose(ys, [[0.0, 1.0], [6.0, 1.0]], rtol=1e-14)


def test_arguments_may_be_left_out():
    ys = nd.ode.solver(lambda t, y: -2.0 * t * y)(1.0, (0.0, 1.0))
    assert ys[-1, 0] == pytest.approx(math.exp(-1.0), rel=1e-5)


def test_one_array_as_argument_is_neither_leaked_nor_freed():
    solve = nd.ode.solver(lambda t, y, p: (p[0] * y[0], p[1] * y[1]))
    p = np.array([-1.0, -2.0])

    @numba.njit
    def repeated(count):
        p = np.array([-1.0, -2.0])
        for _ in range(count):
            ys = solve((1.0, 1.0), (0.0, 1.0), p)
        return ys, p

    references = sys.getrefcount(p)
    ys = [solve((1.0, 1.0), (0.0, 1.0), p) for _ in range(50)]
    assert sys.getrefcount(p) == references
    np.testing.assert_allclose(ys[-1][-1], np.exp([-1.0, -2.0]), rtol=1e-5)
    again, kept = repeated(50)
    np.testing.assert_array_equal(again, ys[0])
    np.testing.assert_array_equal(kept, p)


def test_the_same_options_give_the_same_dispatcher():
    first = nd.ode.solver(volterra, rtol=1e-5, atol=[1e-7, 1e-6])
    assert nd.ode.solver(volterra, rtol=1e-5, atol=(1e-7, 1e-6)) is first
    assert nd.ode.solver(volterra, rtol=1e-6, atol=(1e-7, 1e-6)) is not first
    assert nd.ode.solver(numba.njit(volterra)) is not nd.ode.solver(volterra)


def test_pickling():
    """What parallel fits send to other processes: the same dispatcher there as here."""
    solve = nd.ode.solver(volterra)
    assert pickle.loads(pickle.dumps(solve)) is solve


def test_tolerances_by_component():
    """Loose for the component that does not matter: fewer steps, the other still accurate."""

    def apart(t, y):
        return -y[0], 50.0 * math.cos(50.0 * t)

    ts = (0.0, 3.0)
    strict = nd.ode.solver(apart, rtol=0.0, atol=(1e-8, 1e-8))((1.0, 0.0), ts)
    loose = nd.ode.solver(apart, rtol=0.0, atol=(1e-8, 10.0))((1.0, 0.0), ts)
    exact = math.exp(-3.0)
    assert abs(strict[-1, 1] - math.sin(150.0)) < 1e-5 < abs(loose[-1, 1] - math.sin(150.0))
    assert abs(loose[-1, 0] - exact) < 1e-6


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            (dict(method="RK44"), ArgumentError, r"mean 'RK4'\?\); available: .*BS3.*Tsit5"),
            (dict(method="RK4"), ArgumentError, "'RK4' has no error .*: give it as first_step"),
            (dict(adjoint="backwards"), ArgumentError, "does not exist; one of: auto, "),
            (
                dict(adjoint="backsolve", method="Rodas5P"),
                ArgumentError,
                "not go with Rodas5P: a stiff.* Way out: adjoint=",
            ),
            (
                dict(adjoint="interpolating", method="Rodas5P", jac_sparsity=np.eye(1)),
                ArgumentError,
                "does not go with jac_sparsity.*'gauss' does without",
            ),
            (dict(checkpoints=0), ArgumentError, "checkpoints must be a positive integer"),
            (dict(checkpoints=9, adjoint="forward"), ArgumentError, "checkpoints go with adjoint="),
            (dict(jac=decay), ArgumentError, "jac needs an implicit method"),
            (dict(mass_matrix=np.eye(2)), ArgumentError, "not go with .* takes explicit steps"),
            (dict(events=[decay]), ArgumentError, "made by nd.ode.event or nd.ode.at_times"),
            (dict(rtol=-1.0), ArgumentError, "rtol must be finite and not negative"),
            (dict(rtol=0.0, atol=0.0), ArgumentError, "must not both be 0"),
            (dict(atol=math.nan), ArgumentError, "atol must be finite"),
            (dict(atol="small"), ArgumentError, "atol must be a float"),
            (dict(first_step=0.0), ArgumentError, "first_step must be positive"),
            (dict(first_step=math.inf), ArgumentError, "first_step must be finite"),
            (dict(max_step=-1.0), ArgumentError, "max_step must be positive"),
            (dict(max_steps=0), ArgumentError, "max_steps must be a positive integer"),
            (dict(max_steps=1.5), ArgumentError, "max_steps must be a positive integer"),
            (dict(max_steps=math.inf), ArgumentError, "max_steps must be a positive integer"),
            (dict(checkpoints="many"), ArgumentError, "checkpoints must be a positive integer"),
        ],
    )
    def test_refused(self, options, error, message):
        with pytest.raises(error, match=message):
            nd.ode.solver(decay, **options)


def test_a_tolerance_may_be_an_array_of_no_dimension():
    solve = nd.ode.solver(decay, rtol=np.array(1e-5), atol=np.array(1e-7))
    assert solve is nd.ode.solver(decay, rtol=1e-5, atol=1e-7)
    with pytest.raises(ArgumentError, match="atol must be finite and not negative"):
        nd.ode.solver(decay, atol=np.array(-1.0))


@pytest.mark.deep(but=["y00"])
@pytest.mark.parametrize("y0", [(1.0, 2.0), np.ones(2)])
def test_tolerances_for_another_number_of_components(y0):
    solve = nd.ode.solver(lambda t, y: (-y[0], -y[1]), atol=(1e-6, 1e-6, 1e-6))
    with pytest.raises(ArgumentError, match="one for each component"):
        solve(y0, np.array([0.0, 1.0]))


def test_compiled_code_hands_a_plain_function_to_the_solver():
    slope = nd.derivative(lambda y0: nd.ode.solver(decay)(y0, (0.0, 1.0), 1.0)[-1, 0])(1.0)
    assert slope == pytest.approx(math.exp(-1.0), rel=1e-5)


@njit
def end(y0, rate, power):
    solve = nd.ode.solver(lambda t, y, k: -rate * k * y, rtol=1e-10, atol=1e-12)
    return solve(y0, (0.0, 1.0), (power,))[-1, 0]


@pytest.mark.dear
def test_right_hand_side_of_captured_values():
    decay = math.exp(-1.3 * 0.7)
    assert end(2.0, 1.3, 0.7) == pytest.approx(2.0 * decay, rel=1e-8)
    found = nd.grad(end, (0, 1, 2), mode="forward")(2.0, 1.3, 0.7)
    assert found == pytest.approx((decay, -1.4 * decay, -2.6 * decay), rel=1e-7)
