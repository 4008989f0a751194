"""`solve_ivp` beside SciPy's: the same names, shapes and meanings."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.integrate
from scipy.integrate._ivp import dop853_coefficients as coefficients

import numbad as nd
from numbad.errors import ArgumentError, DataError, ModelError
from numbad.ode.methods import find_method

ARGUMENTS = (1.5, 1.0, 3.0, 1.0)
SPAN = (0.0, 15.0)
START = [10.0, 5.0]


def predators(t, z, a, b, c, d):
    """The right-hand side of SciPy's documentation."""
    x, y = z
    return [a * x - b * x * y, -c * y + d * x * y]


def exponential(t, y):
    return -0.5 * y


def explodes(t, y):
    return y * y


def both(function, *arguments, **options):
    ours = nd.ode.solve_ivp(function, *arguments, **options)
    theirs = scipy.integrate.solve_ivp(function, *arguments, **options)
    return ours, theirs


def test_counts_evaluations():
    ours = nd.ode.solve_ivp(exponential, (0.0, 10.0), [2.0])
    steps = len(ours.t) - 1
    rejected, rest = divmod(ours.nfev - 2 - 6 * steps, 6)
    assert rest == 0 <= rejected


def counted(t, y, calls):
    calls[0] += 1
    return np.array([y[1], -np.sin(y[0]) * t])


@pytest.mark.deep(but=["RK45"])
@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853"])
def test_one_step_of_each_method_of_scipy(method):
    """All weights at once: the same step, and output within it; and what is evaluated is counted."""
    calls = np.zeros(1)
    options = dict(
        method=method, t_eval=np.linspace(0.5, 0.8, 7), first_step=0.3, dense_output=True
    )
    ours, theirs = both(
        counted, (0.5, 0.8), [1.0, 0.5], args=(calls,), rtol=1e-2, atol=1e-2, **options
    )
    np.testing.assert_allclose(ours.y, theirs.y, rtol=0, atol=2e-14)
    np.testing.assert_allclose(ours.sol(ours.t), theirs.y, rtol=0, atol=2e-14)
    assert calls[0] == ours.nfev + theirs.nfev
    calls[0] = 0
    lone = nd.ode.solve_ivp(counted, (0.5, 9.0), [1.0, 0.5], method, [2.0, 5.0], args=(calls,))
    assert calls[0] == lone.nfev


@pytest.mark.dear
def test_error_estimate_of_dop853():
    """A step is accepted where the book's estimate, of two, is within the tolerance."""
    h, tableau, slopes = 1.2, find_method("DOP853"), []
    for row, c in zip(tableau.a, tableau.c, strict=True):
        y = np.array([1.0, 0.5]) + h * sum(a * k for a, k in zip(row, slopes, strict=True))
        slopes.append(counted(0.5 + c * h, y, np.zeros(1)))
    fine, coarse = (np.mean((e[:12] @ slopes) ** 2) for e in (coefficients.E5, coefficients.E3))
    error = h * fine / np.sqrt(fine + 0.01 * coarse)
    for factor, accepted in ((1.01, True), (0.99, False)):
        options = dict(args=(np.zeros(1),), first_step=h, rtol=1e-13, atol=factor * error)
        found = nd.ode.solve_ivp(counted, (0.5, 9.0), [1.0, 0.5], "DOP853", **options)
        assert (found.t[1] == 0.5 + h) == accepted


def test_output_times_and_tight_tolerances():
    times = np.linspace(*SPAN, 40)
    options = dict(args=ARGUMENTS, t_eval=times, rtol=1e-10, atol=1e-10)
    ours, theirs = both(predators, SPAN, START, **options)
    np.testing.assert_array_equal(ours.t, theirs.t)
    np.testing.assert_allclose(ours.y, theirs.y, rtol=0, atol=2e-7)
    inside = nd.ode.solve_ivp(predators, SPAN, START, **options | dict(t_eval=times[3:-5]))
    np.testing.assert_allclose(inside.y, ours.y[:, 3:-5], rtol=0, atol=1e-12)


def test_backwards():
    options = dict(t_eval=[2.5, 1.0, 0.0], dense_output=True, rtol=1e-8)
    ours, theirs = both(exponential, (3.0, 0.0), [1.0, 2.0], **options)
    np.testing.assert_array_equal(ours.t, theirs.t)
    np.testing.assert_allclose(ours.y, theirs.y, rtol=1e-6)
    times = np.linspace(3.0, 0.0, 50)
    exact = np.exp(-0.5 * (times - 3.0))
    np.testing.assert_allclose(ours.sol(times), [exact, 2.0 * exact], rtol=1e-6)


