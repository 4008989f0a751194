"""Initial values that are functions of the parameters, and options that are handed on."""

import numpy as np
import pytest

import numbad as nd
from numbad.errors import ModelError

T = np.linspace(0.0, 4.0, 9)
TRUE = dict(made=3.0, lost=0.5)


def washed_out(t, y, made, lost):
    """After what was made and lost at rest, nothing is made any more."""
    return (-lost * y[0],)


def at_rest(made, lost):
    return (made / lost,)


def settled(made, lost):
    return nd.ode.steady_state(balanced, (1.0,), (made, lost))


def balanced(t, y, made, lost):
    return (made - lost * y[0],)


DATA = 6.0 * np.exp(-0.5 * T)


def fitted(y0, **options):
    return nd.fit.fit_ode(washed_out, T, DATA, dict(made=1.0, lost=1.0), y0=y0, **options)


@pytest.mark.dear
@pytest.mark.parametrize("y0", [at_rest, pytest.param(settled, marks=pytest.mark.deep)])
def test_initial_values_that_follow_from_the_parameters(y0):
    result = fitted(y0)
    assert result.params == pytest.approx(TRUE, rel=1e-6)
    assert result.predict([1.0])[0] == pytest.approx(6.0 * np.exp(-0.5), rel=1e-6)


@pytest.mark.dear
def test_experiments_each_begin_with_their_own_parameters():
    """A dose of the inducer that is known in one, and sought in the other."""
    more = nd.fit.Experiment(T, 2.0 * DATA, args={"made": 6.0}, name="more")
    one = nd.fit.Experiment(T, DATA, name="one")
    result = nd.fit.fit_ode(
        washed_out, None, None, dict(made=1.0, lost=1.0), y0=at_rest, experiments=[one, more]
    )
    assert result.params == pytest.approx(TRUE, rel=1e-6)


@pytest.mark.dear
def test_results_are_kept_with_the_function():
    result = fitted(at_rest, optimizer_options={"method": "trf", "x_scale": 1.0})
    again = nd.fit.FitResult.from_json(result.to_json(), washed_out, y0=at_rest)
    np.testing.assert_array_equal(again.predict(T), result.predict(T))
    with pytest.raises(nd.DataError, match="a function y0= must be given"):
        nd.fit.FitResult.from_json(result.to_json(), washed_out)


@pytest.mark.parametrize(
    ("y0", "options", "message"),
    [
        (lambda made: (made,), {}, "y0: Numba cannot compile"),
        (lambda made, lost: made, {}, "must return a tuple or a 1-D array"),
        (at_rest, dict(fit_y0=True), "no unknowns of their own"),
        ((6.0,), dict(optimizer_options={"bounds": (0, 1)}), "'bounds' is none of method"),
        ((6.0,), dict(optimizer_options={"method": "bfgs"}), "must be 'lm', 'trf' or 'dogbox'"),
        ((6.0,), dict(optimizer_options="trf"), "must be a dict"),
    ],
)
def test_what_is_refused(y0, options, message):
    with pytest.raises(ModelError, match=message):
        fitted(y0, **options)


def test_experiments_do_not_have_functions():
    one = nd.fit.Experiment(T, DATA, y0=at_rest, name="one")
    with pytest.raises(ModelError, match="goes to fit_ode as y0= alone"):
        nd.fit.fit_ode(washed_out, None, None, dict(made=1.0, lost=1.0), experiments=[one])


@pytest.mark.deep
def test_a_sparse_jacobian_in_a_fit():
    """A chain, y' = rate (left neighbour - y), whose Jacobian has two diagonals."""

    def chain(t, y, dy_rate):
        dy = np.empty_like(y)
        dy[0] = -dy_rate * y[0]
        for i in range(1, len(y)):
            dy[i] = dy_rate * (y[i - 1] - y[i])
        return dy

    pattern = np.eye(12) + np.eye(12, k=-1)
    start = np.zeros(12)
    start[0] = 1.0
    found = nd.fit.fit_ode(
        chain,
        T,
        np.exp(-0.7 * T),
        dict(dy_rate=0.3),
        y0=start,
        observed=[0],
        method="Rodas5P",
        jac_sparsity=pattern,
    )
    assert found.params["dy_rate"] == pytest.approx(0.7, rel=1e-6)


@pytest.mark.deep
def test_a_steady_state_behind_events():
    """Of two forms that a dose adds to when the first falls to a level; that one is lost afterwards."""

    def exchange(t, y, rate, level):
        flow = rate * y[0] - y[1]
        return -flow, flow

    dose = nd.ode.event(
        lambda t, y, rate, level: y[0] - level,
        direction=-1,
        change=lambda t, y, rate, level: (y[0] + 3.0, y[1] + level),
    )
    equilibrate = nd.ode.solver(exchange, method="Rodas5P", events=dose, rtol=1e-10)

    def begin(rate, level):
        return nd.ode.steady_state(equilibrate, (4.0, 0.0), (rate, level))

    def lost(t, y, rate, level):
        return -rate * y[0], 0.0 * y[1]

    first = (4.0 + 3.0 + 1.5) / (1.0 + 2.0)
    data = np.column_stack([first * np.exp(-2.0 * T), np.full(len(T), 2.0 * first)])
    result = nd.fit.fit_ode(lost, T, data, dict(rate=1.8, level=1.7), y0=begin)
    assert result.params == pytest.approx(dict(rate=2.0, level=1.5), rel=1e-6)
