"""Bands of the paths that the fit of an SDE predicts, with the uncertainty of its parameters."""

import operator
import warnings

import numpy as np

from numbad.errors import ArgumentError, ModelError, NumbadWarning
from numbad.masked_arrays import nan_where_masked
from numbad.random import normals, split
from numbad.sde.ensembles import check_solver, ensemble
from numbad.sde.equations import equation_of

_STEPS = 20  # between observations


def predictive_band(fit, number, ts, key, y0, solve, levels, paths, draws):
    """Quantiles (levels, len(ts), n) of paths of an experiment, by its number.

    The other arguments are those of `DiffusionFit.predictive_band`.
    """
    one = fit.problem.series[number]
    times, levels = increasing(ts), _levels(levels)
    paths, draws = _counts(paths, draws)
    solve, lowest = _solver(fit, one, solve)
    check_solver("ensemble", solve, key)
    if y0 is None:
        y0 = _observed(one, times[0])
    for_parameters, for_paths = split(key)
    points = fit.x[None] if draws is None else _drawn(fit, for_parameters, draws)
    args = [tuple(one.parameters(point).tolist()) for point in points]
    each = -(-paths // (draws or 1))
    keys = split(for_paths, len(args))
    found = [ensemble(solve, y0, times, *given, each) for given in zip(args, keys, strict=True)]
    found = np.maximum(np.concatenate(found), lowest)
    kept = np.isfinite(found).all(axis=(1, 2))
    _tell_lost(fit, kept, args, draws or 1)
    return np.quantile(found[kept], levels, axis=0)


def increasing(ts):
    """Times as an array; ArgumentError where they do not increase."""
    times = np.asarray(nan_where_masked(ts), dtype=float)
    if (
        times.ndim != 1
        or not times.size
        or not (np.isfinite(times).all() and (np.diff(times) > 0.0).all())
    ):
        raise ArgumentError(f"ts are increasing times, finite, one at least; not {ts!r}")
    return times


def _levels(levels):
    found = np.asarray(levels, dtype=float)
    if found.ndim != 1 or not found.size or not ((found >= 0.0) & (found <= 1.0)).all():
        raise ArgumentError(
            f"levels is a sequence of numbers between 0 and 1, such as (0.05, 0.5, 0.95); not {levels!r}"
        )
    return found


def _counts(paths, draws):
    try:
        paths, draws = operator.index(paths), None if draws is None else operator.index(draws)
    except TypeError:
        raise ArgumentError(
            f"paths is how many, an int, draws as well, or None; not {paths!r}, {draws!r}"
        ) from None
    if paths < 1 or (draws is not None and not 1 <= draws <= paths):
        raise ArgumentError(
            f"paths={paths} and draws={draws}: one path or more for each draw; draws=None is without the "
            "uncertainty of the parameters"
        )
    return paths, draws


def _solver(fit, one, solve):
    """The solver, and the lowest value of its states."""
    if solve is not None:
        return solve, -np.inf
    equation = equation_of(fit.problem.density)
    if equation is None:
        raise ArgumentError(
            "this fit does not know drift and diffusion of its equation: give "
            f"solve=nd.sde.solver(drift, diffusion, dt=...), functions of (t, y, {_named(fit)})"
        )
    width = float(np.median(np.diff(one.times))) / _STEPS
    return equation.solver(width), equation.lowest


def _named(fit):
    return ", ".join(fit.problem.names)


def _observed(one, t):
    """What was observed at a time; ArgumentError where that is not the state."""
    times, values = one.times, one.values
    if values.ndim > 1:
        raise ArgumentError(
            f"y0 is the state at ts[0] = {t:g}, which was not observed as such: give it (of a filter, "
            "fit.filtered().mean tells it)"
        )
    row = int(np.searchsorted(times, t))
    if row == times.size or times[row] != t:
        raise ArgumentError(
            f"nothing was observed at ts[0] = {t!r}: give y0, the state then, or begin at an observation, "
            f"the last of which is at {float(times[-1])!r}"
        )
    return float(values[row])


def _drawn(fit, key, draws):
    """Points (draws, k) of the normal distribution of the estimates, in natural units."""
    unknowns, uncertainty = fit.problem.unknowns, fit._uncertainty
    way_out = "hold them with fixed=, or take draws=None, paths at the estimates alone"
    active = unknowns.active(fit.x)
    if active:
        raise ModelError(
            f"estimates at a bound have no normal distribution to draw from: {', '.join(active)}; {way_out}"
        )
    loose = [name for name, out in zip(fit.names, uncertainty.undetermined, strict=True) if out]
    if loose or not np.isfinite(uncertainty.root).all():
        raise ModelError(
            f"the data do not determine {', '.join(loose or fit.names)}, so there is no distribution to "
            f"draw from; {way_out}"
        )
    root = uncertainty.root
    steps = normals(key, draws * len(root)).reshape(draws, -1) @ root
    points = unknowns.extended(unknowns.internal(fit.x) + steps)
    within = ((points >= unknowns.lower) & (points <= unknowns.upper)).all(axis=1)
    if not within.any():
        raise ModelError(
            f"all of {draws} draws of the parameters are outside the bounds; {way_out}"
        )
    return points[within]


def _tell_lost(fit, kept, args, draws):
    """Warn of paths and draws that are left out; ModelError where no path is kept."""
    notes = []
    if len(args) < draws:
        notes.append(
            f"{draws - len(args)} of {draws} draws of the parameters are outside the bounds"
        )
    if not kept.all():
        of_draws = kept.reshape(len(args), -1).all(axis=1)
        names, first = fit.problem.names, args[int(of_draws.argmin())]
        where = ", ".join(f"{name}={value:.6g}" for name, value in zip(names, first, strict=True))
        lost = f"{(~kept).sum()} of {kept.size} paths"
        if len(args) > 1:
            lost += f", of {(~of_draws).sum()} of {len(args)} draws, the first"
        notes.append(f"{lost} with {where}, end in NaN or infinity")
    if not kept.any():
        raise ModelError(
            f"no path stays finite: {notes[-1]}; take a smaller dt, or a method for stiff equations, in "
            "solve="
        )
    if notes:
        warnings.warn(f"{'; '.join(notes)}; they are left out", NumbadWarning, stacklevel=4)
