"""What is said where Numba compiles nothing."""

from numba.core import config

from ..errors import ArgumentError


def refuse_without_compiler():
    """Raise ArgumentError while NUMBA_DISABLE_JIT is set."""
    if config.DISABLE_JIT:
        raise ArgumentError(
            "Numba compiles nothing while NUMBA_DISABLE_JIT is set, and numbad differentiates and solves "
            "what is compiled. Way out: unset it; nd.debug() finds NaN, stray indices and wrong derivatives"
        )
