"""Mixed mode beside the other adjoints and beside closed forms; what it is chosen for, what it refuses."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit, typeof

import numbad as nd

KEY = nd.random.key(11)
TIMES = 0.0, 0.333, 1.0  # one of them within a cell; more steps between than in a stretch
Weights = namedtuple("Weights", "inner outer offset")


@njit
def _network(t, y, w, s, count):
    total0, total1 = w.offset - y[0], -y[1]
    for i in range(w.inner.shape[0]):
        hidden = math.tanh(w.inner[i, 0] * y[0] + w.inner[i, 1] * y[1] + t)
        total0 += w.outer[0, i] * hidden
        total1 += w.outer[1, i] * hidden
    return total0, total1


@njit
def _noise(t, y, w, s, count):
    return s * math.cos(y[0]), s + w.offset * y[1] * count


_rng = np.random.default_rng(1)
AT = (0.4, -0.3), (Weights(_rng.normal(size=(3, 2)), _rng.normal(size=(2, 3)), 0.3), 0.2, 1)


def _solver(adjoint):
    options = {"method": "Heun", "calculus": "stratonovich", "dt": 0.002, "adjoint": adjoint}
    return nd.sde.solver(_network, _noise, **options)


SOLVERS = {name: _solver(name) for name in ("auto", "mixed")}


def _flat(found):
    if isinstance(found, tuple):
        return np.concatenate([_flat(part) for part in found])
    return np.ravel(found)


def _of_path(solve):
    @njit
    def f(y0, args):
        ys = solve(y0, TIMES, args, KEY)
        return ys[1, 0] * ys[2, 1] + ys[2, 0] + ys[0, 1] ** 3

    return f


@pytest.mark.dear
def test_gradients_are_those_of_the_other_adjoints():
    found = {
        name: nd.value_and_grad(_of_path(solve), (0, 1), mode="reverse")(*AT)
        for name, solve in SOLVERS.items()
    }
    for value, slopes in found.values():
        assert value == found["auto"][0]
        np.testing.assert_allclose(_flat(slopes), _flat(found["auto"][1]), rtol=1e-12)
    slopes = found["mixed"][1]
    assert isinstance(slopes[1][0], Weights)
    assert slopes[1][0].outer.shape == (2, 3)


@pytest.mark.dear
def test_jacobians_of_all_outputs_at_once():
    """The solver's own Jacobian, which "auto" takes for arrays; in compiled code as well."""
    expected = nd.jacobian(SOLVERS["auto"], (0, 2), mode="forward")(AT[0], TIMES, AT[1], KEY)
    at_once = nd.value_and_jacobian(SOLVERS["auto"], (0, 2))
    value, found = njit(lambda y0, args: at_once(y0, TIMES, args, KEY))(*AT)
    np.testing.assert_array_equal(value, SOLVERS["auto"](AT[0], TIMES, AT[1], KEY))
    np.testing.assert_array_equal(found[0][1][0], [0.0, 1.0])
    np.testing.assert_allclose(_flat(found), _flat(expected), rtol=1e-12, atol=1e-15)
    assert found[1][0].inner.shape == (3, 2, 3, 2)
    assert found[1][1].shape == (3, 2)


@pytest.mark.parametrize(
    ("mode", "wrt", "args", "told"),
    [
        ("auto", (2,), (np.ones(2),), True),
        ("auto", (0,), (np.ones(2),), False),
        ("auto", (2,), (1.0,) * 17, True),
        ("auto", (2,), (1.0,) * 16, False),
        ("reverse", (2,), (1.0,), True),
        ("auto", (2, 3), (np.ones(2),), False),
    ],
)
def test_what_is_chosen(mode, wrt, args, told):
    """By what the types tell; nothing is compiled."""
    from numbad.sde.mixed_adjoint import prefers_mixed

    tys = tuple(map(typeof, ((1.0, 2.0), TIMES, args, KEY)))
    problem = SOLVERS["auto"].origin[1][0]
    assert prefers_mixed(problem, tys, wrt, mode) is told
    arrays = (typeof(np.ones(2)), *tys[1:])
    assert not prefers_mixed(problem, arrays, wrt, mode)


@njit
def _pulled(t, y, rate, vol):
    return -rate * y


@njit
def _constant(t, y, rate, vol):
    return 0.0 * y + vol


@pytest.mark.deep(but=["*float*"])
@pytest.mark.parametrize("y0", [2.0, (2.0,), np.array([2.0])], ids=["float", "tuple", "array"])
def test_euler_maruyama_in_closed_form(y0):
    """y = (1 - rate h) y + vol w, step by step: the slopes by y0, by rate and by vol are sums of powers."""
    h, rate, vol, w = 0.125, 0.7, 0.3, np.random.default_rng(3).normal(size=(8, 1))
    one, more = (
        (_pulled, _constant)
        if not isinstance(y0, tuple)
        else (
            lambda t, y, rate, vol: (-rate * y[0],),
            lambda t, y, rate, vol: (vol,),
        )
    )
    solve = nd.sde.solver(one, more, noise="additive", dt=h, adjoint="mixed")
    by_start, by_args = nd.jacobian(solve, (0, 2))(y0, (0.0, 1.0), (rate, vol), w)
    keep, later = 1.0 - rate * h, np.arange(7, -1, -1)
    exact_vol = (keep**later * w[:, 0]).sum()
    exact_rate = -h * (
        8 * keep**7 * 2.0 + vol * (later * keep ** np.maximum(later - 1, 0) * w[:, 0]).sum()
    )
    assert _flat(by_start)[-1] == pytest.approx(keep**8, rel=1e-13)
    assert _flat(by_args[0])[-1] == pytest.approx(exact_rate, rel=1e-12)
    assert _flat(by_args[1])[-1] == pytest.approx(exact_vol, rel=1e-12)


