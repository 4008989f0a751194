"""A function over the elements of a batch, several of them at once in the lanes of SIMD vectors."""

from .batch_operator import batch

__all__ = ["batch"]
