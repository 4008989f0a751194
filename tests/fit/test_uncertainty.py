import numpy as np
import pytest
from scipy.optimize import curve_fit

from numbad.fit.local import fit_from
from numbad.fit.result import FitResult
from numbad.fit.uncertainty import from_hessian

from .closed_form import Formula, T, Y, decay, decaying, saturation, saturation_jacobian

# NIST Statistical Reference Datasets, Misra1a (monomolecular adsorption), with certified values.
MISRA_X = [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8]
MISRA_X += [378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0]
MISRA_Y = [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02]
MISRA_Y += [44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78]
MISRA = {"a": (2.3894212918e02, 2.7070075241), "b": (5.5015643181e-04, 7.2668688436e-06)}
MISRA_STD = 1.0187876330e-01
MISRA_SQUARES = 1.2455138894e-01


def result(problem):
    return FitResult(problem, [fit_from(problem, 0, problem.unknowns.start)])


@pytest.mark.parametrize("start", [(500.0, 1e-4), (250.0, 5e-4)])
def test_misra1a_gives_the_certified_values(start):
    found = result(Formula(saturation, saturation_jacobian, MISRA_X, MISRA_Y, start))
    for name, (value, deviation) in MISRA.items():
        assert found.params[name] == pytest.approx(value, rel=1e-7)
        assert found.stderr[name] == pytest.approx(deviation, rel=1e-7)
    assert found.residual_std == pytest.approx(MISRA_STD, rel=1e-9)
    assert 2.0 * found.cost == pytest.approx(MISRA_SQUARES, rel=1e-9)
    assert found.degrees == 12


@pytest.mark.parametrize("absolute", [False, True])
def test_covariance_agrees_with_curve_fit(absolute):
    found = result(decaying(absolute_sigma=absolute))
    options = {"absolute_sigma": absolute, "sigma": np.ones(len(T)), "xtol": 1e-14, "ftol": 1e-14}
    _, wanted = curve_fit(lambda t, a, b: decay((a, b), t), T, Y, (1.0, 1.0), **options)
    np.testing.assert_allclose(found.cov, wanted, rtol=1e-5)
    deviations = np.sqrt(np.diag(wanted))
    np.testing.assert_allclose(
        found.correlation, wanted / np.outer(deviations, deviations), rtol=1e-5
    )


def test_log_scale_reports_natural_errors_by_the_delta_method():
    found = result(decaying(y=np.abs(Y), log=True))
    # log y = log a - b t is linear: the textbook's straight line, error of log a times a
    line = np.stack((np.ones(len(T)), -T), axis=1)
    coefficients, squares, *_ = np.linalg.lstsq(line, np.log(np.abs(Y)), rcond=None)
    cov = squares[0] / (len(T) - 2) * np.linalg.inv(line.T @ line)
    a = np.exp(coefficients[0])
    assert found.params["a"] == pytest.approx(a, rel=1e-6)
    assert found.stderr["a"] == pytest.approx(a * np.sqrt(cov[0, 0]), rel=1e-6)
    assert found.stderr["b"] == pytest.approx(np.sqrt(cov[1, 1]), rel=1e-6)
    assert found.cov[0, 1] == pytest.approx(a * cov[0, 1], rel=1e-6)


def product(p, t):
    return p[0] * p[1] * np.exp(-p[2] * t)


def product_jacobian(p, t):
    e = np.exp(-p[2] * t)
    return np.stack((p[1] * e, p[0] * e, -p[0] * p[1] * t * e), axis=1)


def test_unknowns_that_the_data_cannot_tell_apart_have_infinite_errors_and_are_named():
    found = result(Formula(product, product_jacobian, T, Y, (1.0, 1.5, 1.0)))
    assert found.stderr["a"] == found.stderr["b"] == np.inf
    assert np.isnan(found.cov[0, 1])
    assert np.isnan(found.cov[0, 2])
    assert "the data do not determine a, b" in found.message
    # What can be told, can be told as well as without the spare unknown, but for one degree less.
    two = result(decaying())
    wanted = two.stderr["b"] * np.sqrt(two.degrees / found.degrees)
    assert found.stderr["c"] == pytest.approx(wanted, rel=1e-4)


def test_an_unknown_without_effect_is_named():
    def model(p, t):
        return decay(p, t)

    def jacobian(p, t):
        return np.column_stack((decaying().jacobian(p, t), np.zeros(len(t))))

    found = result(Formula(model, jacobian, T, Y, (1.0, 1.0, 5.0)))
    assert found.stderr["c"] == np.inf
    assert np.isfinite(found.stderr["a"])
    assert "do not determine c" in found.message


def test_as_many_unknowns_as_observations_leaves_the_errors_unknown():
    found = result(Formula(saturation, saturation_jacobian, T[[3, 9]], Y[[3, 9]], (1.0, 1.0)))
    assert np.isnan(list(found.stderr.values())).all()
    assert np.isnan(found.residual_std)
    assert "no estimate of the noise" in found.message
    assert "nan" in found.summary()


def test_an_unknown_at_its_bound_is_named():
    found = result(decaying(bounds={"b": (0.9, 3.0)}))
    assert found.params["b"] == pytest.approx(0.9, rel=1e-4)
    assert "at a bound: b" in found.message


@pytest.mark.deep(but=["soft_l1"])
@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_robust_standard_errors_match_the_scatter_of_repeated_fits(loss):
    random = np.random.default_rng(1)
    t = np.linspace(0.0, 3.0, 60)
    values, errors = [], []
    for _ in range(250):
        noise = random.normal(0.0, 0.02, len(t))
        noise[random.random(len(t)) < 0.05] *= 6.0
        problem = Formula(
            decay, decaying().jacobian, t, decay((2.0, 0.7), t) + noise, (1.9, 0.8),
            loss=loss, f_scale=0.03,
        )  # fmt: skip
        found = result(problem)
        values.append(found.x)
        errors.append(list(found.stderr.values()))
    scatter = np.std(values, axis=0, ddof=1)
    np.testing.assert_allclose(np.mean(errors, axis=0), scatter, rtol=0.13)  # 0.045 is one sigma


def test_intervals_cover_the_truth_as_often_as_they_say():
    random = np.random.default_rng(2)
    covered = []
    for _ in range(400):
        y = decay((2.0, 0.7), T) + random.normal(0.0, 0.02, len(T))
        low, high = result(decaying(y=y)).interval(0.8)["b"]
        covered.append(low <= 0.7 <= high)
    assert np.mean(covered) == pytest.approx(0.8, abs=0.06)  # three sigma


def test_without_a_hessian_nothing_is_determined():
    """As where a search ran away: parameters of 1e200."""
    found = from_hessian(np.array([[1.0, np.nan], [np.nan, 2.0]]))
    assert found.undetermined.all()
    np.testing.assert_array_equal(found.cov, [[np.inf, np.nan], [np.nan, np.inf]])
    np.testing.assert_array_equal(found.deviation(np.array([[1.0, 0.0], [1.0, 2.0]])), np.inf)
