"""Ensembles of functions that write intermediate results to arrays among their arguments."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY, TS, Y0 = nd.random.key(3), (0.0, 1.0), (1.3, 1.0)


@njit
def drift(t, y, a, work):
    for i in range(work.size):
        work[i] = -a * y[i % 2]
    total = 0.0
    for i in range(work.size - 1, -1, -1):
        total += math.sin(work[i] + i)
    return work[0] + 0.1 * work[1] + 0.1 * total, work[1]


@njit
def diffusion(t, y, a, work):
    for i in range(work.size):
        work[i] = y[i % 2] * (1 + i)
    return 0.1 * a * work[2] / 3, 0.2


@njit
def plain_drift(t, y, a, work):
    total = 0.0
    for i in range(work.size - 1, -1, -1):
        total += math.sin(-a * y[i % 2] + i)
    return -a * y[0] - 0.1 * a * y[1] + 0.1 * total, -a * y[1]


@njit
def plain_diffusion(t, y, a, work):
    return 0.1 * a * y[0], 0.2


@njit
def remembering(t, y, a, work):
    work[0] += 1.0
    work[1] = 0.9 * work[1] + 0.1 * a * y[0]
    return -a * y[0] * (1.0 + 0.01 * work[0]) - work[1], -a * y[1]


@njit
def product(ys):
    return ys[-1, 0] * ys[-1, 1]


def _solver(writes, adaptive=False):
    functions = (drift, diffusion) if writes else (plain_drift, plain_diffusion)
    if adaptive:
        return nd.sde.solver(*functions, method="SRIW1", dt=0.05, rtol=1e-3, atol=1e-4)
    return nd.sde.solver(*functions, method="EulerMaruyama", dt=0.05)


def _mean(kind, writes):
    solve = _solver(writes, kind == "adaptive")
    if kind == "antithetic":

        def mean(a, y, work):
            given = solve, (y, 1.0), TS, (a, work), KEY, 16
            return nd.sde.ensemble(*given, reduce=product, antithetic=True).mean
    elif kind == "likelihood_ratio":

        def mean(a, y, work):
            given = solve, (y, 1.0), TS, (a, work), KEY, 16
            return nd.sde.ensemble(*given, reduce=product, estimator="likelihood_ratio").mean
    elif kind == "multilevel":

        def mean(a, y, work):
            levels = nd.sde.multilevel(
                solve, (y, 1.0), TS, (a, work), KEY, reduce=product, paths=(16, 8)
            )
            return levels.mean
    else:

        def mean(a, y, work):
            return nd.sde.ensemble(solve, (y, 1.0), TS, (a, work), KEY, 16, reduce=product).mean

    return njit(mean)


@pytest.mark.deep(but=["likelihood_ratio-forward"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    "kind", ["even", "antithetic", "likelihood_ratio", "multilevel", "adaptive"]
)
def test_derivatives_are_those_without_the_arrays(kind, mode):
    work = np.zeros(8)
    given = 0.7, 1.3, work
    value, slopes = nd.value_and_grad(_mean(kind, True), (0, 1), mode=mode)(*given)
    known = nd.value_and_grad(_mean(kind, False), (0, 1), mode=mode)(*given)
    assert value == pytest.approx(known[0], rel=1e-13)
    assert slopes == pytest.approx(known[1], rel=1e-11)
    assert not work.any()


@pytest.mark.dear
def test_threads_have_arrays_of_their_own():
    given = _solver(True), Y0, TS, (0.7, np.zeros(40)), KEY, 20_000
    alone = nd.sde.ensemble(*given, reduce=product)
    for _ in range(3):
        assert nd.sde.ensemble(*given, reduce=product, executor=2) == alone
    level = dict(reduce=product, paths=(20_000, 9000))
    alone = nd.sde.multilevel(*given[:-1], **level).mean
    assert nd.sde.multilevel(*given[:-1], **level, executor=2).mean == alone


def test_each_path_begins_with_the_arrays_as_they_are_given():
    solve = nd.sde.solver(remembering, plain_diffusion, method="EulerMaruyama", dt=0.1)
    start = np.array([2.0, 0.5])
    found = nd.sde.ensemble(solve, Y0, TS, (0.7, start), KEY, 3)
    for p in range(3):
        path = solve(Y0, TS, (0.7, start.copy()), (KEY, p))
        np.testing.assert_array_equal(found[p], path)
    np.testing.assert_array_equal(start, [2.0, 0.5])


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_adaptive_steps_ask_what_an_earlier_call_has_left(mode):
    options = dict(method="SRIW1", dt=0.05, rtol=1e-3, atol=1e-4)
    solve = nd.sde.solver(remembering, plain_diffusion, **options)

    @njit
    def end(a, work):
        return product(solve(Y0, TS, (a, work), KEY))

    assert math.isfinite(end(0.7, np.zeros(2)))
    with pytest.raises(
        nd.ModelError, match="the drift .* The derivative of adaptive steps calls it"
    ):
        nd.grad(end, mode=mode)(0.7, np.zeros(2))


def two_drift(t, y, work, same):
    work[0] += 0.1
    return -same[0] * y[0]


def test_an_array_that_another_argument_shares_is_refused():
    solve = nd.sde.solver(two_drift, lambda t, y, work, same: 0.1 * y[0], dt=0.25)
    work = np.array([1.0, 2.0])
    apart = nd.sde.ensemble(solve, (1.0,), TS, (work, work.copy()), KEY, 4)
    assert apart.shape == (4, 2, 1)
    for given in ((work, work), (work, work[::-1])):
        with pytest.raises(nd.ArgumentError, match="shares memory with another one there"):
            nd.sde.ensemble(solve, (1.0,), TS, given, KEY, 4)
    last = njit(lambda ys: ys[-1, 0])
    with pytest.raises(nd.ArgumentError, match="shares memory with another one there"):
        nd.sde.multilevel(solve, (1.0,), TS, (work, work), KEY, reduce=last, paths=(4, 4))
    np.testing.assert_array_equal(work, [1.0, 2.0])


def test_a_single_path_has_no_standard_error():
    found = nd.sde.ensemble(_solver(False), Y0, TS, (0.7, np.zeros(2)), KEY, 1, reduce=product)
    assert math.isnan(found.error)
    assert found.paths == 1
