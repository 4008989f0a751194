"""Arrays that lie in memory as another one does, with elements of another type.

Numba tells by an array's layout, at times as late as at run time, whether `np.ravel` or
`np.ascontiguousarray` shares memory with it. Arrays of duals and shadows must get the same answer.
"""

from functools import cache

from numba.core import types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload, register_jitable
from numba.np.numpy_support import is_contiguous, is_fortran

from numbad.compilation import array_allocation

_ORDERS = {"C": "C's", "F": "Fortran's"}


@cache
def in_layout(layout):
    """An intrinsic `(array)`: the array as one of a layout that it is known to have."""

    @intrinsic
    def retype(typingctx, array):
        if (
            isinstance(array, types.Array)
            and array.ndim > 1
            and {array.layout, layout} == {"C", "F"}
        ):
            raise TypingError(
                f"an array in {_ORDERS[layout]} order, whose derivatives are in {_ORDERS[array.layout]} order"
            )
        target = array.copy(layout=layout) if isinstance(array, types.Array) else array

        def codegen(context, builder, sig, args):
            return impl_ret_borrowed(context, builder, target, args[0])

        return target(array), codegen

    return retype


@intrinsic
def writable(typingctx, array):
    """An array as one that may be written to: the adjoint of a view that is read-only is not."""
    target = array.copy(readonly=False) if isinstance(array, types.Array) else array

    def codegen(context, builder, sig, args):
        return impl_ret_borrowed(context, builder, target, args[0])

    return target(array), codegen


of_any_layout = in_layout("A")
_is_contiguous, _is_fortran = register_jitable(is_contiguous), register_jitable(is_fortran)


@register_jitable
def is_in_c_order(a):
    """What `a.flags.c_contiguous` tells; Numba's own takes duals for larger than they are."""
    return _is_contiguous(a.shape, a.strides, a.itemsize)


@register_jitable
def is_in_fortran_order(a):
    """What `a.flags.f_contiguous` tells."""
    return _is_fortran(a.shape, a.strides, a.itemsize)


def empty_as(a, dtype):
    """An uninitialised array with the shape and the layout of another."""
    raise NotImplementedError


def zeros_as(a, dtype):
    """An array of zeros with the shape and the layout of another."""
    raise NotImplementedError


def _allocation(make):
    """The overload that makes arrays by `make(shape, dtype)`."""

    def allocate(a, dtype):
        if not isinstance(a, types.Array):
            return None
        if a.layout == "C":
            return lambda a, dtype: make(a.shape, dtype)
        if a.layout == "F":
            return lambda a, dtype: make(a.T.shape, dtype).T

        def of_unknown_layout(a, dtype):
            if is_in_c_order(a):
                return of_any_layout(make(a.shape, dtype))
            if is_in_fortran_order(a):
                return of_any_layout(make(a.T.shape, dtype).T)
            return of_any_layout(make((*a.shape, 2), dtype)[..., 0])  # contiguous in no order

        return of_unknown_layout

    return allocate


overload(empty_as)(_allocation(array_allocation.empty))
overload(zeros_as)(_allocation(array_allocation.zeros))
