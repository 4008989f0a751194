"""Strong orders of Milstein's methods, against the closed form on the same Brownian path."""

import math

import numpy as np
import pytest

import numbad as nd

DRIFT, NOISE, KEY = 0.4, 0.6, nd.random.key(11)


def _error(method, calculus, dt):
    """The root mean square of the error at time 1, over 400 paths."""
    solve = nd.sde.solver(
        lambda t, y, m, s: m * y,
        lambda t, y, m, s: s * y,
        method=method,
        dt=dt,
        calculus=calculus,
    )
    rate = DRIFT - (0.5 * NOISE**2 if calculus == "ito" else 0.0)
    errors = []
    for p in range(400):
        end = solve(1.0, (0.0, 1.0), (DRIFT, NOISE), (KEY, p))[-1, 0]
        w = nd.sde.brownian_path((KEY, p), 1.0, dt)
        errors.append(end - math.exp(rate + NOISE * w))
    return np.sqrt(np.mean(np.square(errors)))


@pytest.mark.parametrize("calculus", ["ito", "stratonovich"])
@pytest.mark.parametrize("method", ["Milstein", "RKMil"])
def test_strong_order_is_one(method, calculus):
    coarse, fine = (_error(method, calculus, dt) for dt in (2.0**-4, 2.0**-9))
    assert 0.85 < math.log2(coarse / fine) / 5.0 < 1.2