@pytest.mark.dear
def test_options():
    few = nd.ode.solve_ivp(exponential, (0.0, 10.0), [2.0])
    short = nd.ode.solve_ivp(exponential, (0.0, 10.0), [2.0], max_step=0.25)
    assert np.diff(short.t).max() == pytest.approx(0.25, rel=1e-12)
    assert np.diff(few.t).max() > 1.0
    first = nd.ode.solve_ivp(exponential, (0.0, 10.0), [2.0], first_step=0.01, vectorized=True)
    assert first.t[1] == 0.01
    loose = nd.ode.solve_ivp(exponential, (0.0, 10.0), [2.0, 4.0], atol=[1e-3, 1e-6])
    assert loose.success
    with pytest.warns(UserWarning, match="rtol is too small"):
        nd.ode.solve_ivp(exponential, (0.0, 1.0), [2.0], rtol=1e-16)
    with pytest.warns(UserWarning, match="ignored: jac"):
        nd.ode.solve_ivp(exponential, (0.0, 1.0), [2.0], jac=exponential)


@pytest.mark.deep
def test_complex_problems():
    def rotate(t, y):
        return 1j * y

    found = nd.ode.solve_ivp(rotate, (0.0, 2.0), [1.0 + 0.0j], rtol=1e-8, atol=1e-8)
    assert found.y[0, -1] == pytest.approx(np.exp(2j), abs=1e-6)


@pytest.mark.deep
def test_failure_is_a_status_with_a_message():
    ours, theirs = both(explodes, (0.0, 2.0), [1.0])
    assert ours.status == theirs.status == -1
    assert not ours.success
    assert "step size is less than the spacing between numbers at t = 0.9999" in ours.message
    assert ours.y[0, -1] > 1e3
    few = nd.ode.solve_ivp(explodes, (0.0, 2.0), [1.0], max_steps=10)
    assert few.status == -1
    assert "max_steps" in few.message
    assert len(few.t) <= 11


def test_interval_of_no_length():
    found = nd.ode.solve_ivp(exponential, (1.0, 1.0), [2.0], dense_output=True)
    assert found.success
    assert found.y[:, -1] == 2.0
    np.testing.assert_array_equal(found.sol([1.0, 1.5]), [[2.0, 2.0]])


def test_signature():
    names = list(inspect.signature(nd.ode.solve_ivp).parameters)
    assert names[:7] == list(inspect.signature(scipy.integrate.solve_ivp).parameters)[:7]
    assert names[7] == "args"


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (((0.0, np.nan), [1.0]), {}, DataError, "t_span must be finite"),
        (((0.0,), [1.0]), {}, DataError, "t_span must be two floats"),
        (((0.0, 1.0), [1.0, np.nan]), {}, ModelError, r"y0\[1\] is nan"),
        (((0.0, 1.0), [[1.0]]), {}, ModelError, "y0 must be one-dimensional"),
        (((0.0, 1.0), ["a"]), {}, ModelError, "y0 must be an array of numbers"),
        (((0.0, 1.0), [1.0]), dict(t_eval=[0.5, 2.0]), DataError, r"t_eval\[1\] = 2.0"),
        (((0.0, 1.0), [1.0]), dict(t_eval=[0.5, 0.4]), DataError, r"t_eval\[1\] = 0.4 comes"),
        (((0.0, 1.0), [1.0]), dict(t_eval=[[0.5]]), DataError, "one-dimensional"),
        (((0.0, 1.0), [1.0]), dict(args=1.0), ArgumentError, r"args=\(1.0,\)"),
        (((0.0, 1.0), [1.0]), dict(args=(np.inf,)), ModelError, r"args\[0\] is inf"),
        (((0.0, 1.0), [1.0]), dict(args=([1.0, np.nan],)), ModelError, r"args\[0\]\[1\] is nan"),
        (((0.0, 1.0), [1.0]), dict(args=({"a": 1},)), ArgumentError, r"args\[0\]"),
        (((0.0, 1.0), [1.0]), dict(atol=[1e-6, 1e-6]), ArgumentError, r"shape \(1,\)"),
        (((0.0, 1.0), [1.0]), dict(tolerance=1.0), ArgumentError, "unknown options: tolerance"),
        (
            ((0.0, 1.0), [1.0]),
            dict(method="Euclid"),
            ArgumentError,
            "available: AutoTsit5, BDF, BS3",
        ),
        (((0.0, 1.0), [1.0]), dict(events=[1.0]), ArgumentError, "must be functions event"),
    ],
)
def test_bad_input(arguments, options, error, message):
    with pytest.raises(error, match=message):
        nd.ode.solve_ivp(exponential, *arguments, **options)


def test_a_function_that_does_not_compile():
    def wrong(t, y):
        return undefined_name * y  # noqa: F821

    with warnings.catch_warnings(), pytest.raises(ModelError, match="undefined_name"):
        nd.ode.solve_ivp(wrong, (0.0, 1.0), [1.0])


def test_wrong_length():
    with pytest.raises(ModelError, match="3 in all; it returns 2"):
        nd.ode.solve_ivp(lambda t, y: y[:2].copy(), (0.0, 1.0), [1.0, 2.0, 3.0])
