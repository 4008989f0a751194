"""Reversible Heun's adjoint beside the others, its memory, what it refuses."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(3)
TIMES = 0.0, 0.33, 1.0, 2.5  # one of them within a cell


@njit
def _drift(t, y, k, s):
    return -k * y[0] + math.sin(y[1]) * t, -k * y[1]


@njit
def _matrix(t, y, k, s):
    return (s * math.cos(y[0]), 0.1 * y[1], 0.0), (0.2 * y[0], 0.5 * s * y[1], s)


@njit
def _array_drift(t, y, k, s):
    return np.array([-k[0] * y[0] + math.sin(y[1]) * t, -k[1] * y[1]])


@njit
def _array_diffusion(t, y, k, s):
    return np.array([s * math.cos(y[0]), 0.5 * s * y[1]])


@njit
def _array_matrix(t, y, k, s):
    out = np.zeros((2, 3))
    out[0, 0], out[0, 1] = s * math.cos(y[0]), 0.1 * y[1]
    out[1, 0], out[1, 1], out[1, 2] = 0.2 * y[0], 0.5 * s * y[1], s
    return out


def _gradients(drift, diffusion, noise, y0, k, ways):
    """Gradients of a function of the path at all outputs, by each of the ways."""

    def gradient(mode, options):
        solve = nd.sde.solver(
            drift, diffusion, method="ReversibleHeun", noise=noise, dt=0.01, **options
        )

        @njit
        def f(y0, k, s, key):
            ys = solve(y0, TIMES, (k, s), key)
            return (ys**2).sum() + ys[1, 0]

        value, slopes = nd.value_and_grad(f, (0, 1, 2), mode=mode)(y0, k, 0.3, KEY)
        return np.concatenate([np.ravel(x) for x in (value, *slopes)])

    return [gradient(mode, options) for mode, options in ways]


_FORWARD = [("reverse", {"adjoint": "forward"})]
_WAYS = [
    ("forward", {}),
    ("reverse", {"adjoint": "discrete"}),
    ("reverse", {"checkpoints": 3}),
    ("reverse", {"adjoint": "reversible"}),
]


@pytest.mark.dear
def test_all_adjoints_agree():
    found = _gradients(_drift, _matrix, "general", (1.0, 0.5), 0.7, _WAYS)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-12)
        assert other[0] == found[0][0]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("diffusion", "noise"), [(_array_diffusion, "diagonal"), (_array_matrix, "general")]
)
def test_all_adjoints_agree_for_arrays(diffusion, noise):
    at = np.array([1.0, 0.5]), np.array([0.7, 0.6])
    found = _gradients(_array_drift, diffusion, noise, *at, _WAYS + _FORWARD)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-12)


# -- one number: long paths, what surrounds a solver -----------------------------------------------------


@njit
def _pull(t, y, k):
    return k * (1.0 - y)


@njit
def _wave(t, y, k):
    return 0.5 + 0.2 * math.sin(y)


def _solver(**options):
    """For k t of 10 at most: the difference of the two states grows like exp(k t)."""
    return nd.sde.solver(
        _pull, _wave, method="ReversibleHeun", calculus="stratonovich", dt=0.01, **options
    )


def _end_of(solve):
    @njit
    def end(y0, k, stop, key):
        return solve(y0, (0.0, stop), (k,), key)[-1, 0]

    return end


ENDS = {name: _end_of(_solver(adjoint=name)) for name in ("discrete", "reversible")}


def _peak(call):
    """By how much a call raises the memory of the process, in MiB, at its highest."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")

    def read(name):
        return int(re.search(rf"{name}:\s+(\d+) kB", status.read_text())[1]) / 1024.0

    reset.write_text("5")
    before = read("VmRSS")
    call()
    return read("VmHWM") - before


@pytest.mark.dear
def test_memory_does_not_grow_with_steps():
    """At 10^6 steps, where keeping them takes 46 MiB."""
    peaks = {}
    for name, end in ENDS.items():
        slope = nd.grad(end, (0, 1), mode="reverse")
        slope(0.3, 0.5, 1.0, KEY)
        peaks[name] = _peak(lambda slope=slope: slope(0.3, 1e-3, 10_000.0, KEY))
    assert peaks["reversible"] < 2.0
    assert peaks["discrete"] > 20.0


def test_a_long_path():
    """10^5 steps, kept and taken back."""
    kept, taken_back = (
        nd.value_and_grad(ENDS[name], (0, 1), mode="reverse")(0.3, 1e-3, 1000.0, KEY)
        for name in ("discrete", "reversible")
    )
    assert taken_back[0] == kept[0]
    np.testing.assert_allclose(taken_back[1], kept[1], rtol=1e-10)


@pytest.mark.deep
def test_second_derivatives():
    exact, found = (
        nd.derivative(nd.grad(ENDS[name], 1, mode="reverse"), 1)(0.3, 0.5, 1.0, KEY)
        for name in ("discrete", "reversible")
    )
    assert found == pytest.approx(exact, rel=1e-12)
    assert exact != 0.0


def test_one_output_time_is_the_initial_state():
    solve = _solver(adjoint="reversible")
    slope = nd.grad(lambda y0: solve(y0, (1.0,), (0.5,), KEY)[0, 0] ** 2, mode="reverse")
    assert slope(3.0) == 6.0


@pytest.mark.deep
def test_an_ensemble_takes_its_paths():
    solve = _solver()
    last = njit(lambda ys: ys[-1, 0])
    found = nd.sde.ensemble(solve, 0.3, (0.0, 1.0), (0.5,), KEY, 20, reduce=last)
    ends = [solve(0.3, (0.0, 1.0), (0.5,), (KEY, p))[-1, 0] for p in range(20)]
    assert found.mean == pytest.approx(np.mean(ends), rel=1e-14)


def test_what_is_refused():
    back = _solver(adjoint="reversible")
    with pytest.raises(
        nd.ArgumentError, match="method 'Heun' cannot.*'ReversibleHeun'.*checkpoints"
    ):
        nd.sde.solver(_pull, _wave, method="Heun", dt=0.1, adjoint="reversible")
    with pytest.raises(nd.ArgumentError, match="checkpoints belong to adjoint='discrete'"):
        _solver(adjoint="reversible", checkpoints=3)
    with pytest.raises(nd.ArgumentError, match="a positive int, not 0"):
        _solver(checkpoints=0)
    with pytest.raises(nd.ArgumentError, match="adjoint='reversible' is for single paths"):
        nd.sde.ensemble(back, 0.3, (0.0, 1.0), (0.5,), KEY, 10)
    with pytest.raises(nd.UnsupportedError, match="not differentiable by ts"):
        nd.grad(lambda s: back(0.3, (0.0, s), (0.5,), KEY)[-1, 0], mode="reverse")(1.0)
    with pytest.raises(nd.UnsupportedError, match="no derivatives by given increments"):
        nd.grad(lambda w: back(0.3, (0.0, 0.02), (0.5,), w)[-1, 0], mode="reverse")(np.ones(2))
