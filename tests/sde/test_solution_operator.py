"""Paths and their derivatives: closed forms, structures of the state, the grid, given increments."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(12)


@njit
def _drift(t, y, mu, vol):
    return mu * y


@njit
def _diffusion(t, y, mu, vol):
    return vol * y


GBM = nd.sde.solver(_drift, _diffusion, method="SRIW1", dt=2.0**-8)


@njit
def _brownian(t, y):
    return 1.0


@njit
def _nothing(t, y):
    return 0.0


W = nd.sde.solver(_nothing, _brownian, dt=0.25, noise="additive")


# -- derivatives of paths ------------------------------------------------------------------------------


@njit
def _end(y0, mu, vol, key):
    return GBM(y0, (0.0, 1.0), (mu, vol), key)[-1, 0]


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_pathwise_derivatives_are_those_of_the_solution(mode):
    y0, mu, vol = 1.3, 0.2, 0.4
    # The increments of the grid sum up to W(1), which a step of width 1 knows by its own cells only.
    fine = nd.sde.solver(_nothing, _brownian, dt=2.0**-8, noise="additive")
    w = fine(0.0, (0.0, 1.0), (), KEY)[-1, 0]
    end = y0 * math.exp((mu - 0.5 * vol**2) + vol * w)
    value, slopes = nd.value_and_grad(_end, (0, 1, 2), mode=mode)(y0, mu, vol, KEY)
    assert value == pytest.approx(end, rel=2e-4)
    np.testing.assert_allclose(slopes, [end / y0, end, end * (w - vol)], rtol=2e-3)


@pytest.mark.dear
def test_both_modes_give_the_same_and_nest():
    at = 1.3, 0.2, 0.4, KEY
    forward, reverse = (nd.grad(_end, (0, 1, 2), mode=m)(*at) for m in ("forward", "reverse"))
    np.testing.assert_allclose(forward, reverse, rtol=1e-12)
    second = nd.derivative(nd.derivative(_end, 2), 2)(*at)
    h = 1e-5
    up, down = (nd.grad(_end, 2)(1.3, 0.2, 0.4 + s, KEY) for s in (h, -h))
    assert second == pytest.approx((up - down) / (2.0 * h), rel=1e-6)


@njit
def _decay(t, x, b, a):
    return b / math.sqrt(1.0 + t) - x / (2.0 * (1.0 + t))


@njit
def _decaying(t, x, b, a):
    return a * b / math.sqrt(1.0 + t)


def _growth_slopes(x, mu, vol, w):
    end = x * math.exp(mu - 0.5 * vol**2 + vol * w)
    return end / x, end, end * (w - vol)


def _decay_slopes(x, b, a, w):
    return np.array([1.0, 1.0 + a * w, b * w]) / math.sqrt(2.0)


_FORMS = {  # a method of each form, and how far from the solution's its slopes may be
    "RKMil": (_drift, _diffusion, "diagonal", _growth_slopes, 2e-2),
    "Milstein": (_drift, _diffusion, "scalar", _growth_slopes, 2e-2),
    "SlowRK": (_drift, _diffusion, "diagonal", _growth_slopes, 2e-3),
    "SOSRI": (_drift, _diffusion, "scalar", _growth_slopes, 2e-3),
    "SRA3": (_decay, _decaying, "additive", _decay_slopes, 1e-4),
    "ShARK": (_decay, _decaying, "additive", _decay_slopes, 1e-4),
}


@pytest.mark.deep(but=["RKMil", "SRA3"])
@pytest.mark.parametrize("method", _FORMS)
def test_slopes_by_each_form_of_method(method):
    """Both modes against each other and against the solution in closed form, on given increments."""
    drift, diffusion, noise, exact, near = _FORMS[method]
    solve = nd.sde.solver(drift, diffusion, method=method, noise=noise, dt=2.0**-7)
    rng = np.random.default_rng(8)
    w, areas = (rng.normal(size=128) * math.sqrt(2.0**-7 / k) for k in (1.0, 12.0))

    @njit
    def end(x, p, q, w, areas):
        return solve(x, (0.0, 1.0), (p, q), (w, areas))[-1, 0]

    at = 1.3, 0.2, 0.4
    forward, reverse = (
        nd.grad(end, (0, 1, 2), mode=m)(*at, w, areas) for m in ("forward", "reverse")
    )
    np.testing.assert_allclose(reverse, forward, rtol=1e-12)
    np.testing.assert_allclose(forward, exact(*at, w.sum()), rtol=near)


@pytest.mark.dear
def test_gradient_of_a_mean_over_paths_in_compiled_code():
    @njit
    def mean(vol, key, paths):
        total = 0.0
        for p in range(paths):
            total += GBM(1.0, (0.0, 1.0), (0.1, vol), (key, p))[-1, 0] ** 2
        return total / paths

    forward, reverse = (nd.grad(mean, mode=m)(0.3, KEY, 20) for m in ("forward", "reverse"))
    h = 1e-6
    slope = (mean(0.3 + h, KEY, 20) - mean(0.3 - h, KEY, 20)) / (2.0 * h)
    assert forward == pytest.approx(slope, rel=1e-7)
    assert reverse == pytest.approx(forward, rel=1e-12)


# -- structures ----------------------------------------------------------------------------------------


@njit
def _pair_drift(t, y, k, s):
    return -k * y[0] + y[1], -k * y[1]


@njit
def _pair_diffusion(t, y, k, s):
    return s * y[0], 0.5 * s * y[1]


@njit
def _pair_matrix(t, y, k, s):
    return (s * y[0], 0.0), (0.0, 0.5 * s * y[1])


@njit
def _array_drift(t, y, k, s):
    return np.array([-k * y[0] + y[1], -k * y[1]])


@njit
def _array_diffusion(t, y, k, s):
    return np.array([s * y[0], 0.5 * s * y[1]])


@njit
def _array_matrix(t, y, k, s):
    out = np.zeros((2, 2))
    out[0, 0], out[1, 1] = s * y[0], 0.5 * s * y[1]
    return out


_TIMES = 0.0, 0.33, 1.0
_ARGS = 0.5, 0.3


@pytest.mark.dear
@pytest.mark.parametrize(
    "method",
    [
        "EulerHeun",
        pytest.param("Heun", marks=pytest.mark.deep),
        pytest.param("SlowRK", marks=pytest.mark.deep),
    ],
)
def test_tuples_arrays_and_matrices_agree(method):
    """A diagonal diffusion written in four ways; a Stratonovich method has its drift corrected in each."""
    Pair = namedtuple("Pair", "a b")
    options = {"method": method, "dt": 0.05}
    tuples = nd.sde.solver(_pair_drift, _pair_diffusion, **options)
    expected = tuples((1.0, 2.0), _TIMES, _ARGS, KEY)
    assert (tuples(Pair(1.0, 2.0), np.array(_TIMES), _ARGS, KEY) == expected).all()
    others = [
        ((_array_drift, _array_matrix), "general", np.array([1.0, 2.0])),
        ((_array_drift, _array_diffusion), "diagonal", np.array([1.0, 2.0])),
        ((_pair_drift, _pair_matrix), "general", (1.0, 2.0)),
    ]
    for functions, noise, y0 in others[:1] if method == "EulerHeun" else others:
        ys = nd.sde.solver(*functions, noise=noise, **options)(y0, _TIMES, _ARGS, KEY)
        np.testing.assert_allclose(ys, expected, rtol=1e-13)


@pytest.mark.parametrize("y0", [(1.0, 2.0), np.array([1.0, 2.0])], ids=["tuple", "array"])
@pytest.mark.parametrize("noise", ["scalar", "general"])
@pytest.mark.deep
def test_derivatives_by_the_state(noise, y0):
    is_array = isinstance(y0, np.ndarray)
    diffusions = {
        (False, "general"): _pair_matrix,
        (True, "general"): _array_matrix,
    }
    diffusion = diffusions.get((is_array, noise), _array_diffusion if is_array else _pair_diffusion)
    solve = nd.sde.solver(
        _array_drift if is_array else _pair_drift, diffusion, noise=noise, dt=0.125, method="Heun"
    )
    nd.check_grads(lambda y: (solve(y, (0.0, 1.0), _ARGS, KEY)[-1] ** 2).sum(), (y0,), order=1)


@pytest.mark.dear
def test_conversion_between_the_calculi():
    """An equation of either calculus tends to one solution by methods of both."""

    def corrected(t, y, mu, vol):
        return mu * y - 0.5 * vol**2 * y

    ito = {"calculus": "ito", "dt": 2.0**-8}
    stratonovich = {"calculus": "stratonovich", "dt": 2.0**-8}
    found = [
        nd.sde.solver(drift, _diffusion, method=method, **options)(
            1.0, (0.0, 1.0), (0.2, 0.4), KEY
        )[-1, 0]
        for drift, method, options in (
            (_drift, "SRIW1", ito),
            (_drift, "SlowRK", ito),
            (corrected, "SRIW1", stratonovich),
            (corrected, "Milstein", stratonovich),
            (corrected, "RKMil", stratonovich),
        )
    ]
    np.testing.assert_allclose(found[1:], found[0], rtol=2e-3)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-12)  # twice corrected: the same drift


def test_given_increments():
    w = np.array([0.3, -0.1, 0.2, 0.4])
    ends = W(0.0, np.array([0.0, 0.5, 1.0]), (), w)[:, 0]
    np.testing.assert_allclose(ends, [0.0, 0.2, 0.8])
    slope = nd.grad(lambda w: GBM_OF_FOUR(1.0, (0.0, 1.0), (0.0, 0.2), w)[-1, 0], mode="reverse")(w)
    end = np.prod(1.0 + 0.2 * w)
    np.testing.assert_allclose(slope, 0.2 * end / (1.0 + 0.2 * w))


GBM_OF_FOUR = nd.sde.solver(_drift, _diffusion, dt=0.25)


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_rules_of_drift_and_diffusion(mode):
    """One step of Euler: y + (-a + b z) h. The rules claim seven times the slopes by a and by b."""

    @njit(inline="always")
    def drift(t, y, a, b):
        return -a

    @njit(inline="always")
    def diffusion(t, y, a, b):
        return b

    nd.scalar_rule(drift, lambda ans, t, y, a, b: (0.0, 0.0, -7.0, 0.0))
    nd.scalar_rule(diffusion, lambda ans, t, y, a, b: (0.0, 0.0, 0.0, 7.0))
    solve = nd.sde.solver(drift, diffusion, dt=0.25)

    def end(a, b):
        return solve(2.0, (0.0, 0.25), (a, b), KEY)[-1, 0]

    value, (by_a, by_b) = nd.value_and_grad(end, (0, 1), mode=mode)(1.5, 0.5)
    increment = (value - 2.0 + 1.5 * 0.25) / 0.5
    assert (by_a, by_b) == pytest.approx((-7.0 * 0.25, 7.0 * increment), rel=1e-12)


def test_a_missing_key_is_told():
    with pytest.raises(nd.ArgumentError, match=r"the key .* is missing: .*nd\.random\.key\(seed\)"):
        GBM(1.0, (0.0, 1.0), (0.1, 0.2))
    assert GBM(1.0, (0.0, 1.0), (0.1, 0.2), key=KEY).shape == (2, 1)
