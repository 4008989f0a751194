"""What goes wrong, told with its name, its place and its time."""

import math
import pickle

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.errors import (
    ArgumentError,
    DataError,
    IntegrationError,
    ModelError,
)
from numbad.ode.failure import LengthError, SizeError, SolveError, TimesError, describe
from tests.ode.problems import decay, volterra


def explodes(t, y):
    return y * y


def not_a_number_after_one(t, y):
    return math.sqrt(1.0 - t) - y


def oscillates(t, y, mu):
    x, v = y
    return v, mu * (1.0 - x * x) * v - x


@pytest.fixture(scope="module")
def explode():
    return nd.ode.solver(explodes)


class TestIntegration:
    def test_step_size_underflow(self, explode):
        with pytest.raises(
            IntegrationError, match=r"step size .* at t = (0\.9999|1\.0000)"
        ) as caught:
            explode(1.0, np.array([0.0, 2.0]))
        assert abs(caught.value.time - 1.0) < 1e-4

    def test_up_to_there_it_works(self, explode):
        assert explode(1.0, np.array([0.0, 0.9]))[-1, 0] == pytest.approx(10.0, rel=1e-4)

    def test_nan(self):
        with pytest.raises(IntegrationError, match=r"NaN or infinity.* at t = (0\.99|1\.0)"):
            nd.ode.solver(not_a_number_after_one)(1.0, np.array([0.0, 2.0]))

    @pytest.mark.parametrize("y0", [math.nan, math.inf])
    def test_bad_start(self, explode, y0):
        with pytest.raises(IntegrationError, match=r"initial state .* at t = 0\.25"):
            explode(y0, np.array([0.25, 2.0]))

    def test_too_many_steps(self):
        solve = nd.ode.solver(decay, max_steps=20)
        assert solve(1.0, np.array([0.0, 1.0]), 1.0).shape == (2, 1)
        with pytest.raises(IntegrationError, match="more than max_steps steps .* at t = "):
            solve(1.0, np.array([0.0, 1000.0]), 1.0)

    def test_a_problem_that_looks_stiff_is_told(self):
        """Van der Pol's oscillator: stability keeps the steps short at 1000, accuracy does at 3."""
        solve = nd.ode.solver(oscillates, max_steps=2000)
        with pytest.raises(IntegrationError, match=r"at t = .* looks stiff .* 'Rodas5P'") as stiff:
            solve((2.0, 0.0), (0.0, 2000.0), 1000.0)
        assert 0.0 < stiff.value.time < 800.0
        with pytest.raises(IntegrationError, match=r"gave up at t = [0-9.]*$"):
            solve((2.0, 0.0), (0.0, 2000.0), 3.0)

    def test_fast_oscillations_are_not_stiff(self):
        """Without friction nothing decays, though stability limits the steps at this tolerance."""
        solve = nd.ode.solver(oscillates, max_steps=200, rtol=0.0, atol=0.1)
        with pytest.raises(IntegrationError, match=r"gave up at t = [0-9.]*$") as caught:
            solve((2.0, 0.0), (0.0, 2000.0), 0.0)
        assert caught.value.time > 200.0

    def test_in_the_middle_of_nopython_code(self, explode):
        @numba.njit
        def end(y0):
            return explode(y0, np.array([0.0, 2.0]))[-1, 0]

        assert end(0.25) == pytest.approx(0.5, rel=1e-5)
        with pytest.raises(IntegrationError, match="at t = "):
            end(1.0)

    def test_while_differentiating(self, explode):
        end = nd.derivative(lambda y0: explode(y0, np.array([0.0, 2.0]))[-1, 0])
        assert end(0.25) == pytest.approx(4.0, rel=1e-4)
        with pytest.raises(IntegrationError, match="at t = "):
            end(1.0)

    @pytest.mark.parametrize(
        ("ts", "message"),
        [
            ((0.0, 1.0, 1.0), "strictly.* at t = 1.0"),
            ((0.0, 1.0, 0.5), "strictly.* at t = 0.5"),
            ((0.0, 0.0, 0.0), "strictly.* at t = 0.0"),
            ((0.0, 1.0, math.nan), "finite.* at t = nan"),
            ((0.0, 1.0, math.inf), "finite.* at t = inf"),
        ],
    )
    def test_bad_times(self, explode, ts, message):
        with pytest.raises(DataError, match=message):
            explode(0.1, np.array(ts))

    def test_no_times(self):
        with pytest.raises(DataError, match="ts is empty"):
            nd.ode.solver(decay)(1.0, np.empty(0), 1.0)


