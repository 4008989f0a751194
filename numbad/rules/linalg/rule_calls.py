"""Stand-ins that call a function with a rule."""

from numba.core import types

from ..arrays.nests import jit
from ..arrays.table import is_array


def calling(function, parameters, given=None):
    """A jitted function of these parameters that calls another; `given` is what it passes on."""
    given = parameters if given is None else given
    return jit([f"def call({parameters}):", f"    return function({given})"], function=function)


def is_matrix(ty):
    """Whether a type is that of a matrix of floats or complex numbers."""
    return is_array(ty) and ty.ndim == 2


def is_complex(ty):
    return isinstance(ty.dtype, types.Complex)
