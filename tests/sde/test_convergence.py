"""Strong orders of every method on every kind of noise that it takes, on the same Brownian paths."""

import numpy as np
import pytest
from numba import njit, typeof
from numba.core.registry import cpu_target

import numbad as nd
from numbad.sde.methods import METHODS
from numbad.sde.path_source import Problem, steps_of
from numbad.sde.scheme import LangevinScheme  # which have problems of their own
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
            if kind in scheme.orders and not isinstance(scheme, LangevinScheme):
                deep = () if (name, equation) in _BY_DEFAULT else pytest.mark.deep
                yield pytest.param(
                    name, equation, scheme.orders[kind], id=f"{name}-{kind}", marks=deep
                )


def _integrate(name, equation):
    """The loop over steps of a method for an equation."""
    problem = Problem(
        equation.drift, equation.diffusion, METHODS[name], equation.noise, equation.calculus, None
    )
    form = form_of(cpu_target.typing_context, problem, typeof(equation.y0), typeof(equation.args))
    return steps_of(problem, form)["integrate"]


def strong_errors(name, equation, paths=nested_paths):
    """Root mean square errors at time 1 for steps of 2**-level."""
    integrate = _integrate(name, equation)

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


# -- derivatives -----------------------------------------------------------------------------------------


def _slope_of_wave(args, w):
    return w[:, 0] / (1.0 + (args[0] * w[:, 0] + np.tan(1.0)) ** 2)


def _slope_of_decay(args, w):
    return args[1] * w[:, 0] / np.sqrt(2.0)


def _slope_of_growth(args, w):
    return w[:, 0] * COMMUTATIVE.exact(args, w)


_SLOPES = (
    (WAVE, "diagonal", 0, _slope_of_wave),
    (ADDITIVE, "additive", 0, _slope_of_decay),
    (COMMUTATIVE, "commutative", 1, _slope_of_growth),
)


def _cases_of_derivatives():
    for equation, kind, by, slope in _SLOPES:
        for name, scheme in METHODS.items():
            if kind in scheme.orders and not isinstance(scheme, LangevinScheme):
                given = name, equation, by, slope, scheme.orders[kind]
                yield pytest.param(*given, id=f"{name}-{kind}")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "equation", "by", "slope", "order"), list(_cases_of_derivatives())
)
def test_strong_order_of_derivatives(name, equation, by, slope, order):
    """By a parameter of the noise, path by path."""
    integrate = _integrate(name, equation)

    @njit
    def end(args, y0, outputs, starts, sizes, w, a):
        return integrate(y0, outputs, starts, sizes, args, w, a)[-1, 0]

    gradient = nd.grad(end, mode="forward")

    @njit
    def slopes(args, y0, w, a):
        steps, out = w.shape[1], np.empty(w.shape[0])
        starts, sizes = np.arange(steps) / steps, np.full(steps, 1.0 / steps)
        for p in range(out.size):
            given = np.array([0, steps]), starts, sizes, w[p], a[p]
            out[p] = gradient(args, y0, *given)[by]
        return out

    errors = []
    for level in LEVELS:
        w, a = nested_paths(equation.channels, LEVELS[-1], LEVELS[0])[level]
        exact = slope(equation.args, w.sum(axis=1))
        errors.append(np.sqrt(np.mean((slopes(equation.args, equation.y0, w, a) - exact) ** 2)))
    assert np.polyfit(LEVELS, -np.log2(errors), 1)[0] >= order - SLACK, errors
    assert errors[-1] < {0.5: 0.2, 1.0: 3e-2, 1.5: 3e-3}[order]
