"""The particle filter: beside the exact filter of a linear equation; smooth resampling; what is refused."""

import math

import numpy as np
import pytest

import numbad as nd
from numbad.sde import filters

RNG = np.random.default_rng(8)
TIMES = np.array([0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 3.5, 4.5])
SEEN = RNG.normal(size=(8, 1))
SEEN[2] = np.nan
AT = 0.7, 0.8, 0.5


def _drift(t, y, rate, vol, error):
    return (-rate * y[0],)


def _diffusion(t, y, rate, vol, error):
    return (vol,)


def _error(rate, vol, error):
    return (error,)


def _exact(rate, vol, error, dt):
    """The log-likelihood of the steps of Euler and Maruyama, by the recursion of Kalman."""
    mean, var, total = 0.3, 0.8**2, 0.0
    for k, y in enumerate(SEEN[:, 0]):
        for _ in range(0 if k == 0 else round((TIMES[k] - TIMES[k - 1]) / dt)):
            mean, var = (1.0 - rate * dt) * mean, (1.0 - rate * dt) ** 2 * var + vol**2 * dt
        if not np.isnan(y):
            scatter = var + error**2
            total = total - 0.5 * ((y - mean) ** 2 / scatter + np.log(2.0 * math.pi * scatter))
            gain = var / scatter
            mean, var = mean + gain * (y - mean), (1.0 - gain) * var
    return total


def _filter(**options):
    given = {"mean": (0.3,), "spread": (0.8,), "noise": _error, "dt": 0.25, "particles": 150}
    return filters.particle_filter(_drift, _diffusion, **given | options)


@pytest.mark.dear
def test_a_linear_equation_beside_the_exact_filter():
    """Value, gradient: the mean over keys is the exact one; and each gradient is that of its value."""
    model = _filter()
    core = model.log_likelihood(TIMES, SEEN, AT)
    assert _filter(dt=0.125, key=nd.random.key(5)).log_likelihood(TIMES, SEEN, AT) is core
    slope = nd.value_and_grad(core, (4, 5, 6), mode="forward")
    found = []
    for number in range(24):
        value, gradient = slope(TIMES, SEEN, 0.25, nd.random.key(number), *AT)
        found.append((value, *gradient))

    def likelihood(*at):
        return core(TIMES, SEEN, *model.settings, *at)

    assert found[0][0] == pytest.approx(likelihood(*AT), rel=1e-12)
    steps = [_exact(*(np.array(AT) + 1e-30j * unit), 0.25).imag / 1e-30 for unit in np.eye(3)]
    exact = np.array([_exact(*AT, 0.25), *steps])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(24)
    assert (np.abs(mean - exact) < 3.5 * error + 0.01).all()
    assert (error < 0.06 * np.abs(exact) + 0.1).all()
    for k in range(3):
        ends = [likelihood(*(np.array(AT) + h * np.eye(3)[k])) for h in (1e-6, -1e-6)]
        assert found[0][1 + k] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4)


@pytest.mark.deep
def test_a_state_with_two_wells():
    """Means of the filtered states beside those on a grid, where the extended filter is wrong."""
    times, seen = np.arange(3.0), np.array([0.0, 0.1, 1.1])
    given = {"mean": (0.0,), "spread": (0.5,), "noise": (0.6,), "dt": 0.05}
    functions = lambda t, y: (2.0 * (y[0] - y[0] ** 3),), lambda t, y: (0.6,)
    found = filters.particle_filter(*functions, particles=400, **given).filtered(times, seen, {})
    grid = np.linspace(-2.6, 2.6, 521)
    density = np.exp(-0.5 * (grid / 0.5) ** 2)
    density /= density.sum()
    ahead = grid + 0.05 * 2.0 * (grid - grid**3)
    step = np.exp(-0.5 * (grid[:, None] - ahead) ** 2 / (0.36 * 0.05))
    step = np.linalg.matrix_power(step / step.sum(axis=0), 20)
    total, means, variances = 0.0, [], []
    for k, y in enumerate(seen):
        density = step @ density if k else density
        density = density * np.exp(-0.5 * ((y - grid) / 0.6) ** 2) / (0.6 * math.sqrt(2 * math.pi))
        total += math.log(density.sum())
        density /= density.sum()
        means.append(grid @ density)
        variances.append(grid**2 @ density - means[-1] ** 2)
    np.testing.assert_allclose(found.mean[:, 0], means, atol=0.08)
    np.testing.assert_allclose(found.cov[:, 0, 0], variances, rtol=0.12)
    assert found.loglik == pytest.approx(total, abs=0.08)
    assert variances[1] > 0.4  # both wells


