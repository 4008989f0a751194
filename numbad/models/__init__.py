"""Model files: what `numbad fit --model FILE` reads, and the model that ships with the package."""

from pathlib import Path

from numbad.models.diffusion_file import DiffusionModel
from numbad.models.fit_input import FitInput, assemble, assemble_series
from numbad.models.model_file import Model, load_model

__all__ = [
    "PREDATOR_PREY",
    "DiffusionModel",
    "FitInput",
    "Model",
    "assemble",
    "assemble_series",
    "load_model",
]

PREDATOR_PREY = Path(__file__).with_name("predator_prey.py")
