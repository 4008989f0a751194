"""Many paths: each is that of the solver, however they are spread; means, their errors, their derivatives."""

import math

import numpy as np
import pytest
from numba import TypingError, njit

import numbad as nd

KEY = nd.random.key(21)
TIMES = np.array([0.0, 0.3, 1.0])
ARGS = 0.1, 0.4


@njit
def _drift(t, y, mu, vol, *rest):
    return mu * y


@njit
def _diffusion(t, y, mu, vol, *rest):
    return vol * y


@njit
def _end(ys):
    return ys[-1, 0]


@njit
def _payoffs(ys):
    return max(ys[-1, 0] - 1.0, 0.0), ys[1, 0] ** 2


SOLVE = nd.sde.solver(_drift, _diffusion, method="Milstein", dt=0.0625)


def test_paths_are_those_of_the_solver():
    paths = nd.sde.ensemble(SOLVE, 1.0, TIMES, ARGS, KEY, 300)  # more than a block
    assert paths.shape == (300, 3, 1)
    for p in (0, 16, 255, 256, 299):
        np.testing.assert_array_equal(paths[p], SOLVE(1.0, TIMES, ARGS, (KEY, p)))
    for count in (1, 7, 256):  # whatever the size of the block
        few = nd.sde.ensemble(SOLVE, 1.0, TIMES, ARGS, KEY, count)
        np.testing.assert_array_equal(few, paths[:count])


