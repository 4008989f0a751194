"""Paths beside torchsde's, on the same increments, method by method; where torchsde is installed."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.sde.methods import METHODS

torchsde = pytest.importorskip("torchsde")

PAIRS = [
    ("EulerMaruyama", "euler", "ito"),
    ("Milstein", "milstein", "ito"),
    ("Milstein", "milstein", "stratonovich"),
    ("EulerHeun", "euler_heun", "stratonovich"),
    ("Heun", "heun", "stratonovich"),
    ("Midpoint", "midpoint", "stratonovich"),
    ("ReversibleHeun", "reversible_heun", "stratonovich"),
]
STEPS, H = 32, 1.0 / 32.0
START, RATE, VOL = (1.0, 0.4), 0.7, 0.3


@njit
def _drift(t, y, rate, vol):
    return rate * math.sin(y[1]) - 0.1 * t * y[0], -rate * y[1] * y[1]


@njit
def _diffusion(t, y, rate, vol):
    return vol * math.cos(y[0]), vol * y[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "theirs", "calculus"), PAIRS)
def test_paths_and_slopes_are_torchsdes(method, theirs, calculus):
    import torch

    w = math.sqrt(H) * np.random.default_rng(3).normal(size=(STEPS, 2))
    solve = nd.sde.solver(_drift, _diffusion, method=method, calculus=calculus, dt=H)
    needs_areas = METHODS[method].needs_areas

    def end(rate, vol, given):
        noise = (given, np.zeros_like(given)) if needs_areas else given
        return solve(START, (0.0, 1.0), (rate, vol), noise)[-1].sum()

    class Equations(torch.nn.Module):
        noise_type, sde_type = "diagonal", calculus

        def f(self, t, y):
            a, b = y[:, 0], y[:, 1]
            return torch.stack([rate * torch.sin(b) - 0.1 * t * a, -rate * b * b], 1)

        def g(self, t, y):
            return torch.stack([vol * torch.cos(y[:, 0]), vol * y[:, 1]], 1)

    class Given(torchsde.BaseBrownian):
        dtype, device, shape = torch.float64, torch.device("cpu"), (1, 2)
        levy_area_approximation = "none"

        def __repr__(self):
            return "Given()"

        def __call__(self, ta, tb=None, return_U=False, return_A=False):
            first, last = round(float(ta) / H), round(float(tb) / H)
            return torch.as_tensor(w[first:last].sum(0))[None]

    rate, vol = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (RATE, VOL))
    y0, ts = torch.tensor([START], dtype=torch.float64), torch.linspace(0.0, 1.0, 2)
    found = torchsde.sdeint(Equations(), y0, ts.double(), bm=Given(), method=theirs, dt=H)[-1].sum()
    found.backward()

    value, slopes = nd.value_and_grad(end, (0, 1))(RATE, VOL, w)
    assert value == pytest.approx(found.item(), rel=1e-12)
    np.testing.assert_allclose(slopes, [rate.grad.item(), vol.grad.item()], rtol=1e-11)
