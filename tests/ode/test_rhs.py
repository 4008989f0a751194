"""Right-hand sides that do not suit: what is wrong, with its name and line."""

import numpy as np
import pytest

import numbad as nd
from numbad.errors import ArgumentError, ModelError
from tests.ode.problems import volterra


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
        assert "test_rhs.py" in message
        assert "return (x.attribute, x)" in message
        assert "Unknown attribute 'attribute' of type float64" in message
        assert len(message.splitlines()) < 7

    def test_wrong_number_of_arguments(self):
        with pytest.raises(ModelError, match="missing a required argument: 'd'"):
            nd.ode.solver(volterra)((1.0, 2.0), (0.0, 1.0), (1.0, 2.0, 3.0))

    def test_one_that_writes_its_result_needs_inplace(self):
        def rates(t, y, dy, p):
            dy[0] = p * y[0]

        said = r"missing a required argument: 'p'\n.*; to write the result .* set inplace=True"
        with pytest.raises(ModelError, match=said):
            nd.ode.solver(rates)(np.ones(1), (0.0, 1.0), (1.0,))
        with pytest.raises(ModelError, match=r"one tuple or array p$"):
            nd.ode.solver(rates)(np.ones(1), (0.0, 1.0))

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
