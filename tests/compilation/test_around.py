"""Paths of stochastic equations: code around the model serves others."""

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.sde.brownian import increments
from tests.compilation.test_relinking import definitions

pytestmark = pytest.mark.usefixtures("nothing_kept")
KEY = nd.random.key(5)
TS = 0.0, 0.5, 0.97
ARGS = 0.3, 0.2


def linear(form):
    if form == "arrays":
        return numba.njit(lambda t, y, a, b: a * y), numba.njit(lambda t, y, a, b: b * y)
    drift = numba.njit(lambda t, y, a, b: (a * y[0], a * y[1]))
    return drift, numba.njit(lambda t, y, a, b: (b * y[0], b * y[1]))


def bounded(form):
    """Nothing that the other has: not linear, it reads the time, branches, calls, holds an array."""
    table = np.array([0.5, 0.25])

    @numba.njit
    def pull(t, y, a):
        return table[0] * a * np.cos(y) if t > 0.3 else table[1] - y

    @numba.njit
    def size(y, b):
        return b * np.sqrt(1.0 + y * y)

    if form == "arrays":

        def drift(t, y, a, b):
            out = np.empty_like(y)
            for i in range(len(y)):
                out[i] = pull(t, y[i], a)
            return out

        return numba.njit(drift), numba.njit(lambda t, y, a, b: size(y, b))

    drift = numba.njit(lambda t, y, a, b: (pull(t, y[0], a), pull(t, y[1], a)))
    return drift, numba.njit(lambda t, y, a, b: (size(y[0], b), size(y[1], b)))


def start(form):
    return np.array([1.0, 0.4]) if form == "arrays" else (1.0, 0.4)


def path(model, form, **options):
    solve = nd.sde.solver(*model, **({"dt": 0.01} | options))
    return solve(start(form), TS, ARGS, KEY)


def paths(model, form, reduce=None, **options):
    solve = nd.sde.solver(*model, **({"dt": 0.01} | options))
    found = nd.sde.ensemble(solve, start(form), TS, ARGS, KEY, 40, reduce=reduce)
    return found if reduce is None else np.concatenate((found.mean, found.error))


def check(do, form, came, names, **options):
    """`do` with a second model takes what was compiled for the first, and gives what it would without."""
    from numbad.compilation import template_cache

    do(linear(form), form, **options)
    came.clear()
    result = do(bounded(form), form, **options)
    taken = {name: text for how, name, text in came if how == "relinked"}
    assert names <= {name.rpartition(".")[2] for name in taken}
    assert not [name for how, name, _ in came if how == "afresh"]
    template_cache._templates.clear()
    came.clear()
    expected = do(bounded(form), form, **options)
    afresh = {name: text for how, name, text in came if how == "afresh"}
    for name, text in taken.items():
        assert definitions(text) == definitions(afresh[name])
    np.testing.assert_array_equal(result, expected)


METHODS = ["EulerMaruyama", "Milstein", "SRIW1", "Heun", "ReversibleHeun"]


@pytest.mark.dear
@pytest.mark.deep(but=["Milstein-tuples"])
@pytest.mark.parametrize("form", ["tuples", "arrays"])
@pytest.mark.parametrize("method", METHODS)
def test_paths(method, form, came):
    check(path, form, came, {"integrate", "solve"}, method=method)


@pytest.mark.dear
@pytest.mark.deep(but=["tuples"])
@pytest.mark.parametrize("form", ["tuples", "arrays"])
def test_adaptive_steps(form, came):
    check(path, form, came, {"step", "path", "solve"}, method="SOSRI", rtol=1e-3, dt=1.0)


@pytest.mark.dear
@pytest.mark.deep(but=["None-tuples"])
@pytest.mark.parametrize("form", ["tuples", "arrays"])
@pytest.mark.parametrize("reduce", [None, "mean"])
def test_ensembles(reduce, form, came):
    check(paths, form, came, {"ensemble"}, reduce=reduce)


@pytest.mark.dear
def test_a_diffusion_of_another_shape_is_compiled_for_itself(came):
    """The code of the callee is then another one, though that of the caller is not."""
    drift, _ = linear("tuples")
    options = {"noise": "general", "method": "EulerMaruyama"}

    narrow = numba.njit(lambda t, y, a, b: ((b,), (b,)))
    wide = numba.njit(lambda t, y, a, b: ((b, b), (b, b)))
    one, two = (path((drift, matrix), "tuples", **options) for matrix in (narrow, wide))
    solve = nd.sde.solver(drift, wide, dt=0.01, **options)
    w = np.zeros((97, 2))
    w[:, 0] = increments(KEY, 0, np.arange(97), np.tile([0.0, 1.0], (97, 1)), 0.01, 1, False)[0][
        :, 0
    ]
    np.testing.assert_array_equal(solve(start("tuples"), TS, ARGS, w), one)
    assert abs(two - one).max() > 1e-3


INLINED = pytest.mark.parametrize("inline", ["always", lambda expr, caller, callee: True])


@INLINED
def test_models_that_numba_would_inline_are_called(inline, came):
    def model(slope):
        drift = numba.njit(inline=inline)(lambda t, y: slope)
        return drift, numba.njit(inline=inline)(lambda t, y: 0.0)

    for slope in (1.0, 2.0):
        solve = nd.sde.solver(*model(slope), dt=0.25)
        assert solve(0.0, (0.0, 1.0), (), KEY)[-1, 0] == slope
    assert "relinked" in [how for how, name, _ in came if "integrate" in name]


@pytest.mark.dear
@INLINED
def test_inlined_functions_are_their_own(inline):
    """There is no call of them in the code around, for which another one's could stand."""
    solve = nd.sde.solver(lambda t, y: 1.0, lambda t, y: 0.0, dt=0.25)
    for factor in (1.0, 2.0):
        last = numba.njit(inline=inline)(lambda ys, factor=factor: factor * ys[-1, 0])
        found = nd.sde.ensemble(solve, 0.0, (0.0, 1.0), (), KEY, 4, reduce=last)
        assert found.mean == factor
