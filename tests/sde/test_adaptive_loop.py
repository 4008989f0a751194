"""Adaptive steps: errors by tolerance, no bias from rejections, derivatives, failures."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.sde.methods import METHODS
from numbad.sde.scheme import LangevinScheme
from numbad.sde.step_control import estimates_errors

from .problems import ADDITIVE, COMMUTATIVE, WAVE

KEY = nd.random.key(33)
ENDS = 0.0, 1.0


@njit
def _growth(t, y, mu, vol):
    return mu * y


@njit
def _shaken(t, y, mu, vol):
    return vol * y


GBM = nd.sde.solver(_growth, _shaken, method="SRIW1", rtol=1e-3)
LAST = njit(lambda ys: ys[-1, 0])


def _exact(equation, paths):
    """Its solutions at 1 on the paths of the key."""
    w = [
        [nd.sde.brownian_path((KEY, p), 1.0, channel=j) for j in range(equation.channels)]
        for p in range(paths)
    ]
    return equation.exact(equation.args, np.array(w))


def _solver(equation, method, **options):
    noise = {"noise": equation.noise, "calculus": equation.calculus}
    return nd.sde.solver(equation.drift, equation.diffusion, method=method, **noise, **options)


def _errors(equation, method, tolerances, paths):
    """Root mean square errors at time 1."""
    exact, found = _exact(equation, paths), []
    for tolerance in tolerances:
        solve = _solver(equation, method, rtol=tolerance, atol=tolerance)
        ends = [solve(equation.y0, ENDS, equation.args, (KEY, p))[-1, 0] for p in range(paths)]
        found.append(np.sqrt(np.mean((ends - exact) ** 2)))
    return found


# -- errors --------------------------------------------------------------------------------------------


def _cases():
    default = {"SRIW1-diagonal", "SOSRA-additive", "SPaRK-commutative", "RKMil-diagonal"}
    for equation, kind in (
        (WAVE, "diagonal"),
        (ADDITIVE, "additive"),
        (COMMUTATIVE, "commutative"),
    ):
        for name, scheme in METHODS.items():
            takes = equation.noise in scheme.noises and not isinstance(scheme, LangevinScheme)
            if takes and estimates_errors(scheme, equation.noise):
                id_ = f"{name}-{kind}"
                marks = () if id_ in default else pytest.mark.deep
                yield pytest.param(equation, name, id=id_, marks=marks)


# Their estimates are of the first power of the step: a smaller tolerance takes steps without number.
_STEEP = "Heun", "Midpoint", "Ralston", "GeneralShARK"


@pytest.mark.dear
@pytest.mark.parametrize(("equation", "method"), list(_cases()))
def test_errors_fall_with_the_tolerance(equation, method):
    tolerances = (1e-2, 1e-3, 1e-4) if method in _STEEP else (1e-3, 1e-4, 1e-5)
    errors = _errors(equation, method, tolerances, paths=60)
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert slope > 0.3, errors
    assert errors[-1] < 2e-3, errors


@njit
def _still(t, y):
    return 0.0


@njit
def _fading(t, y):
    return (0.1 + 10.0 * math.exp(-200.0 * t)) * y


def _faded(path, dt):
    """The solution for `_fading` at 1 from 1, whose exponent is an integral by dW, to the fourth digit."""
    times = np.concatenate([np.linspace(0.0, 0.1, 1201), np.linspace(0.1, 1.0, 201)[1:]])
    w, areas = nd.sde.brownian_increments((KEY, path), times, dt=dt)
    falling, h = np.exp(-100.0 * (times[1:] + times[:-1])), np.diff(times)
    total = ((0.1 + 10.0 * falling) * w + 2000.0 * falling * h * areas).sum()
    variance = 0.01 + 2.0 * 10.0 * 0.1 / 200.0 + 100.0 / 400.0
    return math.exp(total - 0.5 * variance)


@pytest.mark.deep
def test_adaptive_steps_beat_steps_of_one_size():
    """Noise that fades within a two-hundredth of the time, against the exact solution."""
    paths, size, errors, tried = 60, 2.0**-11, [], 0
    even = nd.sde.solver(_still, _fading, method="SRIW1", dt=size)
    chosen = nd.sde.solver(_still, _fading, method="SRIW1", rtol=1e-2)
    for solve, dt in ((even, size), (chosen, 1.0)):
        ends = [solve(1.0, ENDS, (), (KEY, p))[-1, 0] / _faded(p, dt) - 1.0 for p in range(paths)]
        errors.append(np.sqrt(np.mean(np.square(ends))))
    for p in range(paths):
        steps = nd.sde.taken_steps(chosen, 1.0, ENDS, (), (KEY, p))
        tried += steps.accepted + steps.rejected
    assert errors[1] < errors[0]  # 0.0026 and 0.0082 by 56 and 2048 steps
    assert tried / paths < 2.0**11 / 20.0


# -- the law of the paths ------------------------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize("method", ["SRIW1", "Milstein"])
def test_steps_are_parts_of_the_path_whatever_was_rejected(method):
    solve = nd.sde.solver(_growth, _shaken, method=method, rtol=1e-4, first_step=0.5)
    steps = nd.sde.taken_steps(solve, 1.0, (0.0, 0.3, 1.0), (0.3, 0.8), (KEY, 4))
    assert steps.rejected > 2
    assert len(steps.t) == steps.accepted * (2 if method == "Milstein" else 1)
    times = np.append(steps.t, 1.0)
    np.testing.assert_allclose(np.diff(times), steps.h, atol=1e-15)
    assert np.abs(times - 0.3).min() < 1e-15
    w, areas = nd.sde.brownian_increments((KEY, 4), times)
    np.testing.assert_allclose(steps.w[:, 0], w, atol=1e-12)
    np.testing.assert_allclose(steps.areas[:, 0], areas, atol=1e-12)


@njit
def _carried(t, y):
    return 0.0, y[0]


@njit
def _carrying(t, y):
    return 1.0, 0.0


@pytest.mark.deep
def test_rejections_leave_the_law_of_the_solution():
    """Integrals of a Brownian motion, whose steps are rejected where they are large: variance 1/3.

    It is 0.305, nine standard errors less, where areas are drawn again after a rejection.
    """
    solve = nd.sde.solver(
        _carried, _carrying, method="SRA1", noise="additive", rtol=0.0, atol=0.1, first_step=1.0
    )
    steps = [nd.sde.taken_steps(solve, (0.0, 0.0), ENDS, (), (KEY, p)) for p in range(50)]
    rejected = sum(s.rejected for s in steps)
    assert rejected > 0.5 * sum(s.accepted for s in steps) / 4.0
    square = njit(lambda ys: (ys[-1, 1] ** 2, ys[-1, 1]))
    found = nd.sde.ensemble(solve, (0.0, 0.0), ENDS, (), KEY, 20_000, reduce=square)
    assert abs(found.mean[0] - 1.0 / 3.0) < 3.0 * found.error[0]
    assert abs(found.mean[1]) < 3.0 * found.error[1]


@pytest.mark.dear
def test_means_are_unbiased():
    found = nd.sde.ensemble(GBM, 1.0, ENDS, (0.3, 0.8), KEY, 4000, reduce=LAST)
    assert abs(found.mean - math.exp(0.3)) < 3.0 * found.error
    assert (found.paths, found.failed) == (4000, -1)


# -- derivatives ---------------------------------------------------------------------------------------


@njit
def _gbm_end(y0, mu, vol, path):
    return GBM(y0, (0.0, 0.4, 1.0), (mu, vol), path)[-1, 0]


@pytest.mark.dear
def test_derivatives_in_both_modes():
    at = 1.3, 0.3, 0.8, (KEY, 2)
    forward, reverse = (nd.grad(_gbm_end, (0, 1, 2), mode=m)(*at) for m in ("forward", "reverse"))
    np.testing.assert_allclose(forward, reverse, rtol=1e-10)
    w = nd.sde.brownian_path((KEY, 2), 1.0)
    end = 1.3 * math.exp(0.3 - 0.32 + 0.8 * w)
    np.testing.assert_allclose(forward, [end / 1.3, end, end * (w - 0.8)], rtol=1e-2, atol=5e-3)


@njit
def _pair(t, y, k, s):
    return -k * y[0] + y[1], -k * y[1]


@njit
def _pair_noise(t, y, k, s):
    return s * y[0], 0.5 * s * y[1]


@njit
def _array(t, y, k, s):
    return np.array([-k * y[0] + y[1], -k * y[1]])


@njit
def _array_noise(t, y, k, s):
    return np.array([s * y[0], 0.5 * s * y[1]])


@njit
def _array_matrix(t, y, k, s):
    out = np.zeros((2, 2))
    out[0, 0], out[1, 1] = s * y[0], 0.5 * s * y[1]
    return out


TOLERANT = {"method": "Heun", "rtol": 1e-2}
PAIR = nd.sde.solver(_pair, _pair_noise, **TOLERANT)
ARRAY = nd.sde.solver(_array, _array_noise, **TOLERANT)


@pytest.mark.deep
def test_tuples_and_arrays_take_the_same_steps():
    times = 0.0, 0.33, 1.0
    expected = PAIR((1.0, 2.0), times, (0.5, 0.3), KEY)
    found = ARRAY(np.array([1.0, 2.0]), times, (0.5, 0.3), KEY)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    by_component = nd.sde.solver(_array, _array_noise, method="Heun", rtol=[1e-2, 1e-2])
    assert (by_component(np.array([1.0, 2.0]), times, (0.5, 0.3), KEY) == found).all()
    with pytest.raises(nd.DataError, match="rtol and atol have 2 components"):
        by_component(np.ones(3)[:3], times, (0.5, 0.3), KEY)
    with pytest.raises(nd.ArgumentError, match="rtol and atol have 3 components, the state has 2"):
        nd.sde.solver(_pair, _pair_noise, method="Heun", rtol=[1e-2] * 3)(
            (1.0, 2.0), times, (0.5, 0.3), KEY
        )


@pytest.mark.dear
def test_matrices_in_arrays_keep_the_ends_of_rejected_steps():
    solve = nd.sde.solver(_array, _array_matrix, noise="general", method="SPaRK", rtol=1e-3)
    fine = nd.sde.solver(_array, _array_matrix, noise="general", method="SPaRK", rtol=1e-4)
    at = np.array([1.0, 2.0]), (0.0, 0.33, 1.0), (0.5, 0.3), KEY
    np.testing.assert_allclose(solve(*at), fine(*at), rtol=2e-2)
    nd.check_grads(
        lambda k, s: (solve(at[0], at[1], (k, s), KEY)[-1] ** 2).sum(),
        (0.5, 0.3),
        order=1,
        rtol=1e-2,
    )


@pytest.mark.deep
def test_gradients_by_arrays_and_of_ensembles():
    def end(y0, s):
        return (ARRAY(y0, ENDS, (0.5, s), KEY)[-1] ** 2).sum()

    at = np.array([1.0, 2.0]), 0.3
    forward, reverse = (nd.grad(end, (0, 1), mode=m)(*at) for m in ("forward", "reverse"))
    np.testing.assert_allclose(forward[0], reverse[0], rtol=1e-10)
    assert forward[1] == pytest.approx(reverse[1], rel=1e-10)

    def mean(vol):
        return nd.sde.ensemble(GBM, 1.3, (0.0, 0.4, 1.0), (0.3, vol), KEY, 3, reduce=LAST).mean

    slopes = [nd.derivative(_gbm_end, 2)(1.3, 0.3, 0.8, (KEY, p)) for p in range(3)]
    assert nd.grad(mean, mode="reverse")(0.8) == pytest.approx(np.mean(slopes), rel=1e-10)


@pytest.mark.deep
def test_second_derivatives():
    second = nd.derivative(nd.derivative(_gbm_end, 2), 2)(1.3, 0.3, 0.8, (KEY, 2))
    mixed = nd.derivative(nd.grad(_gbm_end, 2, mode="reverse"), 2)(1.3, 0.3, 0.8, (KEY, 2))
    w = nd.sde.brownian_path((KEY, 2), 1.0)
    end = 1.3 * math.exp(0.3 - 0.32 + 0.8 * w)
    assert second == pytest.approx(mixed, rel=1e-10)
    assert second == pytest.approx(end * ((w - 0.8) ** 2 - 1.0), rel=2e-2)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_by_times(mode):
    by_end = nd.grad(lambda end: GBM(1.0, np.array([0.0, end]), (0.3, 0.8), KEY)[-1, 0], mode=mode)
    with pytest.raises(nd.UnsupportedError, match="not differentiable by ts.*scale time"):
        by_end(1.0)


# -- threads, failures, options ------------------------------------------------------------------------


@pytest.mark.dear
def test_the_same_bits_in_threads_and_alone():
    given = GBM, 1.0, ENDS, (0.3, 0.8), KEY
    one = nd.sde.ensemble(*given, 300, reduce=LAST)
    assert nd.sde.ensemble(*given, 300, reduce=LAST, executor=3) == one
    every = nd.sde.ensemble(*given, 20)
    with ThreadPoolExecutor(4) as pool:
        alone = list(pool.map(lambda p: GBM(1.0, ENDS, (0.3, 0.8), (KEY, p)), range(20)))
    assert (every == np.array(alone)).all()


def test_antithetic_paths_mirror_the_increments():
    walk = nd.sde.solver(_still, lambda t, y: 1.0, method="SRA1", noise="additive", rtol=1e-2)
    every = nd.sde.ensemble(walk, 0.0, ENDS, (), KEY, 6, antithetic=True)[:, -1, 0]
    np.testing.assert_allclose(every[3:], -every[:3], atol=1e-14)
    w = [nd.sde.brownian_path((KEY, p), 1.0) for p in range(3)]
    np.testing.assert_allclose(every[:3], w, atol=1e-14)


@pytest.mark.deep
def test_a_path_that_fails_costs_that_path():
    @njit
    def drift(t, y, most):
        return math.sqrt(most - y)  # NaN above

    limits = {"noise": "additive", "method": "SRA1", "rtol": 1e-2}
    solve = nd.sde.solver(drift, lambda t, y, most: 1.0, **limits)
    with pytest.warns(nd.NumbadWarning, match="paths end in NaN or infinity") as told:
        found = nd.sde.ensemble(solve, 0.0, ENDS, (1.5,), KEY, 200, reduce=LAST)
    assert 0 < found.paths < 200
    assert f"the first is path {found.failed}" in str(told[0].message)
    message = rf"path {found.failed} of the key stops at t = 0\.\d+: .* NaN or infinity"
    with pytest.raises(nd.IntegrationError, match=message):
        solve(0.0, ENDS, (1.5,), (KEY, found.failed))
    steps = nd.sde.taken_steps(solve, 0.0, ENDS, (1.5,), (KEY, found.failed))
    assert 0.0 < steps.reached < 1.0
    every = nd.sde.ensemble(solve, 0.0, ENDS, (1.5,), KEY, 200)
    assert np.isnan(every[:, 1, 0]).sum() == 200 - found.paths


def test_times_that_are_counted_in_small_units_are_told():
    """Each cell of the path is drawn: at 1e9 of them a solution took 37 s, without a word."""
    solve = nd.sde.solver(_growth, _shaken, method="SRIW1", rtol=1e-3)
    with pytest.raises(
        nd.IntegrationError, match=r"stops at t = 0\.0: ts spans .* a dt about as long"
    ):
        solve(1.0, np.array([0.0, 1e11]), (1e-11, 1e-6), KEY)
    solve = nd.sde.solver(_growth, _shaken, method="SRIW1", rtol=1e-3, dt=1e9)
    assert np.isfinite(solve(1.0, np.array([0.0, 1e11]), (1e-11, 1e-6), KEY)).all()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_steps": 10}, r"path 0 of the key stops at t = 0\.\d+: more than max_steps steps"),
        ({"min_step": 1e-3, "rtol": 1e-6}, r"the step size falls below min_step"),
    ],
)
def test_steps_too_many_and_too_small(options, told):
    solve = nd.sde.solver(_growth, _shaken, method="SRIW1", **{"rtol": 1e-4, **options})
    with pytest.raises(nd.IntegrationError, match=told):
        solve(1.0, ENDS, (0.3, 0.8), KEY)
