"""Derivatives in CUDA kernels, with numba-cuda."""

try:
    import numba.cuda.core.ir  # noqa: F401
except ImportError as error:
    raise ImportError(
        "numbad.cuda needs numba-cuda 0.30 or later: pip install 'numbad[cuda]'"
    ) from error

from . import device_function, mathematics  # noqa: F401
from .batch import batch
from .forward_mode import derivative, hvp, jacobian, jvp
from .gradient import grad, value_and_grad
from .tape import TAPE_BYTES
from .trajectories import ensemble, quantiles

__all__ = [
    "TAPE_BYTES",
    "batch",
    "derivative",
    "ensemble",
    "grad",
    "hvp",
    "jacobian",
    "jvp",
    "quantiles",
    "value_and_grad",
]
