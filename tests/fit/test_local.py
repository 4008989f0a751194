import numpy as np
import pytest
from scipy.optimize import curve_fit

from numbad.errors import ModelError
from numbad.fit.local import STUCK, fit_from

from .closed_form import NOISE, Formula, T, Y, decay, decaying


def fitted(problem):
    return fit_from(problem, 0, problem.unknowns.start)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("bounds", [None, {"a": (0.1, 9.0)}])
def test_agrees_with_curve_fit(log, bounds):
    y = np.abs(Y)
    fit = fitted(decaying(y=y, log=log, bounds=bounds))
    model = (lambda t, a, b: np.log(decay((a, b), t))) if log else lambda t, a, b: decay((a, b), t)
    wanted, _ = curve_fit(model, T, np.log(y) if log else y, (1.0, 1.0), xtol=1e-14, ftol=1e-14)
    assert fit.success
    np.testing.assert_allclose(fit.values, wanted, rtol=1e-6)


def test_one_evaluation_gives_both_residuals_and_jacobian():
    problem = decaying()
    fit = fitted(problem)
    assert problem.evaluations <= fit.nfev + 1


@pytest.mark.parametrize("bounds", [None, {"a": (-50.0, 50.0)}])
def test_failing_trial_steps_are_rejected_and_the_fit_goes_on(bounds):
    calls = []

    def forbidden(p):
        calls.append(tuple(p))
        return len(calls) in (2, 3, 6)

    fit = fitted(decaying((0.5, 5.0), forbidden=forbidden, bounds=bounds))
    first, tried, again = np.array(calls[:3])
    assert np.linalg.norm(again - first) < np.linalg.norm(tried - first)
    assert fit.success
    np.testing.assert_allclose(fit.values, fitted(decaying()).values, rtol=1e-6)


@pytest.mark.parametrize("bounds", [None, {"b": (0.01, 50.0)}])
def test_a_fit_that_ends_where_the_model_fails_has_not_converged(bounds):
    # The optimum, b = 0.7, lies where the model cannot be evaluated.
    fit = fitted(decaying((1.0, 2.0), bounds=bounds, forbidden=lambda p: p[1] < 1.0))
    assert not fit.success
    assert fit.message == STUCK
    assert fit.values[1] == pytest.approx(1.0, abs=0.05)


def test_a_model_that_is_nan_at_a_trial_step_is_rejected_too():
    def model(p, t):
        return decay(p, t) if 0.0 < p[1] < 6.0 else np.full(len(t), np.nan)

    def jacobian(p, t):
        return decaying().jacobian(p, t)

    fit = fitted(Formula(model, jacobian, T, Y, (0.5, 5.0)))
    assert fit.success
    np.testing.assert_allclose(fit.values, fitted(decaying()).values, rtol=1e-6)


def test_a_start_that_cannot_be_evaluated_is_an_error_that_names_it():
    with pytest.raises(ModelError, match=r"at the start \(a = 1, b = 1\): cannot be integrated"):
        fitted(decaying(forbidden=lambda p: True))


def test_a_start_with_an_infinite_derivative_names_the_unknown():
    def jacobian(p, t):
        return np.stack((np.ones(len(t)), np.full(len(t), np.inf)), axis=1)

    with pytest.raises(ModelError, match="derivative by b is not finite"):
        fitted(Formula(decay, jacobian, T, Y, (1.0, 1.0)))


def test_running_out_of_evaluations_is_no_success_but_returns_what_there_is():
    fit = fitted(decaying((20.0, 5.0), max_nfev=2))
    assert not fit.success
    assert fit.cost < 0.5 * np.sum((decay((20.0, 5.0), T) - Y) ** 2)


def test_robust_losses_resist_an_outlier():
    y = Y.copy()
    y[4] += 5.0
    plain = fitted(decaying(y=y)).values
    robust = fitted(decaying(y=y, loss="cauchy", f_scale=0.02)).values
    assert abs(robust[1] - 0.7) < 0.02 < abs(plain[1] - 0.7)
    assert np.abs(NOISE).max() == pytest.approx(0.03)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize(("unit", "time_unit"), [(1e-12, 1.0), (1e12, 1e9), (1e-9, 1e-9)])
def test_the_units_of_data_and_time_do_not_matter(bounded, unit, time_unit):
    def scaled(p, t):
        return decay(p, t)

    start = (0.3 * unit, 4.0 / time_unit)
    bounds = {"a": (0.01 * unit, 100.0 * unit), "b": (0.01 / time_unit, 100.0 / time_unit)}
    jacobian = decaying().jacobian
    problem = Formula(
        scaled, jacobian, T * time_unit, Y * unit, start, bounds=bounds if bounded else None
    )
    fit = fitted(problem)
    assert fit.success
    wanted = np.array(fitted(decaying((0.3, 4.0))).values) * (unit, 1.0 / time_unit)
    np.testing.assert_allclose(fit.values, wanted, rtol=1e-6)


@pytest.mark.parametrize("bounds", [None, {"a": (0.1, 9.0)}])
def test_data_without_noise_are_fitted_exactly(bounds):
    fit = fitted(decaying(y=decay((2.0, 0.7), T), bounds=bounds))
    assert fit.success
    np.testing.assert_allclose(fit.values, (2.0, 0.7), rtol=1e-12)
    assert fit.cost < 1e-24


def test_an_unknown_that_starts_at_zero_takes_its_size_from_the_bounds():
    problem = Formula(decay, decaying().jacobian, T, Y, (0.0, 1.0), bounds={"a": (0.0, 1000.0)})
    assert problem.unknowns.scale.tolist() == [1024.0, 1.0]


@pytest.mark.parametrize("bounds", [None, {"a": (1e-9, 1e9)}])
@pytest.mark.parametrize("log", [False, True])
def test_what_the_data_leave_open_stays_in_its_order_of_size(log, bounds):
    # Only the product of a and b is known. Steps by rounding errors went to 1e80 and 1e-80.
    def product(p, t):
        return p[0] * p[1] * np.exp(-p[2] * t)

    def by_hand(p, t):
        e = np.exp(-p[2] * t)
        return np.stack((p[1] * e, p[0] * e, -p[0] * p[1] * t * e), axis=1)

    y = product((7.0 / 3.0, 0.3, 0.9), T)
    fit = fitted(Formula(product, by_hand, T, y, (1.7, 0.13, 1.3), log=log, bounds=bounds))
    a, b, c = fit.values
    assert fit.success
    assert a * b == pytest.approx(0.7, rel=1e-7)
    assert c == pytest.approx(0.9, rel=1e-7)
    assert 1.0 < a < 10.0
    assert fit.nfev < 15
