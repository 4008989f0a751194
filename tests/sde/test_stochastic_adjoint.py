"""The rate at which the stochastic adjoint converges, and what it refuses."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(7)


@njit
def _pull(t, y, k, s, h):
    """Of time in units of steps, so that one solver serves all sizes `h` of steps."""
    return h * k * (math.cos(h * t) - y)


@njit
def _wave(t, y, k, s, h):
    return math.sqrt(h) * (0.5 + s * math.sin(y))


def _gradient(**options):
    solve = nd.sde.solver(_pull, _wave, method="Heun", dt=1.0, **options)

    @njit
    def f(y0, k, s, h, key):
        steps = round(1.0 / h)
        ys = solve(y0, (0.0, 0.5 * steps, 1.0 * steps), (k, s, h), key)
        return ys[1, 0] ** 2 + ys[2, 0]

    return nd.value_and_grad(f, (0, 1, 2), mode="reverse")


AT = 0.4, 1.3, 0.7
EXACT = _gradient()


def _differences(found, h, paths=30):
    """Root mean square distances of the derivatives of paths, relative; the values are the same."""
    errors, sizes = np.zeros(3), np.zeros(3)
    for path in range(paths):
        key = nd.random.fold_in(KEY, path)
        value, slopes = EXACT(*AT, h, key)
        other, others = found(*AT, h, key)
        assert other == value
        errors += (np.array(others) - slopes) ** 2
        sizes += np.square(slopes)
    return np.sqrt(errors / sizes)


@pytest.mark.dear
def test_the_stochastic_adjoint_converges_to_the_derivatives_of_paths():
    """With order 1, as the noise commutes; the equation is Ito's, and corrected."""
    found = _gradient(adjoint="stochastic")
    levels = 4, 6, 8
    errors = [_differences(found, 2.0**-level).max() for level in levels]
    assert np.polyfit(levels, -np.log2(errors), 1)[0] > 0.85
    assert 1e-6 < errors[-1] < 1e-2  # close, and not the same


@pytest.mark.deep
def test_second_derivatives_are_those_of_the_steps():
    """The derivative of what reverse mode gives comes of the discrete adjoint, which is exact."""
    found = []
    for options in ({}, {"adjoint": "stochastic"}):
        solve = nd.sde.solver(
            _pull, _wave, method="Heun", calculus="stratonovich", dt=1.0, **options
        )
        end = njit(lambda s, key, solve=solve: solve(0.4, (0.0, 9.0), (1.3, s, 0.1), key)[-1, 0])
        found.append(nd.derivative(nd.grad(end, mode="reverse"))(0.7, KEY))
    assert found[1] == pytest.approx(found[0], rel=1e-12)


def test_what_is_refused():
    solve = nd.sde.solver(_pull, _wave, dt=1.0, adjoint="stochastic")
    with pytest.raises(nd.UnsupportedError, match="'stochastic' gives no derivatives by given"):
        nd.grad(lambda w: solve(0.3, (0.0, 2.0), AT, w)[-1, 0], mode="reverse")(np.ones(2))
    with pytest.raises(nd.ArgumentError, match="adjoint='stochastic' is for single paths"):
        nd.sde.ensemble(solve, 0.3, (0.0, 1.0), AT, KEY, 10)
    with pytest.raises(nd.ArgumentError, match="checkpoints belong to adjoint='discrete'"):
        nd.sde.solver(_pull, _wave, dt=1.0, adjoint="forward", checkpoints=3)
