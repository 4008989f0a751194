"""The Lorenz system (O1) by every contender: `solve(ts, tolerance)` -> array (len(ts), 3)."""

import functools
import json
from pathlib import Path

import numpy as np

from . import measure, peers
from .reference import dop853, tsit5

REFERENCE = json.loads((Path(__file__).parent / "reference" / "anchors.json").read_text())["lorenz"]
Y0 = (1.0, 0.0, 0.0)
ARGS = (10.0, 28.0, 8 / 3)
TS = np.linspace(0.0, 100.0, 1000)
TOLERANCE = 1e-8
SWEEP = (1e-8, 1e-9, 1e-10, 1e-11)
EQUAL_ERROR = 1e-4
STYLES = ("tuple", "array", "in place")


def rhs(t, y, s, r, b):
    return s * (y[1] - y[0]), y[0] * (r - y[2]) - y[1], y[0] * y[1] - b * y[2]


def rhs_array(t, y, s, r, b):
    return np.array([s * (y[1] - y[0]), y[0] * (r - y[2]) - y[1], y[0] * y[1] - b * y[2]])


def rhs_in_place(t, y, dy, s, r, b):
    dy[0] = s * (y[1] - y[0])
    dy[1] = y[0] * (r - y[2]) - y[1]
    dy[2] = y[0] * y[1] - b * y[2]


def rhs_c(dy, t, y, args):
    dy[0] = args[0] * (y[1] - y[0])
    dy[1] = y[0] * (args[1] - y[2]) - y[1]
    dy[2] = y[0] * y[1] - args[2] * y[2]


def rhs_jax(t, y, args):
    import jax.numpy as jnp

    return jnp.stack(rhs(t, y, *args))


def hand(method="Tsit5"):
    """A hand-written solver, of Tsit5 or DOP853."""
    module = {"Tsit5": tsit5, "DOP853": dop853}[method]
    compiled = module.build("lorenz", tsit5.LORENZ, 3)
    y0, args = np.array(Y0), np.array(ARGS)

    def solve(ts, tolerance):
        out = np.empty((ts.shape[0], 3))
        compiled(y0, args, ts, out, tolerance, tolerance, 0.0)
        return out

    return solve


def numbad(style="tuple", method="Tsit5"):
    """`nd.ode.solver`, by what the right-hand side gives: a tuple, an array, or `dy` filled in."""
    import numbad as nd

    fun = {"tuple": rhs, "array": rhs_array, "in place": rhs_in_place}[style]
    y0 = Y0 if style == "tuple" else np.array(Y0)

    @functools.cache
    def compiled(tolerance):
        inplace = style == "in place"
        return nd.ode.solver(fun, method=method, rtol=tolerance, atol=tolerance, inplace=inplace)

    return lambda ts, tolerance: compiled(tolerance)(y0, ts, ARGS)


def cyrk():
    solve = peers.cyrk_solver(rhs_c, "Tsit5")
    y0, args = np.array(Y0), np.array(ARGS)
    return lambda ts, tolerance: solve(y0, ts, args, tolerance)


def diffrax():
    solve = peers.diffrax_solver(rhs_jax)
    y0, args = np.array(Y0), np.array(ARGS)
    return lambda ts, tolerance: solve(y0, ts, args, tolerance)


def scipy(method):
    solve = peers.scipy_solver(rhs, method)
    return lambda ts, tolerance: solve(Y0, ts, ARGS, tolerance)


def installed_peers():
    """The peers that are installed, by name."""
    solvers = {f"SciPy {method}": scipy(method) for method in ("RK45", "DOP853", "LSODA")}
    for name, build in (("CyRK Tsit5", cyrk), ("diffrax Tsit5", diffrax)):
        with measure.skipping(name):
            solvers[name] = build()
    return solvers


def error(ys):
    """Largest distance to the reference, at its 41 times on [0, 20]."""
    return float(np.abs(ys - np.array(REFERENCE["y"])).max())


def ratio_at_equal_error(solvers, samples=15, method="Tsit5"):
    """Time that each of `solvers` takes to the error 1e-4 on [0, 20], over that of a hand-written one.

    The time is read off a straight line through (log error, log time) at the tolerances of `SWEEP`.
    """
    ts = np.array(REFERENCE["t"])
    base_solve = hand(method)
    base = functools.partial(base_solve, ts, TOLERANCE)
    contenders = {"hand": base_solve, **solvers}
    points = {name: [] for name in contenders}
    for tolerance in SWEEP:
        calls = {
            name: functools.partial(solve, ts, tolerance) for name, solve in contenders.items()
        }
        timings = measure.beside(base, calls, samples=samples, case_seconds=0.5)
        for name, call in calls.items():
            points[name].append((error(call()), timings[name].ratio))
    cost = {name: cost_at(EQUAL_ERROR, *zip(*points[name], strict=True)) for name in contenders}
    return {name: cost[name] / cost["hand"] for name in solvers}


def cost_at(target, errors, costs):
    slope, intercept = np.polyfit(np.log(errors), np.log(costs), 1)
    return float(np.exp(intercept + slope * np.log(target)))
