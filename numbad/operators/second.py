"""Second derivatives, forward over forward: first-order operators applied to each other."""

from .dispatcher import build
from .jacobian import Jacobian, check_mode, grad, jacobian, value_and_grad
from .tangent import JVP


def hessian(f, argnums=0, mode="auto", *, chunk=None):
    """Hessian of a function that returns a float.

    Takes what `grad` takes. The result returns, for an array argument, an array of shape
    `argument.shape + argument.shape`; for a float, a float; for tuples, the structure of the
    gradient with, in each place, its derivative by the arguments.

    >>> import numpy as np, numbad as nd
    >>> nd.hessian(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 5.0]))
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    check_mode("hessian", mode)
    return jacobian(grad(f, argnums, chunk=chunk), argnums, chunk=chunk)


class HVP(JVP):
    """The tangent of a gradient, without the gradient itself."""

    def generate(self, typingctx, argtypes):
        return super().generate(typingctx, argtypes)


def hvp(f, argnums=None):
    """Hessian-vector product: `(primals, tangents)` -> a tuple, one entry for each of `argnums`.

    `primals` holds all arguments, `tangents` one direction for each of `argnums` (for every argument
    where None; those of constant arguments are ignored, and have no entry in the result).

    >>> import numpy as np, numbad as nd
    >>> h = nd.hvp(lambda x: x[0] ** 2 * x[1], argnums=0)
    >>> h((np.array([3.0, 5.0]),), (np.array([1.0, 0.0]),))
    (array([10.,  6.]),)
    """
    raise NotImplementedError
