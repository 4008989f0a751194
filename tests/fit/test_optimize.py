import json
import math

import numpy as np
import pytest
from scipy import optimize

from numbad.errors import ModelError
from numbad.fit import FitResult, least_squares, minimize

from .test_uncertainty import MISRA, MISRA_STD, MISRA_X, MISRA_Y

X, Y = np.array(MISRA_X), np.array(MISRA_Y)


def saturation(p, x, y):
    residuals = np.empty(len(x))
    for i in range(len(x)):
        residuals[i] = p[0] * (1.0 - math.exp(-p[1] * x[i])) - y[i]
    return residuals


def as_tuple(p):
    return p[0] - 1.0, p[0] * p[1] - 2.0, p[1] - 2.0


@pytest.mark.parametrize(
    "options",
    [{"x_scale": "jac"}, {"method": "lm"}, {"bounds": ([0, 0], [1e3, 1.0]), "x_scale": "jac"}],
)
def test_least_squares_gives_the_certified_values(options):
    tight = {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}
    result = least_squares(
        saturation, [250.0, 5e-4], (X, Y), names=["b1", "b2"], **tight, **options
    )
    assert isinstance(result, FitResult)
    assert result.success
    for name, (value, deviation) in zip(("b1", "b2"), MISRA.values(), strict=True):
        assert result.params[name] == pytest.approx(value, rel=1e-6)
        assert result.stderr[name] == pytest.approx(deviation, rel=1e-6)
    assert result.residual_std == pytest.approx(MISRA_STD, rel=1e-8)
    np.testing.assert_allclose(result.residuals, saturation(result.x, X, Y), rtol=1e-12)


def test_least_squares_takes_the_steps_of_scipy_with_the_exact_jacobian():
    result = least_squares(saturation, [250.0, 5e-4], (X, Y), max_nfev=4, x_scale="jac")

    def jacobian(p, x, y):
        e = np.exp(-p[1] * x)
        return np.stack((1.0 - e, p[0] * x * e), axis=1)

    wanted = optimize.least_squares(
        saturation, [250.0, 5e-4], jacobian, args=(X, Y), max_nfev=4, x_scale="jac"
    )
    np.testing.assert_allclose(result.x, wanted.x, rtol=1e-12)
    assert result.success == wanted.success
    assert result.nfev == wanted.nfev


def test_least_squares_of_a_tuple_and_of_one_number():
    assert least_squares(as_tuple, [3.0, 3.0]).x == pytest.approx([1.0, 2.0])

    def line(x, t):
        return x[0] * t - 2.0 * t

    assert least_squares(line, 1.0, (X,)).x == pytest.approx([2.0])


def test_least_squares_offers_profiles_and_a_callable_loss():
    def huber(z):
        outer = np.maximum(z, 1.0)
        inner = z <= 1.0
        return np.stack((
            np.where(inner, z, 2.0 * outer**0.5 - 1.0),
            np.where(inner, 1.0, outer**-0.5),
            np.where(inner, 0.0, -0.5 * outer**-1.5),
        ))  # fmt: skip

    y = Y + 0.0
    y[5] += 3.0
    results = [
        least_squares(saturation, [250.0, 5e-4], (X, y), loss=loss, f_scale=0.1, x_scale="jac")
        for loss in ("huber", huber)
    ]
    np.testing.assert_allclose(results[0].x, results[1].x, rtol=1e-6)
    np.testing.assert_allclose(results[0].cov, results[1].cov, rtol=1e-4)
    plain = least_squares(saturation, [250.0, 5e-4], (X, Y), x_scale="jac")
    profile = plain.profile("x[1]")
    low, high = plain.interval()["x[1]"]
    assert (profile.low, profile.high) == pytest.approx((low, high), rel=1e-2)


def test_least_squares_refuses_what_it_cannot_start_from():
    with pytest.raises(ModelError, match="x0 must be"):
        least_squares(as_tuple, [[1.0, 2.0]])
    with pytest.raises(ModelError, match="x0 must be"):
        least_squares(as_tuple, [1.0, math.nan])
    with pytest.raises(ModelError, match="names: 1 names for 2 unknowns"):
        least_squares(as_tuple, [1.0, 2.0], names=["a"])
    with pytest.raises(ModelError, match="not finite at the start: x\\[0\\] = 1"):
        least_squares(saturation, [1.0, -1e6], (X, Y))


def rosenbrock(x, a):
    total = 0.0
    for i in range(len(x) - 1):
        total += a * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


