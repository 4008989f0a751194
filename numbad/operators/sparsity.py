"""`nd.sparsity`: the pattern of a Jacobian, as a matrix."""

import inspect

from numba import typeof
from numba.core.registry import cpu_target

from ..patterns.detect import detect
from .argument_structure import differentiated, parse
from .jacobian_operator import Jacobian
from .operator_dispatcher import parameter_names
from .results import numeric_result, plain_result
from .sparse import positional


class Sparsity:
    """What `nd.sparsity` returns: called with the arguments of `f`, it returns the pattern."""

    def __init__(self, f, argnums, out):
        operator = Jacobian(f, argnums, name="sparsity", scalar=False, value=False, out=out)
        self._operator = operator
        self.f, self.argnums, self.out = operator.f, operator.argnums, operator.out
        self._names = parameter_names(self.f.py_func)
        self._signature = inspect.signature(self.f.py_func)
        self.__name__ = f"sparsity_{self.f.py_func.__name__}"
        self.__doc__ = f"nd.sparsity of {self.f.py_func.__name__}."

    def __call__(self, *args, **kwargs):
        """The pattern as a `csr_array` of bools."""
        args = positional(self._signature, args, kwargs)
        for k in self.argnums:
            differentiated("nd.sparsity", self._names[k], "", typeof(args[k]))
        pattern = detect(self.f, args, self.argnums, self.out)
        if not pattern.shape[0] and self.out is None:
            result = plain_result(cpu_target.typing_context, self.f, tuple(map(typeof, args)))
            numeric_result(self._operator, parse(result, ""))
        return pattern.matrix()


def sparsity(f, argnums=0, out=None):
    """Where the Jacobian of a function may differ from zero.

    Parameters
    ----------
    f, argnums, out
        As for `jacobian`.

    Returns
    -------
    callable
        Takes the arguments of `f`, from Python. Returns a `scipy.sparse.csr_array` of bools, one row a
        number of the result, one column a number of the arguments `argnums`. It holds for all values
        of floats, on both sides of every branch; shapes, ints, bools, strings and arrays of ints are
        taken as they are. It may hold an entry that is always zero, and lacks none that is not.

    Raises
    ------
    UnsupportedError
        Where the code holds what cannot be followed. docs/sparse.md says what can.

    Examples
    --------
    >>> import numpy as np, numbad as nd
    >>> def f(x):
    ...     return x[1:] * x[:-1]
    >>> nd.sparsity(f)(np.ones(4)).toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    return Sparsity(f, argnums, out)
