"""Numba and the disk: what code means, its key, where it is kept, how it is linked and named."""
