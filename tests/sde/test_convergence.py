"""Strong orders of every method on every kind of noise that it takes, on the same Brownian paths."""

import numpy as np
import pytest
from numba import njit, typeof
from numba.core.registry import cpu_target

from numbad.sde.methods import METHODS
from numbad.sde.path_source import Problem, steps_of
from numbad.sde.scheme import LangevinSplitting  # which have problems of their own
from numbad.sde.state_source import form_of

from .problems import ADDITIVE, COMMUTATIVE, WAVE, nested_paths

LEVELS = range(3, 8)
SLACK = 0.15  # the fit over five halvings scatters by 0.07
_BY_DEFAULT = {
    ("EulerMaruyama", WAVE),
    ("ReversibleHeun", WAVE),
    ("Milstein", WAVE),
    ("RKMil", WAVE),
    ("SRIW1", WAVE),
    ("Heun", WAVE),
    ("SRA1", ADDITIVE),
    ("ShARK", ADDITIVE),
    ("SlowRK", COMMUTATIVE),
}


def _cases():
    for equation, kind in (
        (WAVE, "diagonal"),
        (ADDITIVE, "additive"),
        (COMMUTATIVE, "commutative"),
    ):
        for name, scheme in METHODS.items():
            if kind in scheme.orders and not isinstance(scheme, LangevinSplitting):
                deep = () if (name, equation) in _BY_DEFAULT else pytest.mark.deep
                yield pytest.param(
                    name, equation, scheme.orders[kind], id=f"{name}-{kind}", marks=deep
                )


def strong_errors(name, equation, paths=nested_paths):
    """Root mean square errors at time 1 for steps of 2**-level."""
    problem = Problem(
        equation.drift, equation.diffusion, METHODS[name], equation.noise, equation.calculus, None
    )
    form = form_of(cpu_target.typing_context, problem, typeof(equation.y0), typeof(equation.args))
    integrate = steps_of(problem, form)["integrate"]

    @njit
    def ends(y0, args, w, a):
        steps = w.shape[1]
        starts, sizes, out = (
            np.arange(steps) / steps,
            np.full(steps, 1.0 / steps),
            np.empty(w.shape[0]),
        )
        for p in range(w.shape[0]):
            outputs = np.array([0, steps])
            out[p] = integrate(y0, outputs, starts, sizes, args, w[p], a[p])[-1, 0]
        return out

    errors = []
    for level in LEVELS:
        w, a = paths(equation.channels, LEVELS[-1], LEVELS[0])[level]
        difference = ends(equation.y0, equation.args, w, a) - equation.exact(
            equation.args, w.sum(axis=1)
        )
        errors.append(np.sqrt(np.mean(difference**2)))
    return errors


@pytest.mark.parametrize(("name", "equation", "order"), list(_cases()))
def test_strong_order(name, equation, order):
    errors = strong_errors(name, equation)
    assert np.polyfit(LEVELS, -np.log2(errors), 1)[0] >= order - SLACK
    assert errors[-1] < {0.5: 3e-2, 1.0: 4e-3, 1.5: 4e-4}[order]
