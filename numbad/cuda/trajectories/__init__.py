"""Ensembles on a GPU: one trajectory of an ODE or a path of an SDE in each thread."""

from numbad.cuda.trajectories.averages import Means
from numbad.cuda.trajectories.collection import Trajectories
from numbad.cuda.trajectories.ensemble_call import ensemble
from numbad.cuda.trajectories.losses import Losses
from numbad.cuda.trajectories.quantile import Quantiles, quantiles

__all__ = ["Losses", "Means", "Quantiles", "Trajectories", "ensemble", "quantiles"]
