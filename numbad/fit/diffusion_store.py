"""Fits of SDEs as JSON, and back."""

from dataclasses import asdict

import numpy as np

from numbad.fit import store
from numbad.fit.likelihood import LikelihoodProblem, in_order
from numbad.fit.observed_series import ObservedSeries
from numbad.fit.store import load_fits, load_priors, load_unknowns, plain


def dump(result):
    """Return a fit by likelihood as values that JSON has."""
    return {**store.dump(result), "problem": plain(_dump_problem(result.problem))}


def _dump_problem(problem):
    return {
        "names": problem.names,
        "unknowns": asdict(problem.unknowns),
        "priors": asdict(problem.priors),
        "fixed": problem.fixed,
        "experiments": [asdict(one) for one in problem.series],
    }


def load(stored, density):
    """Return (problem, local fits) of what `dump` gave of a fit by likelihood."""
    fits, entry = load_fits(stored), stored["problem"]
    unknowns, priors = load_unknowns(entry["unknowns"]), load_priors(entry["priors"])
    held = {name: float(value) for name, value in entry["fixed"].items()}
    names, _ = in_order(density, dict.fromkeys(entry["names"], 0.0))
    series = tuple(map(_load_series, entry["experiments"]))
    return LikelihoodProblem(density, names, unknowns, priors, held, series), fits


def _load_series(entry):
    arrays = {name: np.array(entry[name], float) for name in ("times", "values", "known")}
    return ObservedSeries(entry["name"], numbers=np.array(entry["numbers"], np.intp), **arrays)
