"""`derivative`, `jvp`, `jacobian` and `hvp` for use in kernels: forward mode, without any memory of its own.

What they return is called in a kernel or a device function, and from Python and compiled code for the CPU
as well.
"""

from numba.core import types

from ..errors import ArgumentError
from ..operators.argnums import checked_argnums, checked_out
from ..operators.jacobian_operator import checked_chunk
from ..operators.operator_dispatcher import (
    Operator,
    as_dispatcher,
    build,
    every_argument,
    parameter_names,
    plain_parameters,
    starred,
)
from ..operators.tangent import Derivative
from .hvp_source import HVPSource, directed
from .jacobian_source import JacobianSource


def derivative(f, argnum=0):
    """The derivative of a function by one of its arguments, a float, as a device function.

    Takes and returns what `nd.derivative` does, in a kernel. Literals in `f` take the precision of its
    arguments: where all floats among these are float32, `2.0 * x` is one, too.

    >>> import numbad as nd, numbad.cuda
    >>> slope = nd.cuda.derivative(lambda x: x**3)
    >>> slope(2.0)
    12.0
    """
    return build(Derivative(_function("derivative", f), argnum, name="derivative"))


def jvp(f, argnums=None):
    """Value and derivative in a given direction, as a device function: `(primals, tangents)`.

    Takes and returns what `nd.jvp` does, in a kernel. The tangent of an array is an array of its type and
    shape; where `f` writes to an array, it writes the tangents to that one. No two arrays that `f` is
    given share memory with one that it writes to.

    >>> import numbad as nd, numbad.cuda
    >>> nd.cuda.jvp(lambda x, y: x * y)((2.0, 3.0), (1.0, 0.5))
    (6.0, 4.0)
    """
    return build(KernelJVP(_function("jvp", f), argnums, name="cuda.jvp"))


def jacobian(f, argnums=0, *, out=None, chunk=None):
    """The derivatives of one number or a tuple of numbers, as a device function.

    Call it with the arguments of `f`, all by position, and after them one array for each array in
    `argnums`, which the derivatives by that array are written into. It has the shape of the argument,
    after an axis for the numbers of the result where that is a tuple::

        rows = nd.cuda.jacobian(lambda x: (x[0] * x[1], x[1]))

        @cuda.jit
        def kernel(x, J):            # (N, 2), (N, 2, 2)
            i = cuda.grid(1)
            if i < x.shape[0]:
                rows(x[i], J[i])

    Parameters
    ----------
    f : function or Numba dispatcher
        Allocates no arrays; with `out`, writes its result into an argument, which it does not read.
    argnums : int or tuple of ints
    out : int, optional
        The argument that `f` writes into. Each of `argnums`, floats too, then has an array, of the shape
        of that argument, and after it a last axis for an array of one axis.
    chunk : int, optional
        Partials a pass. By default 8 scalars, and by an array 4 of its elements, or 8 in single precision.

    Returns
    -------
    device function
        Returns the derivative with the structure of the result, and within it of the arguments, where
        these are floats or tuples of floats. Where there are arrays in `argnums`: for an array, the array
        that was given for it; a tuple of one entry for each of `argnums` where that is one.

    Raises
    ------
    ArgumentError, UnsupportedError
        When a kernel is compiled, for arguments that do not fit and for what cannot be differentiated.

    Examples
    --------
    >>> import numpy as np, numbad as nd, numbad.cuda
    >>> rows = nd.cuda.jacobian(lambda x: (x[0] * x[1], x[1]))
    >>> rows(np.array([2.0, 3.0]), np.empty((2, 2)))
    array([[3., 2.],
           [0., 1.]])
    """
    return build(KernelJacobian(_function("jacobian", f), argnums, out, chunk))


def hvp(f, argnums=None):
    """Hessian-vector product of a function that returns a float, as a device function.

    Call it with `(primals, tangents)`, as the result of `nd.hvp`, and, where arrays are differentiated by,
    with a third tuple: one array for each of them, of its type and shape, which the product is written into.
    Forward mode over forward mode, a pass for every few inputs. Returns a tuple with one entry for each
    argument differentiated by.

    >>> import numbad as nd, numbad.cuda
    >>> nd.cuda.hvp(lambda x, y: x * x * y)((3.0, 2.0), (1.0, 0.0))
    (4.0, 6.0)
    """
    return build(KernelHVP(_function("hvp", f), argnums))


def _function(name, f):
    """The function, of a device function too."""
    f = getattr(f, "py_func", f) if type(f).__module__.startswith("numba.cuda") else f
    f = as_dispatcher(f"nd.cuda.{name}", f)
    if starred(f.py_func) is not None:
        raise ArgumentError(f"nd.cuda.{name} takes functions without *args")
    return f


class KernelOperator(Operator):
    """What the operators here have in common."""

    has_pullback = False

    def __init__(self, f, argnums, name):
        self.name = name
        super().__init__(f)
        self.names = parameter_names(self.f.py_func)
        self.explicit = argnums is not None
        self.single = not isinstance(argnums, tuple | list)
        every = every_argument(self.f.py_func)
        self.argnums = checked_argnums(name, argnums, self.names) if self.explicit else every

    def key(self):
        return self.name, self.argnums, self.explicit, self.single


class KernelJVP(KernelOperator):
    def parameters(self):
        return "primals, tangents", {}

    def given(self, args):
        return args[0]

    def generate(self, typingctx, argtypes):
        call, tag = directed(self, typingctx, argtypes)
        tree = call.result()
        if tree.type != types.none:  # it writes to its arguments
            call.numbers(tree)
        returned = (
            "None" if tree.type == types.none else f"value_of(r, {tag}), tangent_of_level(r, {tag})"
        )
        return call.define("primals, tangents", [f"r = {call.source()}", f"return {returned}"])


class KernelJacobian(KernelOperator):
    def __init__(self, f, argnums, out, chunk):
        super().__init__(f, argnums, "cuda.jacobian")
        self.out = checked_out(self.name, out, self.names)
        self.chunk = checked_chunk(chunk)
        if self.out in self.argnums:
            raise ArgumentError(
                f"nd.{self.name}: argument {out} cannot be both out= and in argnums"
            )

    def key(self):
        return *super().key(), self.out, self.chunk

    def parameters(self):
        return f"{plain_parameters(self.f.py_func)}, *arrays", {}

    def given(self, args):
        return args[: len(self.names)]

    def generate(self, typingctx, argtypes):
        return JacobianSource(self, typingctx, argtypes).write()


class KernelHVP(KernelOperator):
    def __init__(self, f, argnums):
        super().__init__(f, argnums, "cuda.hvp")

    def parameters(self):
        return "primals, tangents, arrays=()", {}

    def given(self, args):
        return args[0]

    def generate(self, typingctx, argtypes):
        argtypes = [*argtypes, types.Tuple(())][:3]
        if isinstance(argtypes[2], types.Omitted):
            argtypes[2] = types.Tuple(())
        return HVPSource(self, typingctx, argtypes).write()
