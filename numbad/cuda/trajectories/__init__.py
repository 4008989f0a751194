"""Ensembles on a GPU: one trajectory of an ODE or a path of an SDE in each thread."""

from numbad.cuda.trajectories.ensemble_call import Trajectories, ensemble

__all__ = ["Trajectories", "ensemble"]
