"""The elementary functions as compiled functions of arrays, in which LLVM makes vectors of them."""

from functools import cache

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from numbad.elementary.replacing import call_in_place


def _of_number(name):
    @intrinsic
    def call(typingctx, x):
        return types.float64(types.float64), lambda context, builder, sig, args: call_in_place(
            context, builder, name, args
        )

    return call


def _of_two(name):
    @intrinsic
    def call(typingctx, x, y):
        return types.float64(types.float64, types.float64), (
            lambda context, builder, sig, args: call_in_place(context, builder, name, args)
        )

    return call


@cache
def of_arrays(name):
    """A compiled function `(x, y) -> array`, where `y` is for powers."""
    if name == "pow":
        power = _of_two(name)

        @njit
        def fill(x, y, out):
            for i in range(x.size):
                out[i] = power(x[i], y[i])
    else:
        function = _of_number(name)

        @njit
        def fill(x, y, out):
            for i in range(x.size):
                out[i] = function(x[i])

    def values(x, y=None):
        x = np.ascontiguousarray(x, dtype=float)
        y = np.broadcast_to(np.asarray(0.0 if y is None else y, dtype=float), x.shape).copy()
        out = np.empty_like(x)
        fill(x, y, out)
        return out

    values.compiled = fill
    return values
