"""Functions of whole arrays: nopython code that both modes differentiate as any other."""

import math

import numpy as np

from ..compilation.caching import jit


@jit
def logsumexp(a):
    """log(sum(exp(a))) over all elements of an array, without overflow; -inf for none.

    >>> import numpy as np
    >>> print(f"{logsumexp(np.array([1000.0, 1000.0])) - 1000.0:.12f}")
    0.693147180560
    """
    flat = a.ravel()
    if flat.size == 0:
        return -math.inf
    greatest = flat[0]
    for k in range(1, flat.size):
        if flat[k] > greatest or flat[k] != flat[k]:
            greatest = flat[k]
    if not math.isfinite(greatest):
        return 1.0 * greatest
    total = 0.0
    for k in range(flat.size):
        total += math.exp(flat[k] - greatest)
    return greatest + math.log(total)


@jit
def softmax(a):
    """exp(a) / sum(exp(a)) over all elements of an array, without overflow.

    >>> import numpy as np
    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    return np.exp(a - logsumexp(a))


@jit
def log_softmax(a):
    """a - logsumexp(a): the logarithm of `softmax`.

    >>> import numpy as np
    >>> log_softmax(np.array([0.0, -1000.0]))
    array([    0., -1000.])
    """
    return a - logsumexp(a)
