"""Functions of numbers that broadcast over arrays, as NumPy's ufuncs do, and that are none."""

import numpy as np


class ScalarFunction:
    """A function of `nin` numbers: called from Python it is `python`, which broadcasts.

    It has what Numba asks of a ufunc, so that the same code types both.
    """

    nout = 1

    def __init__(self, name, nin, python):
        self.__name__ = self.__qualname__ = name
        self.__module__ = "numbad.special"
        self.__doc__ = python.__doc__
        self.python = python
        self.nin, self.nargs = nin, nin + 1
        self.types = ["f" * nin + "->f", "d" * nin + "->d"]

    def __call__(self, *args):
        """The value; an argument more than there are inputs is an array that it is written to."""
        value = self.python(*args[: self.nin])
        if len(args) == self.nin:
            return value
        (out,) = args[self.nin :]
        np.copyto(out, value)
        return out

    def __repr__(self):
        return f"<numbad.special.{self.__name__}>"
