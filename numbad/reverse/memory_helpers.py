"""Jitted helpers of generated code on whole shadows."""

from numba import njit


@njit
def add_into(shadow, seed):
    """`shadow += seed`, for arrays of one shape."""
    if shadow.shape != seed.shape:
        raise ValueError("the cotangent has not the shape of the result")
    shadow[...] += seed
