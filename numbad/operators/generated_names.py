"""The namespace of generated code: names for Python objects, dtypes and zeros."""

import numpy as np
from numba.core import types

from ..forward import dual_arrays
from . import runtime
from .describe import contains_floats


class Writer:
    """Gives names, in generated code, to what is known when it is written."""

    def __init__(self, namespace=None):
        self.namespace = {"np": np} if namespace is None else namespace

    def constant(self, prefix, value):
        """A name in the generated code for a Python object."""
        for name, known in self.namespace.items():
            if known is value and name.startswith(prefix):
                return name
        name = f"{prefix}{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def dtype(self, scalar):
        """Source of the dtype for a scalar type."""
        return self.constant("dtype", dual_arrays.dtype_of_type(scalar)) + "()"

    def zero(self, scalar):
        """Source of the zero of a scalar type."""
        return self.constant("zero", runtime.zero_of_type(scalar)) + "()"

    def cast(self, source, scalar):
        """Source of a scalar converted to a type."""
        return f"{self.constant('cast', dual_arrays.as_scalar(scalar))}({source})"

    def constant_zero(self, leaf):
        """The zero of a constant member's own type; None for what has no zero."""
        if isinstance(leaf.type, types.Integer | types.Boolean):
            return self.zero(leaf.type)
        if isinstance(leaf.type, types.Array) and not contains_floats(leaf.type):
            return f"np.zeros_like({leaf.source})"
        return "None"


def indented(line):
    """The lines of a text, one level deeper."""
    return "\n".join("    " + part for part in line.split("\n"))
