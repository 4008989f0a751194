"""The lynx-hare fit (O6) by every contender, each as a call without arguments -> parameters.

Log scale, six unknowns (four parameters, two initial values), tolerance 1e-8, one start.
"""

import json
from pathlib import Path

import numpy as np
from numba import njit

from . import measure, peers, predator_prey
from .reference import tsit5

REFERENCE = json.loads((Path(__file__).parent / "reference" / "anchors.json").read_text())[
    "hudson_bay"
]
START = np.array(REFERENCE["start"])
OPTIMUM = np.array(REFERENCE["params"])
TOLERANCE = 1e-8
YEARS = np.arange(21.0)
HARE = (30.0, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22.0, 25.4, 27.1)
HARE += (40.3, 57.0, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7)
LYNX = (4.0, 6.1, 9.8, 35.2, 59.4, 41.7, 19.0, 13.0, 8.3, 9.1, 7.4)
LYNX += (8.0, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6)
COUNTS = np.column_stack((HARE, LYNX))


def hand_residuals():
    """Residuals and their Jacobian by the logarithms of the unknowns, sensitivities by hand."""
    lines, common = tsit5.lotka_volterra_sensitivities()
    compiled = tsit5.build("sensitivities", lines, 4, common)

    @njit(error_model="numpy")
    def evaluate(logs, ts, log_counts):
        unknowns = np.exp(logs)
        state = np.zeros(14)
        state[0], state[1] = unknowns[4], unknowns[5]
        state[10] = state[13] = 1.0
        out = np.empty((ts.shape[0], 14))
        compiled(state, unknowns, ts, out, TOLERANCE, TOLERANCE, 0.0)
        residuals = np.empty(2 * ts.shape[0])
        jacobian = np.empty((2 * ts.shape[0], 6))
        for i in range(ts.shape[0]):
            for k in range(2):
                residuals[2 * i + k] = np.log(out[i, k]) - log_counts[i, k]
                for j in range(6):
                    jacobian[2 * i + k, j] = out[i, 2 + 2 * j + k] * unknowns[j] / out[i, k]
        return residuals, jacobian

    log_counts = np.log(COUNTS)
    return lambda logs: evaluate(logs, YEARS, log_counts)


def least_squares(residuals_and_jacobian, method):
    """A fit by SciPy from `START`, evaluating residuals and Jacobian together, once a point."""
    from scipy.optimize import least_squares as scipy_least_squares

    start = np.log(START)

    def fit():
        kept = {}

        def residuals(logs):
            kept["at"], (kept["r"], kept["j"]) = logs.copy(), residuals_and_jacobian(logs)
            return kept["r"]

        def jacobian(logs):
            if not np.array_equal(logs, kept["at"]):
                residuals(logs)
            return kept["j"]

        return np.exp(scipy_least_squares(residuals, start, jacobian, method=method).x)

    return fit


def hand(method):
    """Tsit5 and sensitivities by hand under `scipy.optimize.least_squares`."""
    return least_squares(hand_residuals(), method)


def numbad():
    """`nd.fit.fit_ode`, one start, without the progress bar."""
    import numbad as nd

    def fit():
        result = nd.fit.fit_ode(
            predator_prey.rhs,
            YEARS,
            COUNTS,
            tuple(START[:4]),
            y0=tuple(START[4:]),
            fit_y0=True,
            scale="log",
            progress=False,
        )
        return np.array(list(result.params.values()))

    return fit


def diffrax(method="lm"):
    """diffrax's Tsit5 under `jax.jacfwd`, SciPy's least squares around it."""
    jax = peers.import_jax()
    import diffrax as package
    import jax.numpy as jnp

    integrate = peers.diffrax_integrate(predator_prey.rhs_jax, package.ForwardMode())
    log_counts = np.log(COUNTS)

    def residuals(logs):
        unknowns = jnp.exp(logs)
        states = integrate(unknowns[4:], jnp.asarray(YEARS), unknowns[:4], TOLERANCE)
        value = (jnp.log(states) - log_counts).ravel()
        return value, value

    compiled = jax.jit(jax.jacfwd(residuals, has_aux=True))

    def evaluate(logs):
        jacobian, value = compiled(logs)
        return np.asarray(value), np.asarray(jacobian)

    return least_squares(evaluate, method)


def scipy(method):
    """SciPy's solver and differences of it: no derivatives anywhere."""
    from scipy.optimize import least_squares as scipy_least_squares

    solve = peers.scipy_solver(predator_prey.rhs, method)
    log_counts = np.log(COUNTS)

    def residuals(logs):
        unknowns = np.exp(logs)
        states = solve(unknowns[4:], YEARS, tuple(unknowns[:4]), TOLERANCE)
        return (np.log(states) - log_counts).ravel()

    return lambda: np.exp(scipy_least_squares(residuals, np.log(START), method="lm").x)


def installed_peers():
    """The peers that are installed, by name."""
    fits = {f"SciPy {name}, differences": scipy(name) for name in ("RK45", "DOP853", "LSODA")}
    with measure.skipping("diffrax jacfwd"):
        fits["diffrax jacfwd"] = diffrax()
    return fits


def error(params):
    """Largest relative distance to the reference optimum."""
    return float(np.abs(params / OPTIMUM - 1.0).max())
