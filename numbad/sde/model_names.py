"""Generated functions, and the names that they use of a model."""

import math

import numpy as np
from numba import njit

from numbad.source import define


def model_names(problem, form):
    """`{name: object}` for source that evaluates the drift and the diffusion."""
    return {
        "np": np,
        "math": math,
        "drift": problem.drift,
        "diffusion": problem.diffusion,
        "diffusion_jvp": problem.diffusion_jvp,
        "times": times,
        "Structure": getattr(form.y0, "instance_class", None),
    }


def function_of(head, lines, namespace):
    """A Python function from its head and the lines of its body."""
    source = f"def {head}:\n" + "\n".join("    " + line for line in lines) + "\n"
    return define(source, {"np": np, "math": math, **namespace})


@njit(error_model="numpy")
def times(matrix, vector):
    """Matrix times vector, in loops that need no BLAS."""
    out = np.zeros(matrix.shape[0])
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            out[i] += matrix[i, j] * vector[j]
    return out
