"""Arrays that lie in memory as another one does, with elements of another type.

Numba tells by an array's layout, at times as late as at run time, whether `np.ravel` or
`np.ascontiguousarray` shares memory with it. Arrays of duals and shadows must get the same answer.
"""

import numpy as np
from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload


@intrinsic
def of_any_layout(typingctx, a):
    """The array itself, typed as one of any layout."""
    target = a.copy(layout="A")

    def codegen(context, builder, sig, args):
        return impl_ret_borrowed(context, builder, target, args[0])

    return target(a), codegen


def empty_as(a, dtype):
    """An uninitialised array with the shape and the layout of another."""
    raise NotImplementedError


def zeros_as(a, dtype):
    """An array of zeros with the shape and the layout of another."""
    raise NotImplementedError


def _allocation(make):
    def allocate(a, dtype):
        if not isinstance(a, types.Array):
            return None
        if a.layout == "C":
            return lambda a, dtype: make(a.shape, dtype)
        if a.layout == "F":
            return lambda a, dtype: make(a.T.shape, dtype).T

        def of_unknown_layout(a, dtype):
            if a.flags.c_contiguous:
                return of_any_layout(make(a.shape, dtype))
            if a.flags.f_contiguous:
                return of_any_layout(make(a.T.shape, dtype).T)
            return of_any_layout(make((*a.shape, 2), dtype)[..., 0])  # contiguous in no order

        return of_unknown_layout

    return allocate


overload(empty_as)(_allocation(np.empty))
overload(zeros_as)(_allocation(np.zeros))
