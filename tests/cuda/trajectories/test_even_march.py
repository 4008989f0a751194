"""Steps of one size on the GPU: the kernels run on the CPU, against the solvers themselves."""

import math
import re

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device

from .test_ensemble_call import END


def forced(t, y, rate):
    return (rate * y[0] + math.sin(3.0 * t),)


EVEN = {"method": "RK4", "first_step": 0.013}


@pytest.mark.parametrize("ts", [(0.0, 1.0), (1.0, -0.3), (0.0, 0.01), (2.0, 2.013)])
@pytest.mark.parametrize("longest", [math.inf, 0.004])
def test_even_steps_are_those_of_the_solver(ts, longest):
    solve = nd.ode.solver(forced, max_step=longest, **EVEN)
    rates = np.linspace(-1.0, 1.0, 3)
    found = device.ensemble(solve, (0.4,), ts, (rates,))
    expected = [solve((0.4,), ts, (rate,)) for rate in rates]
    np.testing.assert_allclose(found.ys, expected, rtol=1e-13)


def test_an_even_step_that_fails_is_found():
    solve = nd.ode.solver(lambda t, y: (y[0] * y[0],), **EVEN)
    with pytest.raises(nd.IntegrationError) as on_cpu:
        solve((3.0,), END)
    place = re.search(r"t = [\d.]+", str(on_cpu.value))[0]
    with pytest.warns(nd.NumbadWarning, match=f"1 of 3.*number 1: .*{re.escape(place)}"):
        found = device.ensemble(solve, np.array([[0.5], [3.0], [0.1]]), END)
    assert np.isnan(found.ys[1, 1, 0])
    np.testing.assert_allclose(found.ys[[0, 2], 1, 0], [1.0, 1.0 / 9.0], rtol=1e-8)


def test_too_many_even_steps():
    solve = nd.ode.solver(forced, max_steps=76, **EVEN)  # 76.92 are needed
    with pytest.raises(nd.IntegrationError, match="max_steps"):
        device.ensemble(solve, (0.4,), END, (1.0,))
    enough = nd.ode.solver(forced, max_steps=77, **EVEN)
    assert device.ensemble(enough, (0.4,), END, (1.0,)).status.tolist() == [0]
