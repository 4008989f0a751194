"""What is asked for of adaptive steps, and what is refused."""

import numpy as np
import pytest

import numbad as nd

from .test_adaptive_loop import ENDS, GBM, KEY, LAST, _growth, _shaken, _still


@pytest.mark.dear
def test_largest_and_first_steps():
    solve = nd.sde.solver(
        _growth, _shaken, method="SRIW1", rtol=0.5, first_step=0.25, max_step=0.25
    )
    steps = nd.sde.taken_steps(solve, 1.0, (-0.3, 0.0, 4.0), (0.01, 0.01), KEY)
    assert steps.h.max() <= 0.25
    assert steps.accepted < 30
    across = nd.sde.solver(_growth, _shaken, method="SRIW1", rtol=0.5)
    steps = nd.sde.taken_steps(across, 1.0, (-0.3, 50.0), (0.01, 0.01), KEY)
    assert steps.h.max() > 2.0  # over several cells
    w, areas = nd.sde.brownian_increments(KEY, np.append(steps.t, 50.0))
    np.testing.assert_allclose(steps.w[:, 0], w, atol=1e-12)
    np.testing.assert_allclose(steps.areas[:, 0], areas, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"method": "EulerMaruyama"},
            "'EulerMaruyama' has no error estimate .* have one: Milstein",
        ),
        ({"method": "RI1"}, "method 'RI1' has no error estimate"),
        ({"method": "Heun", "rtol": -1.0}, "rtol must be a float, or one for each component"),
        ({"method": "Heun", "rtol": 0.0, "atol": 0.0}, "must not both be zero"),
        ({"method": "Heun", "rtol": [1.0, 1.0], "atol": [1.0] * 3}, "same number of components"),
        ({"method": "Heun", "max_step": -1.0}, "max_step must be a positive float"),
        ({"method": "Heun", "max_steps": 0.5}, "max_steps must be a positive int"),
        ({"method": "Heun", "rtol": None, "dt": 0.1, "max_step": 1.0}, "max_step is for adaptive"),
        ({"method": "Heun", "dt": -1.0}, "dt must be positive"),
    ],
)
def test_options(options, told):
    with pytest.raises(nd.ArgumentError, match=told):
        nd.sde.solver(_growth, _shaken, **{"rtol": 1e-2, **options})


def test_what_is_for_steps_of_one_size():
    with pytest.raises(nd.ArgumentError, match="adaptive steps draw the path of a key"):
        GBM(1.0, ENDS, (0.3, 0.8), np.zeros(4))
    with pytest.raises(nd.ArgumentError, match="multilevel takes solvers with steps of one size"):
        nd.sde.multilevel(GBM, 1.0, ENDS, (0.3, 0.8), KEY, reduce=LAST, tolerance=0.1)
    euler = nd.sde.solver(_still, lambda t, y: 1.0, noise="additive", rtol=1e-2)
    with pytest.raises(nd.ArgumentError, match="likelihood_ratio' is for steps of one size"):
        nd.sde.ensemble(euler, 0.0, ENDS, (), KEY, 4, reduce=LAST, estimator="likelihood_ratio")
    even = nd.sde.solver(_growth, _shaken, dt=0.1)
    with pytest.raises(nd.ArgumentError, match="taken_steps takes a solver with adaptive steps"):
        nd.sde.taken_steps(even, 1.0, ENDS, (0.3, 0.8), KEY)
