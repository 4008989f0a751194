"""`nd.vector_math()`: operators made in the block take code of vectors."""

from ..elementary.option import asked_as
from .lane_loop import LaneLoops


def vector_math():
    """Within the block, operators are made whose loops over elementary functions become vector code.

    exp, expm1, log, log1p, sin, cos, tanh, erf, powers and SciPy's expit and log_expit of 64-bit floats
    are then polynomials in the code of these operators, for values and derivatives, in every mode and in
    all that they call. A number gets the same bits wherever it stands, but not those of the C library,
    which the function by itself calls: both are within 1 ulp of the truth, log_expit within 1.4.
    Infinities, NaN, signed zeros and subnormal numbers come out as there. On a processor without fused
    multiply-adds nothing changes.

    It is for operators made in the block, whenever they compile; a function called by itself, and what
    was made before, stay as they are.

    Gradients in reverse mode go through loops over points, `total += f(x[i], p)`, with 16 iterations at a
    time in the lanes of vectors, where iterations meet in nothing but sums: docs/reverse.md has the
    conditions. In forward mode such a sum keeps its loop, since LLVM keeps the order of a sum, unless the
    function is compiled with fastmath={"reassoc"}.

    Examples
    --------
    >>> import numpy as np
    >>> import numbad as nd
    >>> def f(x):
    ...     return np.exp(-x * x).sum()
    >>> with nd.vector_math():
    ...     gradient = nd.value_and_grad(f)
    >>> value, slope = gradient(np.array([0.25, 0.5, 1.0]))
    >>> slope.round(4)
    array([-0.4697, -0.7788, -0.7358])
    """
    return asked_as(LaneLoops())
