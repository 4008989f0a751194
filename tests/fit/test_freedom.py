"""What may vary, and how: fixed parameters, transforms, priors; and the likelihood."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import curve_fit

from numbad.errors import ModelError
from numbad.fit import FitResult, fit_ode

from .closed_form import T as TIMES
from .closed_form import decaying
from .reaction import COLD, P0, Y0, T, amounts, reaction
from .test_uncertainty import MISRA_SQUARES, MISRA_X, MISRA_Y, saturation, saturation_jacobian
from .test_uncertainty import result as closed_form_result


def fitted(p0=P0, data=COLD, **options):
    return fit_ode(reaction, T, data, p0, **{"y0": Y0, **options})


def by_curve_fit(model, start):
    def flat(t, *p):
        return model(*p).ravel()

    return curve_fit(flat, None, COLD.ravel(), start, xtol=1e-13, ftol=1e-13)


@pytest.mark.parametrize(
    "options",
    [
        {"fixed": "back", "p0": {"rate": 1.0, "back": 0.28}},
        {"fixed": {"back": 0.28}},
        {"bounds": {"back": (0.28, 0.28), "rate": (0, None)}, "p0": {"rate": 1.0, "back": 0.28}},
    ],
)
def test_what_is_fixed_is_no_unknown(options):
    result = fitted(**options)
    wanted, cov = by_curve_fit(lambda rate: amounts(T, rate, 0.28, *Y0), (1.0,))
    assert result.names == ("rate",)
    assert result.fixed == {"back": 0.28}
    np.testing.assert_allclose(result.x, wanted, rtol=1e-6)
    np.testing.assert_allclose(result.cov, cov, rtol=1e-4)
    assert result.degrees == 29
    assert "back   0.28000       fixed" in result.summary()
    assert FitResult.from_json(result.to_json(), reaction).fixed == result.fixed


def test_a_free_initial_value_can_be_fixed():
    result = fitted(y0={"a": 2.1, "b": 0.0}, fit_y0=True, fixed=["a", "b", "back"])
    assert result.fixed == {"back": 0.4, "a(0)": 2.1, "b(0)": 0.0}
    assert result.names == ("rate",)


def test_transforms_change_the_scale_of_the_fit_and_nothing_else():
    plain = fitted()
    bent = fitted(transforms={"rate": "log", "back": "logit"}, bounds={"back": (0.0, 2.0)})
    np.testing.assert_allclose(bent.x, plain.x, rtol=1e-6)
    np.testing.assert_allclose(bent.cov, plain.cov, rtol=1e-4)
    assert bent.cost == pytest.approx(plain.cost, rel=1e-9)
    (low, high), value = bent.interval()["rate"], bent.params["rate"]
    width = stats.t.ppf(0.975, 28) * bent.stderr["rate"] / value
    assert (low, high) == pytest.approx((value / np.exp(width), value * np.exp(width)), rel=1e-9)
    (low, high), value = bent.interval()["back"], bent.params["back"]
    slope = value * (2.0 - value) / 2.0
    width = stats.t.ppf(0.975, 28) * bent.stderr["back"] / slope
    logit = np.log(value / (2.0 - value)) + width * np.array([-1.0, 1.0])
    assert (low, high) == pytest.approx(2.0 / (1.0 + np.exp(-logit)), rel=1e-9)
    back = bent.profile("back")
    assert (back.low, back.high) == pytest.approx(
        (plain.profile("back").low, plain.profile("back").high), rel=1e-5
    )
    # The Jacobian by its definition, at a point between.
    problem = bent.problem
    x = problem.unknowns.internal([0.9, 0.7])
    _, jacobian = problem.evaluate(x)
    for j, step in enumerate(1e-5 * np.eye(2)):
        ends = problem.evaluate(x + step)[0] - problem.evaluate(x - step)[0]
        np.testing.assert_allclose(jacobian[:, j], ends / 2e-5, atol=1e-6)


def test_on_the_log_scale_a_transform_frees_an_unknown_of_its_sign():
    kept = T > 0.2  # the second amount starts at zero
    data = amounts(T[kept], 0.8, 0.3, *Y0)
    options = {"y0": Y0, "t0": 0.0, "scale": "log", "transforms": {"back": "linear"}}
    result = fit_ode(reaction, T[kept], data, {"rate": 1.0, "back": -0.01}, **options)
    np.testing.assert_allclose(result.x, (0.8, 0.3), rtol=1e-6)


def test_many_starts_are_drawn_within_a_logit():
    result = fitted(transforms="logit", bounds=[(0.0, 5.0), (0.0, 5.0)], starts=4, progress=False)
    np.testing.assert_allclose(result.x, fitted().x, rtol=1e-5)
    drawn = np.array([fit.start for fit in result.starts[1:]])
    assert ((drawn > 0.0) & (drawn < 5.0)).all()
    assert sorted((drawn[:, 0] // (5.0 / 3.0)).tolist()) == [0.0, 1.0, 2.0]


def test_the_likelihood_of_misra1a_follows_from_the_certified_sum_of_squares():
    from .closed_form import Formula

    found = closed_form_result(
        Formula(saturation, saturation_jacobian, MISRA_X, MISRA_Y, (250.0, 5e-4))
    )
    loglik = -7.0 * (np.log(2.0 * np.pi * MISRA_SQUARES / 14.0) + 1.0)
    assert found.loglik == pytest.approx(loglik, rel=1e-9)
    # Two unknowns and the deviation of the noise.
    assert found.aic == pytest.approx(6.0 - 2.0 * loglik, rel=1e-9)
    assert found.bic == pytest.approx(3.0 * np.log(14.0) - 2.0 * loglik, rel=1e-9)


def test_the_likelihood_is_the_density_of_the_data():
    sigma = np.linspace(0.02, 0.1, 15)
    known = fitted(sigma=sigma, absolute_sigma=True)
    model = amounts(T, *known.x, *Y0)
    wanted = stats.norm.logpdf(COLD, model, sigma[:, None]).sum()
    assert known.loglik == pytest.approx(wanted, rel=1e-9)
    assert known.aic == pytest.approx(4.0 - 2.0 * wanted, rel=1e-9)
    scaled = fitted(sigma=sigma)
    factor = np.sqrt(np.mean(((COLD - model) / sigma[:, None]) ** 2))
    wanted = stats.norm.logpdf(COLD, model, factor * sigma[:, None]).sum()
    assert scaled.loglik == pytest.approx(wanted, rel=1e-8)
    assert scaled.bic == pytest.approx(3.0 * np.log(30.0) - 2.0 * wanted, rel=1e-8)


def test_on_the_log_scale_the_data_are_log_normal():
    found = closed_form_result(decaying(y=np.abs(decaying().y), log=True, absolute_sigma=True))
    model = found.x[0] * np.exp(-found.x[1] * TIMES)
    wanted = stats.lognorm.logpdf(found.problem.y, 1.0, scale=model).sum()
    assert found.loglik == pytest.approx(wanted, rel=1e-9)


def test_a_robust_loss_has_no_likelihood():
    found = closed_form_result(decaying(loss="huber", f_scale=0.02))
    assert np.isnan((found.loglik, found.aic, found.bic)).all()
    assert "log-likelihood" not in found.summary()


NORMAL = {"rate": ("normal", 1.0, 0.1)}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fixed": ["bakc"]}, "fixed: no unknown is called 'bakc'; there are rate, back"),
        ({"fixed": {"back": "a"}}, "fixed: back must be a finite number, got 'a'"),
        ({"fixed": ["rate", "back"]}, "nothing to fit, all is fixed: rate, back"),
        ({"fixed": {"back": 3.0}, "bounds": {"back": (0, 1)}}, "back starts at 3, outside its bou"),
        (
            {"bounds": {"back": (0.25, 0.25)}},
            r"back starts at 0.4, outside its bounds \[0.25, 0.25",
        ),
        ({"bounds": {"back": (2, 1)}}, "bounds of back: 2 is above 1"),
        ({"transforms": {"back": "sqrt"}}, "back has 'sqrt'; there are 'linear', 'log', 'logit'"),
        ({"transforms": {"bakc": "log"}}, "transforms: no unknown is called 'bakc'"),
        ({"transforms": ["log", "log"]}, "transforms: expected a dict by name"),
        ({"transforms": {"back": "logit"}}, "the logit of back needs both its bounds, finite"),
        ({"transforms": {"back": "logit"}, "bounds": {"back": (0.4, 1)}}, "infinite at its start"),
        ({"transforms": "log", "p0": [1.0, -0.1]}, "back starts at -0.1: start it above zero"),
        ({"priors": {"bakc": ("normal", 0, 1)}}, "priors: no unknown is called 'bakc'"),
        ({"priors": {"back": ("cauchy", 0, 1)}}, "there is no prior 'cauchy'; write"),
        ({"priors": {"back": 0.3}}, r'priors of back: write \("normal", mean, deviation\)'),
        ({"priors": {"back": ("normal", 0, 0)}}, "the deviation must be positive"),
        ({"priors": {"back": ("normal", np.nan, 1)}}, "all finite"),
        ({"priors": {"back": ("lognormal", -1, 1)}}, "the median must be positive, not -1"),
        (
            {"priors": {"back": ("lognormal", 1, 1)}, "p0": [1, 0]},
            "back is log-normal, so positive",
        ),
        ({"priors": NORMAL}, "priors are weighed against the data, so the noise must be known"),
        ({"priors": NORMAL, "loss": "huber"}, "so the noise must be known"),
        ({"priors": [1]}, "priors: expected a dict by name"),
    ],
)
def test_unusable_freedom_is_named(options, said):
    with pytest.raises(ModelError, match=said):
        fitted(**options)


def test_bounds_in_scipys_form_are_told():
    """Of two unknowns, two arrays could be either form."""

    def two(t, y, a, b):
        return (-a * y[0] + b,)

    with pytest.raises(
        ModelError, match=r"outside its bounds \[0, 0\]\. bounds= has .lower, upper. for each"
    ):
        fit_ode(
            two, T, np.exp(-T), {"a": 1.5, "b": 1.5}, y0=(1.0,), bounds=([0.0, 0.0], [3.0, 3.0])
        )