class TestRightHandSide:
    def test_wrong_length_of_a_tuple(self):
        with pytest.raises(ModelError, match="2 in all; it returns 3"):
            nd.ode.solver(lambda t, y: (y[0], y[1], 0.0))((1.0, 2.0), (0.0, 1.0))

    @pytest.mark.dear
    def test_wrong_length_of_an_array(self):
        with pytest.raises(ModelError, match="3 in all; it returns 2"):
            nd.ode.solver(lambda t, y: y[:2].copy())(np.ones(3), (0.0, 1.0))

    def test_nothing_returned(self):
        def forgets(t, y):
            y * 2.0

        with pytest.raises(ModelError, match="it returns none; .*inplace=True"):
            nd.ode.solver(forgets)(1.0, (0.0, 1.0))

    def test_complex_for_a_real_start(self):
        with pytest.raises(ModelError, match="complex y0"):
            nd.ode.solver(lambda t, y: 1j * y)(1.0, (0.0, 1.0))

    def test_what_numba_cannot_compile_is_told_with_the_users_line(self):
        def wrong(t, y):
            x = y[0]
            return (x.attribute, x)

        with pytest.raises(ModelError) as caught:
            nd.ode.solver(wrong)((1.0, 2.0), (0.0, 1.0))
        message = str(caught.value)
        assert "Numba cannot compile wrong(float64, UniTuple(float64 x 2))" in message
        assert "test_failures.py" in message
        assert "return (x.attribute, x)" in message
        assert "Unknown attribute 'attribute' of type float64" in message
        assert len(message.splitlines()) < 7

    def test_wrong_number_of_arguments(self):
        with pytest.raises(ModelError, match="missing a required argument: 'd'"):
            nd.ode.solver(volterra)((1.0, 2.0), (0.0, 1.0), (1.0, 2.0, 3.0))

    def test_parameters_in_one_tuple_are_given_as_one_item(self):
        def rates(t, y, p):
            return (p[0] * y[0], -p[1] * y[1])

        said = (
            r"rates\(t, y, p\) is called with 4 arguments: .*\n.*args=\(p,\) hands over one tuple"
        )
        with pytest.raises(ModelError, match=said):
            nd.ode.solver(rates)((1.0, 2.0), (0.0, 1.0), (1.0, 2.0))
        solution = nd.ode.solver(rates)((1.0, 2.0), (0.0, 1.0), ((1.0, 2.0),))
        np.testing.assert_allclose(solution[-1], (np.e, 2.0 * np.exp(-2.0)), rtol=1e-5)

    def test_not_a_function(self):
        with pytest.raises(ArgumentError, match="fun must be a Python function"):
            nd.ode.solver("lorenz")


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
            (dict(mass_matrix=np.eye(2)), ArgumentError, "needs an implicit method"),
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


class TestTypes:
    @pytest.mark.parametrize("y0", [np.array(["one"]), "one"])
    def test_state(self, y0):
        with pytest.raises(ModelError, match="y0 must be a float"):
            nd.ode.solver(decay)(y0, (0.0, 1.0), 1.0)

    @pytest.mark.deep(but=["tuple", "array"])
    @pytest.mark.parametrize(
        ("y0", "options"),
        [
            pytest.param((), {}, id="tuple"),
            pytest.param(np.empty(0), {}, id="array"),
            pytest.param(np.empty(0), dict(method="BDF"), id="BDF"),
            pytest.param(np.empty((0, 2)), {}, id="matrix"),
            pytest.param(np.empty(0), dict(tstops=0.5), id="events"),
        ],
    )
    def test_empty_state(self, y0, options):
        """`fun` is not called: it might read what is not there."""
        with pytest.raises(ModelError, match="y0 is empty"):
            nd.ode.solver(decay, **options)(y0, (0.0, 1.0), 1.0)

    @pytest.mark.parametrize("ts", [1.0, np.ones((2, 2)), ("a", "b")])
    def test_times(self, ts):
        with pytest.raises(ModelError, match="ts must be a one-dimensional array or a tuple"):
            nd.ode.solver(decay)(1.0, ts, 1.0)


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


def test_exceptions_survive_pickling():
    """They cross process boundaries in parallel fits."""
    for error in (SolveError(1, 2.5), TimesError(6, 0.5), LengthError(2, 3), SizeError(8)):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
    assert describe(5, 0.0) == "ts is empty: give at least the initial time"


def test_compiled_code_hands_a_plain_function_to_the_solver():
    slope = nd.derivative(lambda y0: nd.ode.solver(decay)(y0, (0.0, 1.0), 1.0)[-1, 0])(1.0)
    assert slope == pytest.approx(math.exp(-1.0), rel=1e-5)
