"""Stochastic differential equations: compiled, differentiable solvers."""

from importlib import import_module

from numbad.sde.brownian_path import brownian_increments, brownian_path
from numbad.sde.ensembles import Statistics, ensemble
from numbad.sde.girsanov import change_of_drift
from numbad.sde.jumps_of_paths import Jumps, jumps
from numbad.sde.multilevel import Multilevel, multilevel
from numbad.sde.quantiles_of_paths import Quantiles, quantiles
from numbad.sde.solution_operator import solver
from numbad.sde.taken_steps import Steps, taken_steps

__all__ = [
    "Jumps",
    "Multilevel",
    "Quantiles",
    "Statistics",
    "Steps",
    "brownian_increments",
    "brownian_path",
    "change_of_drift",
    "ensemble",
    "jumps",
    "multilevel",
    "quantiles",
    "solver",
    "taken_steps",
    "transitions",
]


def __getattr__(name):
    if name == "transitions":
        return import_module("numbad.sde.transitions")
    raise AttributeError(f"module 'numbad.sde' has no attribute {name!r}")
