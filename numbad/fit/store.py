"""Results as JSON, and back."""

from dataclasses import asdict

import numpy as np

from numbad.fit.data import Observations, Series
from numbad.fit.evaluate import Shape, as_dispatcher
from numbad.fit.local import LocalFit
from numbad.fit.model import Calling, packed
from numbad.fit.observables import read_observables
from numbad.fit.priors import Priors
from numbad.fit.problem import FitControl, OdeProblem, Solving, Trial, as_tuple
from numbad.fit.unknowns import Unknowns

FORMAT = 2
ARRAYS = ("times", "values", "sigma")


def dump(result):
    """Return a result as values that JSON has."""
    shown = {
        "numbad fit": FORMAT,
        "params": result.params,
        "stderr": result.stderr,
        "interval": result.interval(),
        "cov": result.cov,
        "correlation": result.correlation,
        "cost": result.cost,
        "nfev": result.nfev,
        "success": result.success,
        "message": result.message,
        "starts": [asdict(fit) for fit in result.starts],
    }
    shown |= {name: getattr(result, name) for name in result.stored}
    if isinstance(result.problem, OdeProblem):
        shown["problem"] = _dump_problem(result.problem)
    return plain(shown)


def _dump_problem(problem):
    return {
        "shape": {**problem.shape._asdict(), "calling": asdict(problem.shape.calling)},
        "unknowns": asdict(problem.unknowns),
        "components": problem.components,
        "trials": [_dump_trial(trial) for trial in problem.trials],
        "control": asdict(problem.control),
        "solving": problem.solving._asdict(),
        "labels": problem.labels,
        "observables": problem.observing is not None,
        "priors": asdict(problem.priors),
        "fixed": problem.fixed,
        "events": len(problem.events),
        "begins": problem.begin is not None,
    }


def _dump_trial(trial):
    observations = trial.observations
    return {
        "name": trial.name,
        "t0": observations.t0,
        "shape": observations.shape,
        "log": observations.log,
        "series": [series._asdict() for series in observations.series],
        "known": trial.known,
        "y0": trial.y0,
        "unknown": trial.unknown,
    }


def load(stored, fun, observables=None, events=(), y0=None):
    """Return (problem, local fits) of what `dump` gave."""
    fits = load_fits(stored)
    return _load_problem(stored["problem"], fun, observables, events, y0), fits


def load_fits(stored):
    if stored["numbad fit"] != FORMAT:
        raise ValueError(f"format {stored['numbad fit']}, this version reads {FORMAT}")
    return [_load_fit(entry) for entry in stored["starts"]]


def _load_fit(entry):
    floats = {name: tuple(map(float, entry[name])) for name in ("start", "values", "noise")}
    return LocalFit(**{**entry, **floats, "cost": float(entry["cost"])})


def _load_problem(entry, fun, observables, events, y0):
    shape = entry["shape"]
    calling = Calling(shape["calling"]["count"], _form(shape["calling"]["form"]))
    state, labels = _form(shape["state"]), entry["labels"]
    trials = tuple(map(_load_trial, entry["trials"]))
    if entry["observables"] != (observables is not None):
        raise ValueError("observables= must be given as they were to fit_ode")
    if entry["events"] != len(events):
        raise ValueError("events= and tstops= must be given as they were to fit_ode")
    if entry.get("begins", False) != (y0 is not None):
        raise ValueError("a function y0= must be given as it was to fit_ode")
    observing = None
    if observables is not None:
        first = trials[0]
        start, arguments = packed(state, first.y0), calling.arguments(first.known[: calling.count])
        observing, _ = read_observables(observables, first.observations.t0, start, arguments)
    return OdeProblem(
        as_dispatcher(fun),
        Shape(
            calling, state, shape["components"], tuple(shape["varied"]), tuple(shape["free"]),
            shape["doses"], shape["adjoint"],
        ),
        load_unknowns(entry["unknowns"]),
        _tuple(entry["components"]),
        trials,
        FitControl(**entry["control"] | {"options": tuple(map(tuple, entry["control"].get("options", ())))}),
        _load_solving(entry["solving"]),
        observing,
        _tuple(labels),
        load_priors(entry["priors"]),
        tuple((name, float(value)) for name, value in entry["fixed"]),
        events,
        None if y0 is None else as_dispatcher(y0),
    )  # fmt: skip


def load_unknowns(entry):
    arrays = {name: np.array(entry[name], float) for name in ("start", "lower", "upper", "scale")}
    return Unknowns(tuple(entry["names"]), **arrays, transforms=tuple(entry["transforms"]))


def load_priors(entry):
    return Priors(
        np.array(entry["index"], np.intp),
        np.array(entry["log"], bool),
        *(np.array(entry[name], float) for name in ("center", "deviation")),
    )


def _load_trial(entry):
    series = tuple(
        Series(s["component"], s["label"], *(np.array(s[n], float) for n in ARRAYS), s["estimated"])
        for s in entry["series"]
    )
    return Trial(
        entry["name"],
        Observations(series, entry["t0"], _tuple(entry["shape"]), entry["log"]),
        np.array(entry["known"], float),
        np.array(entry["y0"], float),
        np.array(entry["unknown"], np.intp),
    )


def _load_solving(entry):
    known = {name: as_tuple(value) for name, value in entry.items()}
    return Solving(**known | {"max_step": float(entry["max_step"])})


def _tuple(listed):
    return None if listed is None else tuple(listed)


def _form(form):
    return tuple(form) if isinstance(form, list) else form


def plain(value):
    """Return a value with arrays as lists and non-finite floats as strings."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(float(value))
    return value
