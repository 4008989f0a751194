"""Derivatives in CUDA kernels, with numba-cuda."""

from .gradient import grad, value_and_grad
from .tape import TAPE_BYTES

__all__ = ["TAPE_BYTES", "grad", "value_and_grad"]
