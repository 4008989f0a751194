"""Integrations that stop early, told with the reason and the time."""

import math
import pickle

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.errors import DataError, IntegrationError
from numbad.ode.failure import LengthError, SizeError, SolveError, TimesError, describe
from tests.ode.problems import decay


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


def test_exceptions_survive_pickling():
    """They cross process boundaries in parallel fits."""
    for error in (SolveError(1, 2.5), TimesError(6, 0.5), LengthError(2, 3), SizeError(8)):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
    assert describe(5, 0.0) == "ts is empty: give at least the initial time"


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_times_however_near_each_other(sign):
    """Products of their differences would be zero."""
    solve = nd.ode.solver(lambda t, y: -y)
    np.testing.assert_array_equal(solve(1.0, (0.0, sign * 1e-200)), [[1.0], [1.0]])
    with pytest.raises(DataError, match="increase"):
        solve(1.0, (0.0, sign * 1e-200, -sign * 1e-200))
