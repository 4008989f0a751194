"""Ensembles over the workers of an executor, which have a GPU each: here one, and what travels is pickled."""

import pickle
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device
from tests.cuda.trajectories.test_sde_march import KEY, brownian_solver
from tests.cuda.twin_device import Resident

COUNT = 70
STARTS = np.linspace(0.5, 2.0, COUNT)
TIMES, ARGS = (0.0, 0.5, 1.0), (np.linspace(0.0, 0.2, COUNT), 0.4)


class Elsewhere(Executor):
    """Runs what is submitted at once; all of it is pickled on its way, and so is what comes back."""

    def __init__(self):
        self.sizes = []

    def submit(self, work, *given):
        future, parcel = Future(), pickle.dumps((work, given))
        self.sizes.append(len(parcel))
        there, arrived = pickle.loads(parcel)
        try:
            future.set_result(pickle.loads(pickle.dumps(there(*arrived))))
        except Exception as error:
            future.set_exception(error)
        return future


def payoff(ys):
    return max(ys[-1, 0] - 1.0, 0.0), ys[1, 0]


@pytest.mark.deep(but=["payoff"])
@pytest.mark.parametrize("reduce", [None, "mean", payoff])
def test_shares_are_the_whole(reduce):
    solve, executor = brownian_solver("EulerMaruyama", 0.25), Elsewhere()
    given = solve, STARTS, TIMES, ARGS, KEY
    options = {"derivatives": 1, "reduce": reduce}
    whole = device.ensemble(*given, **options)
    found = device.ensemble(*given, **options, executor=executor, block=32)
    assert len(executor.sizes) == 3
    assert type(found) is type(whole)
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.deep
def test_threads_and_keys_of_each():
    """Each path has its own key: no share counts paths."""
    solve, keys = brownian_solver("EulerMaruyama", 0.25), nd.random.split(KEY, COUNT)
    whole = device.ensemble(solve, STARTS, TIMES, ARGS, keys)
    with ThreadPoolExecutor(1) as pool:
        found = device.ensemble(solve, STARTS, TIMES, ARGS, keys, executor=pool)
    np.testing.assert_array_equal(found.ys, whole.ys)


def logistic(t, y):
    return y * y


def test_failures_have_the_numbers_of_all():
    y0s = np.full(COUNT, 0.5)
    y0s[[40, 66]] = 1.6, 3.0
    solve = nd.ode.solver(logistic, max_steps=2000)
    with pytest.warns(nd.NumbadWarning, match=r"2 of 70.*first is number 40: .* at t = 0\.62"):
        found = device.ensemble(solve, y0s, (0.0, 1.0), executor=Elsewhere(), block=32)
    assert np.flatnonzero(found.status).tolist() == [40, 66]


@pytest.mark.parametrize(
    ("starts", "reduce"), [(STARTS, device.quantiles(0.5)), (Resident(STARTS), None)]
)
def test_what_does_not_go_in_shares_is_refused(starts, reduce):
    solve = brownian_solver("EulerMaruyama", 0.25)
    with pytest.raises(nd.ArgumentError, match="executor= takes NumPy arrays, and no quantiles"):
        device.ensemble(solve, starts, TIMES, ARGS, KEY, reduce=reduce, executor=Elsewhere())


def test_what_a_worker_raises_is_raised():
    solve = nd.ode.solver(logistic)
    with pytest.raises(nd.DataError, match="increase"):
        device.ensemble(solve, STARTS, (0.0, 1.0, 1.0), executor=Elsewhere())