METHODS = ["Nelder-Mead", "CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "SLSQP", "dogleg"]
METHODS += ["trust-constr", "trust-ncg", "trust-exact", "trust-krylov", "Powell", "COBYLA"]


@pytest.mark.parametrize("method", [None, *METHODS])
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_minimize_serves_every_method_of_scipy(method):
    options = {} if method is None else {"method": method}
    if method == "COBYLA":
        options["options"] = {"maxiter": 20_000}
    start = [1.2, 1.2] if method == "dogleg" else [0.8, 1.2]  # dogleg needs a convex start
    result = minimize(rosenbrock, start, (5.0,), tol=1e-10, **options)
    np.testing.assert_allclose(result.x, [1.0, 1.0], atol=1e-3)
    assert result.cost == pytest.approx(0.0, abs=1e-5)
    assert result.success


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg", "trust-exact"])
def test_minimize_takes_the_steps_of_scipy_with_exact_derivatives(method):
    found = minimize(rosenbrock, [-1.2, 1.0], (100.0,), method=method)
    wanted = optimize.minimize(
        optimize.rosen, [-1.2, 1.0], method=method, jac=optimize.rosen_der, hess=optimize.rosen_hess
    )
    np.testing.assert_allclose(found.x, wanted.x, rtol=1e-7)
    assert found.nfev == wanted.nfev


def quadratic(x):
    return 0.5 * (4.0 * x[0] ** 2 + 2.0 * x[0] * x[1] + 3.0 * x[1] ** 2)


def flat(x):
    return (x[0] + x[1] - 1.0) ** 2


def test_minimize_offers_the_inverse_hessian():
    result = minimize(quadratic, [1.0, 1.0], names=["a", "b"])
    inverse = np.linalg.inv([[4.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(result.cov, inverse, rtol=1e-12)
    assert result.stderr["a"] == pytest.approx(math.sqrt(inverse[0, 0]))
    low, high = result.interval(0.6826894921370859)["b"]
    assert (high - low) / 2.0 == pytest.approx(result.stderr["b"])
    assert result.summary().startswith("converged: 2 unknowns")
    assert json.loads(result.to_json())["params"] == result.params
    assert minimize(flat, [1.0, 1.0]).stderr == {"x[0]": math.inf, "x[1]": math.inf}


def test_a_minimum_has_no_residuals():
    result = minimize(quadratic, [1.0, 1.0])
    for request in (lambda: result.residuals, lambda: result.profile("x[0]")):
        with pytest.raises(ModelError, match="residuals"):
            request()


def test_minimize_says_so_where_it_does_not_converge():
    result = minimize(rosenbrock, [-1.2, 1.0], (100.0,), options={"maxiter": 2})
    assert not result.success
    assert result.summary().startswith("NOT CONVERGED")


def test_a_minimum_says_what_its_standard_errors_leave_out():
    together = {"type": "eq", "fun": lambda x: x[0] - x[1]}
    bound = minimize(quadratic, [1.0, 1.0], bounds=[(0.5, None), (None, None)])
    assert "at a bound: x[0]; standard errors ignore bounds" in bound.message
    free = minimize(quadratic, [1.0, 1.0], bounds=[(-1.0, 1.0), (None, None)], constraints=[])
    assert "standard errors" not in free.message
    tied = minimize(quadratic, [1.0, 1.0], method="SLSQP", constraints=together)
    assert "standard errors ignore constraints" in tied.summary()
    with pytest.raises(ModelError, match=r"bounds is a pair \(low, high\) for each unknown"):
        minimize(quadratic, [1.0, 1.0], bounds=[(0.0, 1.0), None])


def test_arguments_are_taken_as_scipy_takes_them():
    def residuals(x, t, y):
        return x[0] * np.exp(-x[1] * t) - y

    t = [0.0, 0.5, 1.0, 2.0]
    y = [3.0 * math.exp(-1.5 * one) for one in t]
    assert least_squares(residuals, [1.0, 1.0], (t, y)).x == pytest.approx([3.0, 1.5])
    assert minimize(lambda x, a: (x[0] - a) ** 2, [1.0], 2.0).x == pytest.approx([2.0])
    with pytest.raises(ModelError, match="does not take kwargs=; give further arguments"):
        least_squares(residuals, [1.0, 1.0], kwargs={"t": t, "y": y})
    with pytest.raises(ModelError, match="does not take jac=; leave it out"):
        minimize(quadratic, [1.0, 1.0], jac="2-point")
    with pytest.raises(ModelError, match="x0 must be a number or a 1-D array"):
        least_squares(residuals, {"a": 1.0}, (t, y))
