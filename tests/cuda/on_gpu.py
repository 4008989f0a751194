"""Runs device functions on a GPU, where there is one: many threads, each with arrays of its own."""

import numpy as np
import pytest
from numba import cuda

from numbad.source import define

needs_gpu = pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")

_THREADS = 64


def on_gpu(code, args, width):
    """What a device function of numbers and arrays, which returns a tuple of floats, gives in each thread.

    Shape (threads, width); then, for each array among `args`, what the threads have made of their copies.
    """
    arrays = {k: arg for k, arg in enumerate(args) if isinstance(arg, np.ndarray)}
    copies = {k: np.tile(arg, (_THREADS, *[1] * arg.ndim)) for k, arg in arrays.items()}
    names = [f"a{k}" for k in range(len(args))]
    passed = [f"{name}[i]" if k in arrays else name for k, name in enumerate(names)]
    lines = [
        f"def kernel({', '.join(names)}, out):",
        "    i = grid(1)",
        "    if i < out.shape[0]:",
        f"        found = each({', '.join(passed)})",
        *(f"        out[i, {j}] = found[{j}]" for j in range(width)),
    ]
    each = cuda.jit(device=True)(code)
    kernel = cuda.jit(define("\n".join(lines) + "\n", {"grid": cuda.grid, "each": each}))
    out = np.full((_THREADS, width), np.nan)
    kernel[2, _THREADS // 2](*(copies.get(k, arg) for k, arg in enumerate(args)), out)
    return out, [copies[k] for k in arrays]
