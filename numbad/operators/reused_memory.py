"""Memory that sparse Jacobians use again: fresh memory from the system costs as much as a pass.

A matrix that a call returns belongs to whoever called. But a Newton iteration drops each Jacobian before
it asks for the next; when no reference to the arrays of the last matrix is left but the one here, the
next matrix takes them.
"""

import sys
import threading
import weakref
from contextlib import contextmanager

import numpy as np

MOST_KEPT = 1 << 28
"""Bytes that a thread keeps for dual numbers between calls."""

NO_MEMORY = np.empty(0, np.uint8)
NO_ENTRIES = np.empty(0)
LOCAL = threading.local()


def _references(arrays):
    return max(sys.getrefcount(a) for a in arrays)


_OWN = _references([np.empty(0)])
"""What is counted for an array that nothing but a list refers to."""


@contextmanager
def lent(plan):
    """The list of this thread's arrays for a plan: empty where the last matrix still has them.

    The arrays that are put there are kept for the next call.
    """
    if not hasattr(LOCAL, "arrays"):
        LOCAL.arrays = weakref.WeakKeyDictionary()
    arrays = LOCAL.arrays.pop(plan, [])  # a call within this one finds none
    if arrays and _references(arrays) > _OWN:
        arrays = []
    yield arrays
    LOCAL.arrays[plan] = arrays


def copied_into(array, source):
    """A copy of an array, in the memory of another one where that is given."""
    if array is None:
        return source.copy()
    np.copyto(array, source)
    return array