@pytest.mark.deep
def test_reductions_are_those_of_the_paths():
    paths = nd.sde.ensemble(SOLVE, 1.0, TIMES, ARGS, KEY, 300)
    found = nd.sde.ensemble(SOLVE, 1.0, TIMES, ARGS, KEY, 300, reduce="mean")
    np.testing.assert_allclose(found.mean, paths.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(
        found.error[1:], paths.std(axis=0, ddof=1)[1:] / math.sqrt(300), rtol=1e-9
    )
    assert (found.paths, found.failed) == (300, -1)
    both = nd.sde.ensemble(SOLVE, 1.0, TIMES, ARGS, KEY, 300, reduce=_payoffs)
    expected = [np.maximum(paths[:, -1, 0] - 1.0, 0.0).mean(), (paths[:, 1, 0] ** 2).mean()]
    np.testing.assert_allclose(both.mean, expected, rtol=1e-13)


@pytest.mark.dear
def test_a_bar_shows_the_progress(monkeypatch, capsys):
    given = SOLVE, 1.0, TIMES, ARGS, KEY, 1000
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    found = nd.sde.ensemble(*given, reduce=_end, progress=True)
    assert found == nd.sde.ensemble(*given, reduce=_end)
    assert "paths: 100%" in capsys.readouterr().err


@pytest.mark.dear
def test_antithetic_paths():
    given = SOLVE, 1.0, TIMES, ARGS, KEY, 300
    plain = nd.sde.ensemble(*given, reduce=_end)
    pairs = nd.sde.ensemble(*given, reduce=_end, antithetic=True)
    assert pairs.paths == 150
    assert pairs.error < 0.6 * plain.error
    assert abs(pairs.mean - math.exp(0.1)) < 4.0 * pairs.error + 0.01
    with pytest.raises(nd.ArgumentError, match="an even number, not 301"):
        nd.sde.ensemble(SOLVE, 1.0, TIMES, ARGS, KEY, 301, antithetic=True)


def test_a_mirror_image_that_fails_is_not_taken_for_its_path():
    solve = nd.sde.solver(
        lambda t, y: math.nan if y < 0.0 else 0.0, lambda t, y: 1.0, dt=0.5, noise="additive"
    )
    told = r"of 4 pairs of paths .* is path \d: .* unless it is its mirror image that does"
    with pytest.warns(nd.NumbadWarning, match=told):
        found = nd.sde.ensemble(solve, 0.3, (0.0, 1.0), (), KEY, 8, reduce=_end, antithetic=True)
    assert found.paths < 4


@pytest.mark.dear
def test_a_path_that_fails_costs_that_path():
    solve = nd.sde.solver(
        lambda t, y: 1.0 / y if y > 0.0 else math.nan, lambda t, y: 1.0, dt=0.125, noise="additive"
    )
    with pytest.warns(
        nd.NumbadWarning, match=r"(\d+) of 200 paths end in NaN .* the first is path"
    ) as told:
        found = nd.sde.ensemble(solve, 1.0, np.array([0.0, 1.0]), (), KEY, 200, reduce=_end)
    paths = nd.sde.ensemble(solve, 1.0, np.array([0.0, 1.0]), (), KEY, 200)[:, -1, 0]
    lost = np.isnan(paths)
    assert found.paths == 200 - lost.sum() > 0
    assert found.failed == np.flatnonzero(lost)[0]
    assert found.mean == pytest.approx(paths[~lost].mean(), rel=1e-13)
    assert f"{lost.sum()} of 200" in str(told[0].message)
    with pytest.raises(nd.IntegrationError):
        solve(1.0, np.array([0.0, 1.0]), (), (KEY, found.failed))


@njit
def _mean(y0, vol, key):
    found = nd.sde.ensemble(SOLVE, y0, (0.0, 0.3, 1.0), (0.1, vol), key, 100, reduce=_payoffs)
    return found.mean[0] + 2.0 * found.mean[1] + found.error[0]


@pytest.mark.deep
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_in_compiled_code(mode):
    slopes = nd.grad(_mean, (0, 1), mode=mode)(1.1, 0.4, KEY)
    h = 1e-6
    expected = [
        (_mean(1.1 + h, 0.4, KEY) - _mean(1.1 - h, 0.4, KEY)) / (2.0 * h),
        (_mean(1.1, 0.4 + h, KEY) - _mean(1.1, 0.4 - h, KEY)) / (2.0 * h),
    ]
    np.testing.assert_allclose(slopes, expected, rtol=1e-6)


@pytest.mark.parametrize("mode", [pytest.param("forward", marks=pytest.mark.deep), "reverse"])
def test_derivatives_by_times_are_refused(mode):
    def mean(end):
        return nd.sde.ensemble(SOLVE, 1.0, (0.0, end), (0.1, 0.2), KEY, 10, reduce=_end).mean

    with pytest.raises(nd.UnsupportedError, match="not differentiable by ts"):
        nd.grad(mean, mode=mode)(1.0)


@pytest.mark.deep
def test_states_that_are_arrays():
    def drift(t, y, mu, vol):
        return mu * y

    def diffusion(t, y, mu, vol):
        return vol * y

    solve = nd.sde.solver(drift, diffusion, method="Milstein", dt=0.0625)
    arrays = nd.sde.ensemble(solve, np.array([1.0]), TIMES, ARGS, KEY, 40, reduce="mean")
    numbers = nd.sde.ensemble(SOLVE, 1.0, TIMES, ARGS, KEY, 40, reduce="mean")
    np.testing.assert_allclose(arrays.mean, numbers.mean, rtol=1e-13)


@njit
def _heston_drift(t, y, r, kappa, theta, xi, rho):
    return r * y[0], kappa * (theta - y[1])


@njit
def _heston_diffusion(t, y, r, kappa, theta, xi, rho):
    root = math.sqrt(max(y[1], 1e-8))
    return (root * y[0], 0.0), (rho * xi * root, math.sqrt(1.0 - rho * rho) * xi * root)


@njit
def _heston_price(s0, v0, r, kappa, theta, xi, rho, key, paths):
    found = nd.sde.ensemble(
        HESTON, (s0, v0), (0.0, 1.0), (r, kappa, theta, xi, rho), key, paths, reduce=_call
    )
    return math.exp(-r) * found.mean


@njit
def _call(ys):
    return max(ys[-1, 0] - 100.0, 0.0)


HESTON = nd.sde.solver(_heston_drift, _heston_diffusion, noise="general", dt=0.01)


@pytest.mark.deep
def test_prices_and_greeks_of_heston():
    """Against the characteristic function (mpmath, 30 digits); the step's bias is below the noise."""
    at = 100.0, 0.09, 0.03, 2.0, 0.09, 0.3, -0.7
    price, greeks = nd.value_and_grad(_heston_price, tuple(range(7)), mode="reverse")(
        *at, KEY, 100_000
    )
    assert price == pytest.approx(13.0722044954916, abs=0.2)
    exact = (
        0.636416264357,
        27.2540584812,
        50.5694219402,
        0.0792743936961,
        36.458023941,
        -1.19384676902,
        0.138082528154,
    )
    np.testing.assert_allclose(greeks, exact, atol=0.05, rtol=0.03)


@pytest.mark.parametrize(
    ("given", "options", "told"),
    [
        ((_drift, KEY, 10), {}, "takes what nd.sde.solver returned"),
        ((SOLVE, 3, 10), {}, "takes a key, not 3"),
        ((SOLVE, KEY, 0.5), {}, "paths is how many, an int, not 0.5"),
        ((SOLVE, KEY, 0), {}, "paths lies between 1"),
        ((SOLVE, KEY, 10), {"reduce": "median"}, "reduce must be None, 'mean' or a function"),
        ((SOLVE, KEY, 10), {"executor": 2}, "executor is for reductions"),
    ],
)
def test_refusals(given, options, told):
    solve, key, paths = given
    with pytest.raises(nd.ArgumentError, match=told):
        nd.sde.ensemble(solve, 1.0, TIMES, ARGS, key, paths, **options)


def test_a_reducer_that_returns_no_number():
    with pytest.raises(nd.ModelError, match="returns a float or a tuple of floats; it returns"):
        nd.sde.ensemble(SOLVE, 1.0, TIMES, ARGS, KEY, 10, reduce=lambda ys: ys[0])


def test_what_is_wrong_in_compiled_code_is_told():
    solve = nd.sde.solver(njit(lambda t, y: -y), njit(lambda t, y: 0.1), dt=0.5)
    last, key = njit(lambda ys: ys[-1, 0]), nd.random.key(1)

    @njit
    def paired(key, paths):
        times = 0.0, 1.0
        return nd.sde.ensemble(solve, 1.0, times, (), key, paths, reduce=last, antithetic=True)

    @njit
    def controlled(key):
        times = 0.0, 1.0
        return nd.sde.ensemble(
            solve,
            1.0,
            times,
            (),
            key,
            8,
            reduce=last,
            antithetic=True,
            control=last,
            control_mean=1.0,
        )

    assert paired(key, 8).paths == 4
    with pytest.raises(nd.ArgumentError, match="antithetic paths come in pairs: an even number"):
        paired(key, 7)
    for count in (0, -2, 2**32 + 2):
        with pytest.raises(nd.ArgumentError, match="paths lies between 1 and 2"):
            paired(key, count)
    with pytest.raises(TypingError, match="paths is how many, an int, not float64"):
        paired(key, 8.0)
    with pytest.raises(TypingError, match="without antithetic paths") as error:
        controlled(key)
    assert "as constants" not in str(error.value)
