"""What a program can learn of how its arrays lie in memory, where they hold dual numbers.

An array of duals is larger than the primal's. Sizes and strides in bytes are told as the primal has
them, dtypes compare as the primal's do, and what would read the memory of duals as floats is refused.
"""

import operator

import numpy as np
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import overload, overload_method

from ..source import define
from . import dual as d
from .access import primal
from .dual_arrays import dtype_of_type, is_dual_array
from .known import INACTIVE
from .layout import empty_as, in_layout, is_in_c_order, is_in_fortran_order
from .optional_arrays import overload_stand_in
from .stand_ins import ATTRIBUTES, REPLACED_COMPARISONS, stand_for, stand_for_method


def _attribute(name, of_duals):
    """The stand-in for an attribute of arrays; other objects keep their own."""

    def stand_in(a):
        raise NotImplementedError

    own = define(f"def own(a):\n    return a.{name}\n", {})

    @overload_stand_in(stand_in)
    def typed(a):
        return of_duals(a) if is_dual_array(a) else own

    stand_in.__name__ = stand_in.__qualname__ = name
    ATTRIBUTES[name] = stand_in
    INACTIVE.add(stand_in)


def _itemsize(ty):
    """Bytes of a scalar type as NumPy has them."""
    from numba.np.numpy_support import as_dtype

    return as_dtype(ty).itemsize


def _size_of_item(a):
    size = _itemsize(d.base_scalar(a.dtype))
    return lambda a: size


def _size_of_array(a):
    size = _itemsize(d.base_scalar(a.dtype))
    return lambda a: size * a.size


def _size_of_steps(a):
    size = _itemsize(d.base_scalar(a.dtype))
    items = ", ".join(f"a.strides[{k}] // a.itemsize * size" for k in range(a.ndim))
    return define(f"def strides(a):\n    return ({items},)\n", {"size": size})


def _address(a):
    raise TypingError(
        "the address of a differentiated array: its memory holds dual numbers, not floats"
    )


_attribute("itemsize", _size_of_item)
_attribute("nbytes", _size_of_array)
_attribute("strides", _size_of_steps)
_attribute("ctypes", _address)


# -- the memory itself -----------------------------------------------------------------------


def _refusing_arrays(name, parameters, call, fn=None):
    """The stand-in for `name` that refuses a differentiated array as its first argument."""
    first = parameters.partition(",")[0]
    names = {"fn": fn}
    plain = define(f"def call({parameters}):\n    return {call}\n", names)
    stand_in = define(f"def {name}({parameters}):\n    raise NotImplementedError\n", {})
    source = f"def choose({parameters}):\n    return chosen({first})\n"

    def chosen(ty):
        if is_dual_array(ty):
            raise TypingError(
                "the memory of a differentiated array, which holds dual numbers, not floats"
            )
        return plain

    overload_stand_in(stand_in)(define(source, {"chosen": chosen}))
    return stand_in


stand_for_method("tobytes", _refusing_arrays("tobytes", "a", "a.tobytes()"))
stand_for_method("view", _refusing_arrays("view", "a, dtype", "a.view(dtype)"))
stand_for(
    np.frombuffer,
    _refusing_arrays("frombuffer", "buffer, dtype=float", "fn(buffer, dtype)", np.frombuffer),
)
stand_for(
    np.lib.stride_tricks.as_strided,
    _refusing_arrays(
        "as_strided",
        "x, shape=None, strides=None",
        "fn(x, shape, strides)",
        np.lib.stride_tricks.as_strided,
    ),
)


# -- contiguous or not -----------------------------------------------------------------------


def _layout_function(fn, layout, is_in_order):
    """The stand-in for a function that copies an array if it does not lie in an order."""

    def stand_in(a):
        raise NotImplementedError

    @overload_stand_in(stand_in)
    def typed(a):
        if not is_dual_array(a) or a.layout != "A":  # its type tells all
            return lambda a: fn(a)
        retyped, made = in_layout(layout), dtype_of_type(a.dtype)

        def same_or_copy(a):
            if is_in_order(a):
                return retyped(a)
            out = retyped(empty_as(retyped(a), made()))
            for index in np.ndindex(a.shape):
                out[index] = a[index]
            return out

        return same_or_copy

    stand_for(fn, stand_in)


_layout_function(np.ascontiguousarray, "C", is_in_c_order)
_layout_function(np.asfortranarray, "F", is_in_fortran_order)


def _flags(a):
    if a.layout == "A":
        raise TypingError("the flags of a differentiated array that is not known to be contiguous")
    return lambda a: a.flags


_attribute("flags", _flags)

# -- what tells types apart ------------------------------------------------------------------


def _comparison(fn):
    """The stand-in for `==` where an operand is the `dtype` of an array."""

    def stand_in(x, y):
        raise NotImplementedError

    @overload(stand_in)
    def typed(x, y):
        if isinstance(x, types.DType) and isinstance(y, types.DType):
            found = fn(d.base_scalar(x.dtype), d.base_scalar(y.dtype))
            return lambda x, y: found
        return lambda x, y: fn(x, y)

    REPLACED_COMPARISONS[fn] = stand_in
    INACTIVE.add(stand_in)


_comparison(operator.eq)


def isscalar(element):
    raise NotImplementedError


@overload(isscalar)
def _isscalar(element):
    if isinstance(element, d.Dual):
        return lambda element: True
    return lambda element: np.isscalar(element)


stand_for(np.isscalar, isscalar)


@overload_method(d.Dual, "__str__")
def _str(x):
    return lambda x: str(primal(x))


@overload_method(d.Dual, "__repr__")
def _repr(x):
    return lambda x: repr(primal(x))