@pytest.mark.deep
def test_a_fit_beside_that_of_the_kalman_filter():
    rng, x, y = np.random.default_rng(1), 0.0, []
    for _ in range(60):
        x = 0.8 * x + 0.5 * rng.normal()
        y.append(x + 0.3 * rng.normal())
    given = {"mean": (0.0,), "spread": (1.0,), "noise": lambda rate, vol: (0.3,), "dt": 0.25}
    functions = lambda t, y, rate, vol: (-rate * y[0],), lambda t, y, rate, vol: (vol,)
    start = {"rate": 0.3, "vol": 0.4}
    exact = nd.fit.fit_sde(filters.extended_kalman(*functions, **given), np.arange(60.0), y, start)
    model = filters.particle_filter(*functions, particles=150, **given)
    fit = nd.fit.fit_sde(model, np.arange(60.0), y, start)
    assert fit.success
    # A bias of -60 / 150 / 2, and a random error of sqrt(60 / 150).
    assert abs(fit.loglik + 0.2 - exact.loglik) < 3.0 * math.sqrt(60.0 / 150.0)
    for name, error in exact.stderr.items():
        assert abs(fit.params[name] - exact.params[name]) < 0.7 * error
        assert fit.stderr[name] == pytest.approx(error, rel=0.4)
    # With so few particles the likelihood is uneven, and the profile meets a better place.
    with pytest.warns(nd.NumbadWarning, match="the profile of vol found a better fit: cost 47.4"):
        interval = fit.profile("vol")
    assert interval.low < fit.params["vol"] < interval.high
    assert len(fit.plot().axes) == 1
    assert "60 observations" in fit.summary()


@pytest.mark.dear
def test_a_fit_tells_where_its_standard_errors_are_those_of_the_noise():
    """Of one unknown a step of Newton's method by another key is stderr**2 times the slope there."""
    t, y = np.arange(12.0), np.random.default_rng(4).normal(size=12)
    model = filters.particle_filter(
        *(lambda t, y, vol: (-y[0],), lambda t, y, vol: (vol,)),
        mean=(0.0,),
        spread=(1.0,),
        noise=(0.3,),
        dt=0.5,
        particles=10,
    )
    fit = nd.fit.fit_sde(model, t, y, {"vol": 1.0})
    vol, error, slopes = fit.params["vol"], fit.stderr["vol"], []
    for number in range(2**32, 2**32 + 4):
        other = model.by_key(number)
        high, low = (other.filtered(t, y, {"vol": vol + h}).loglik for h in (1e-5, -1e-5))
        slopes.append((high - low) / 2e-5)
    moved = error * math.sqrt(np.mean(np.square(slopes)))
    assert moved > 0.3
    assert f"other keys move vol by {moved:.1f} standard errors" in fit.message


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"key": 3}, "key must be a key, not 3"),
        ({"particles": 100.0}, "particles is how many, an int, not 100.0"),
        ({"particles": 5}, "particles must be 10 or more, not 5"),
        ({"width": 1.5}, "width must lie between 0 and 1, not 1.5"),
        ({"dt": 0.0}, "dt must be positive and finite"),
        (
            {"noise": None},
            "noise is a sequence of numbers or a function of the parameters, not None",
        ),
    ],
)
def test_what_is_refused(options, told):
    with pytest.raises(nd.ArgumentError, match=told):
        _filter(**options)
