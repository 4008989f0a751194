"""Dispatchers that hear of every value that Python code passes and that Numba has no type for."""

from numba.core import types
from numba.core.errors import NumbaTypeError
from numba.core.registry import CPUDispatcher


class CalledFromPython(CPUDispatcher):
    """A dispatcher whose `_compile_for_args` is asked where there is no type for an argument.

    Numba's C code raises what it meets, as at an empty list, of a dispatcher that was made without object
    mode; of any other it asks. The option is set right after.
    """

    def __init__(self, py_func, locals=None, targetoptions=None, **pipeline):
        options = dict(targetoptions or {})
        options.pop("nopython", None)
        super().__init__(py_func, locals=locals or {}, targetoptions=options, **pipeline)
        options["nopython"] = True

    def typeof_pyval(self, val):
        try:
            return super().typeof_pyval(val)
        except NumbaTypeError:  # a masked array
            return types.pyobject
