"""Results as JSON, and back."""

from dataclasses import asdict

import numpy as np

from numbad.fit.data import Observations, Series
from numbad.fit.evaluate import as_dispatcher
from numbad.fit.local import LocalFit
from numbad.fit.model import Calling
from numbad.fit.problem import Control, OdeProblem, Solving
from numbad.fit.unknowns import Unknowns

FORMAT = 1


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
    if hasattr(result.problem, "evaluate"):
        shown |= {name: getattr(result, name) for name in ("residuals", "residual_std", "degrees")}
    if isinstance(result.problem, OdeProblem):
        shown["problem"] = _dump_problem(result.problem)
    return _plain(shown)


def _dump_problem(problem):
    unknowns, observations = problem.unknowns, problem.observations
    return {
        "calling": asdict(problem.calling),
        "state": problem.state,
        "unknowns": {**asdict(unknowns)},
        "y0": problem.y0,
        "free": problem.free,
        "components": problem.components,
        "t0": observations.t0,
        "shape": observations.shape,
        "series": [series._asdict() for series in observations.series],
        "control": asdict(problem.control),
        **problem.solving._asdict(),
    }


def load(stored, fun):
    """Return (problem, local fits) of what `dump` gave."""
    if stored["numbad fit"] != FORMAT:
        raise ValueError(f"format {stored['numbad fit']}, this version reads {FORMAT}")
    fits = [_load_fit(entry) for entry in stored["starts"]]
    return _load_problem(stored["problem"], fun), fits


def _load_fit(entry):
    floats = {name: tuple(map(float, entry[name])) for name in ("start", "values")}
    return LocalFit(**{**entry, **floats, "cost": float(entry["cost"])})


def _load_problem(entry, fun):
    calling = Calling(entry["calling"]["count"], _form(entry["calling"]["form"]))
    unknowns = entry["unknowns"]
    arrays = {
        name: np.array(unknowns[name], float) for name in ("start", "lower", "upper", "scale")
    }
    series = [
        Series(s["component"], s["label"], *(np.array(s[n], float) for n in Series._fields[2:]))
        for s in entry["series"]
    ]
    log = unknowns["log"]
    shape, names = entry["shape"], entry["components"]
    return OdeProblem(
        as_dispatcher(fun),
        calling,
        _form(entry["state"]),
        Unknowns(tuple(unknowns["names"]), log=log, **arrays),
        np.array(entry["y0"], float),
        tuple(entry["free"]),
        None if names is None else tuple(names),
        Observations(tuple(series), entry["t0"], None if shape is None else tuple(shape), log),
        Control(**entry["control"]),
        _load_solving(entry),
    )


def _load_solving(entry):
    known = {name: entry[name] for name in Solving._fields if name in entry}
    return Solving(**known | {"max_step": float(entry.get("max_step", "inf"))})


def _form(form):
    return tuple(form) if isinstance(form, list) else form


def _plain(value):
    """Return a value with arrays as lists and non-finite floats as strings."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(float(value))
    return value
