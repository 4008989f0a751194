"""Gradient of a Lotka-Volterra misfit (O2) by every contender.

The loss is the sum of squared distances to given data at 101 times on [0, 10]; the gradient is by
the four parameters and the two initial values.
"""

import json
from pathlib import Path

import numpy as np
from numba import njit

from . import measure, peers
from .reference import tsit5

REFERENCES = json.loads((Path(__file__).parent / "reference" / "anchors.json").read_text())
GRADIENT = np.array(REFERENCES["lotka_volterra"]["grad"])
PARAMETERS = (1.5, 1.0, 3.0, 1.0)
INITIAL = (1.0, 1.0)
TS = 0.1 * np.arange(101)
DATA = np.column_stack((2.0 + np.sin(2 * TS), 2.0 + np.cos(2 * TS)))


def rhs(t, y, a, b, c, d):
    return (a - b * y[1]) * y[0], (d * y[0] - c) * y[1]


def rhs_jax(t, y, args):
    import jax.numpy as jnp

    return jnp.stack(rhs(t, y, *args))


def start():
    """Initial state of the system with its variational equations."""
    state = np.zeros(14)
    state[[0, 1]] = INITIAL
    state[[10, 13]] = 1.0
    return state


@njit(error_model="numpy")
def contract(out, data):
    """The gradient of the misfit from the states and their sensitivities, (len(ts), 14)."""
    gradient = np.zeros(6)
    for i in range(out.shape[0]):
        ru = 2.0 * (out[i, 0] - data[i, 0])
        rv = 2.0 * (out[i, 1] - data[i, 1])
        for j in range(6):
            gradient[j] += ru * out[i, 2 + 2 * j] + rv * out[i, 3 + 2 * j]
    return gradient


def hand_gradient(tolerance):
    """Forward sensitivities by hand; they take part in the error control."""
    rhs_lines, common = tsit5.lotka_volterra_sensitivities()
    compiled = tsit5.build("sensitivities", rhs_lines, 4, common)

    @njit(error_model="numpy")
    def gradient(start, parameters, ts, data):
        out = np.empty((ts.shape[0], 14))
        compiled(start, parameters, ts, out, tolerance, tolerance, 0.0)
        return contract(out, data)

    state, parameters = start(), np.array(PARAMETERS)
    return lambda: gradient(state, parameters, TS, DATA)


def hand_solve(tolerance):
    """The solve alone by hand."""
    compiled = tsit5.build("predator_prey", tsit5.LOTKA_VOLTERRA, 4)
    initial, parameters = np.array(INITIAL), np.array(PARAMETERS)
    out = np.empty((TS.shape[0], 2))
    return lambda: compiled(initial, parameters, TS, out, tolerance, tolerance, 0.0)


def numbad_solve(tolerance):
    """`nd.ode.solver` alone."""
    import numbad as nd

    solve = nd.ode.solver(rhs, method="Tsit5", rtol=tolerance, atol=tolerance)
    return lambda: solve(INITIAL, TS, PARAMETERS)


def numbad_gradient(tolerance, mode="forward"):
    """`nd.grad` of the misfit by parameters and initial values, given as tuples."""
    import numbad as nd

    solve = nd.ode.solver(rhs, method="Tsit5", rtol=tolerance, atol=tolerance)

    def misfit(parameters, initial, ts, data):
        ys = solve(initial, ts, parameters)
        loss = 0.0
        for i in range(ts.shape[0]):
            for j in range(2):
                residual = ys[i, j] - data[i, j]
                loss += residual * residual
        return loss

    gradient = nd.grad(misfit, argnums=(0, 1), mode=mode)
    return lambda: gradient(PARAMETERS, INITIAL, TS, DATA)


def diffrax_gradient(tolerance):
    """diffrax's Tsit5 under `jax.jacfwd`."""
    gradient = peers.diffrax_misfit_gradient(rhs_jax, len(PARAMETERS))
    unknowns = np.array(PARAMETERS + INITIAL)
    return lambda: gradient(unknowns, TS, DATA, tolerance)


def installed_peers(tolerance):
    """The peers that are installed, by name."""
    gradients = {}
    with measure.skipping("diffrax jacfwd"):
        gradients["diffrax jacfwd"] = diffrax_gradient(tolerance)
    return gradients


def error(gradient):
    """Largest distance to the reference gradient, over the size of its largest entry."""
    if isinstance(gradient, tuple):
        gradient = np.concatenate([np.atleast_1d(part) for part in gradient])
    return float(np.abs(gradient - GRADIENT).max() / np.abs(GRADIENT).max())