@njit
def _array_drift(t, y, k, s):
    return np.array([-k[0] * y[0] + math.sin(y[1]) * t, -k[1] * y[1]])


@njit
def _array_matrix(t, y, k, s):
    out = np.zeros((2, 3))
    out[0, 0], out[0, 1] = s * math.cos(y[0]), 0.1 * y[1]
    out[1, 0], out[1, 1], out[1, 2] = 0.2 * y[0], 0.5 * s * y[1], s
    return out


@njit
def _tuple_drift(t, y, k, s):
    return -k[0] * y[0] + math.sin(y[1]) * t, -k[1] * y[1]


@njit
def _tuple_matrix(t, y, k, s):
    return (s * math.cos(y[0]), 0.1 * y[1]), (0.2 * y[0], 0.5 * s * y[1])


@njit
def _tuple_diagonal(t, y, k, s):
    return s * math.cos(y[0]), 0.5 * s * y[1]


_ARRAYS = _array_drift, _array_matrix, "general", np.array([1.0, 0.5])
_TUPLES = _tuple_drift, _tuple_matrix, "general", (1.0, 0.5)
_DIAGONAL = _tuple_drift, _tuple_diagonal, "diagonal", (1.0, 0.5)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("method", "problem"),
    [
        pytest.param(method, problem, id=f"{method}-{name}")
        for method, name, problem in (
            ("EulerMaruyama", "arrays", _ARRAYS),
            ("RKMilGeneral", "tuples", _TUPLES),
            ("ImplicitEM", "tuples", _TUPLES),
            ("DRI1", "tuples", _TUPLES),
            ("Milstein", "diagonal", _DIAGONAL),
            ("SRIW1", "diagonal", _DIAGONAL),
        )
    ],
)
def test_methods(method, problem):
    drift, diffusion, noise, y0 = problem
    at = y0, (np.array([0.5, 0.7]), 0.3)
    gradients = []
    for adjoint in ("discrete", "mixed"):
        solve = nd.sde.solver(
            drift, diffusion, method=method, noise=noise, dt=0.125, adjoint=adjoint
        )
        end = njit(lambda y0, args, solve=solve: (solve(y0, (0.0, 0.5, 1.0), args, KEY) ** 2).sum())
        gradients.append(_flat(nd.grad(end, (0, 1), mode="reverse")(*at)))
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-12)


@pytest.mark.deep
def test_second_derivatives_are_those_of_the_steps():
    found = []
    for adjoint in ("discrete", "mixed"):
        solve = nd.sde.solver(
            lambda t, y, s: -s * y**3,
            lambda t, y, s: s + 0.1 * y,
            method="Milstein",
            dt=0.1,
            adjoint=adjoint,
        )
        end = njit(lambda s, solve=solve: solve(0.4, (0.0, 0.9), (s,), KEY)[-1, 0])
        found.append(nd.derivative(nd.grad(end, mode="reverse"))(0.7))
    assert found[1] == pytest.approx(found[0], rel=1e-12)
    assert found[0] != 0.0


def test_what_is_refused():
    solve = SOLVERS["mixed"]
    with pytest.raises(
        nd.ArgumentError, match="'mixed' carries slopes.*'ReversibleHeun'.*'reversible'"
    ):
        nd.sde.solver(_network, _noise, method="ReversibleHeun", dt=0.1, adjoint="mixed")
    with pytest.raises(nd.ArgumentError, match="adjoint='mixed' is for single paths"):
        nd.sde.ensemble(solve, AT[0], TIMES, AT[1], KEY, 10)
    with pytest.raises(nd.ArgumentError, match="checkpoints belong to adjoint='discrete'"):
        nd.sde.solver(_network, _noise, dt=0.1, adjoint="mixed", checkpoints=3)
    with pytest.raises(nd.ArgumentError, match="adjoint='mixed' is for steps of one size"):
        nd.sde.solver(_network, _noise, method="SRIW1", rtol=1e-3, adjoint="mixed")
    with pytest.raises(nd.ArgumentError, match="adjoint='mixed' does not go with dense_output"):
        nd.sde.solver(_network, _noise, dt=0.1, adjoint="mixed", dense_output=True)
    jumps = nd.sde.jumps(1.0, lambda t, y, mark: y)
    with pytest.raises(nd.ArgumentError, match="'mixed' does not go back over jumps"):
        nd.sde.solver(_network, _noise, dt=0.1, adjoint="mixed", jumps=jumps)
    with pytest.raises(nd.UnsupportedError, match="not differentiable by ts"):
        nd.jacobian(solve, 1)(AT[0], np.array(TIMES), AT[1], KEY)
    with pytest.raises(nd.UnsupportedError, match="'mixed' gives no derivatives by given"):
        nd.jacobian(solve, 3)(AT[0], (0.0, 0.002), AT[1], np.ones((1, 2)))
