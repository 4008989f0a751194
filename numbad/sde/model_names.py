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
        "damping": damping,
        "Structure": getattr(form.y0, "instance_class", None),
    }


def function_of(head, lines, namespace):
    """A Python function from its head and the lines of its body."""
    source = f"def {head}:\n" + "\n".join("    " + line for line in lines) + "\n"
    return define(source, {"np": np, "math": math, **namespace})


@njit(error_model="numpy")
def damping(x):
    """exp(-x), and the root of (1 - exp(-2 x)) / (2 x): an Ornstein-Uhlenbeck process in x time constants."""
    if abs(x) < 1e-4:
        part = 1.0 - x * (1.0 - x * (2.0 / 3.0 - x * (1.0 / 3.0 - x * 2.0 / 15.0)))
    else:
        part = -math.expm1(-2.0 * x) / (2.0 * x)
    return math.exp(-x), math.sqrt(part)


@njit(error_model="numpy")
def times(matrix, vector):
    """Matrix times vector, in loops that need no BLAS."""
    out = np.zeros(matrix.shape[0])
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            out[i] += matrix[i, j] * vector[j]
    return out
