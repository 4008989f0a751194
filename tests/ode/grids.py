"""Reactions and diffusion on a grid in two dimensions, whose Jacobian has a wide band and low fill."""

import numpy as np
from scipy.sparse import csr_array, eye_array, kron


def ring_pattern(n):
    """Each with its two neighbours, and the first with the last."""
    i = np.arange(n)
    rows, columns = np.tile(i, 3), np.concatenate([i, (i + 1) % n, (i - 1) % n])
    return csr_array((np.ones(3 * n), (rows, columns)), shape=(n, n))


def grid_pattern(rows, columns, species=1):
    """Periodic in both directions, the species at one point side by side."""
    along = kron(eye_array(rows), ring_pattern(columns))
    across = kron(ring_pattern(rows), eye_array(columns))
    return csr_array(kron(along + across, np.ones((species, species))) != 0)
