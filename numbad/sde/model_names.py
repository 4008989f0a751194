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
        "matrix_times": matrix_times,
        "damping": damping,
        "damped_integrals": damped_integrals,
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
def damped_integrals(x):
    """e = exp(-x), p1 = (1 - e) / x, p2 = (1 - p1) / x, p3 = 6 (e (x + 2) + x - 2) / x**3.

    By series for small x. Over a step of x time constants: what is left of a velocity, and what it, a
    constant force, and a force that falls from 1 to -1 move the position by, the last one times 6.
    """
    if abs(x) < 0.5:
        term, p2, p3 = 1.0 / 6.0, 0.5, 1.0
        for n in range(3, 16):  # term is (-x)**(n - 3) / n!
            p2 -= x * term
            term *= -x / (n + 1.0)
            p3 += 6.0 * (n - 1.0) * term
        p1 = 1.0 - x * p2
        return 1.0 - x * p1, p1, p2, p3
    e = math.exp(-x)
    p1 = (1.0 - e) / x
    return e, p1, (1.0 - p1) / x, 6.0 * (e * (x + 2.0) + x - 2.0) / (x * x * x)


@njit(error_model="numpy")
def matrix_times(matrix, vector):
    """Matrix times vector, in loops that need no BLAS."""
    out = np.zeros(matrix.shape[0])
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            out[i] += matrix[i, j] * vector[j]
    return out
