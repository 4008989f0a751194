"""Second derivatives: forward mode through a gradient, which is taken in reverse where it can be."""

from ..keywords import checks_keywords
from .argument_structure import leaves, parse, refuse_constants
from .jacobian_operator import Jacobian
from .operator_dispatcher import build
from .tangent import JVP, Tangent, checked_tuples
from .tupled import TupledDispatcher


@checks_keywords("nd.hessian", "*args")
def hessian(f, argnums=0, mode="auto", sparsity=None, *, chunk=None, check_sparsity=True):
    """Hessian of a function that returns a float.

    Parameters
    ----------
    f, argnums, mode
        As for `grad`: the mode that the gradient is taken in. It is differentiated in forward mode.
    chunk : int, optional
        Partials a pass of forward mode.
    sparsity : sparse matrix or "detect", optional
        Where the Hessian may differ from zero, as for `jacobian`: symmetric, one row and one column
        for each number of the arguments `argnums`. docs/sparse.md.
    check_sparsity : bool
        As for `jacobian`.

    Returns
    -------
    dispatcher
        Returns, for an array argument, an array of shape `argument.shape + argument.shape`; for a
        float, a float; for tuples, the structure of the gradient with, in each place, its derivative
        by the arguments. With `sparsity`, a function that returns a `scipy.sparse.csr_array`; where
        `argnums` is a tuple, a tuple of one row of blocks for each; in nopython code, the entries.

    Raises
    ------
    SparsityError
        Where the pattern is not symmetric, has another shape, or leaves an entry out.

    Examples
    --------

    >>> import numpy as np, numbad as nd
    >>> nd.hessian(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 5.0]))
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    inner = {"mode": mode, "chunk": chunk if mode == "forward" else None}
    gradient = build(Jacobian(f, argnums, name="hessian", scalar=True, value=False, **inner))
    outer = {"mode": "forward", "chunk": chunk}
    dense = Jacobian(gradient, argnums, name="hessian", scalar=False, value=False, **outer)
    if sparsity is None:
        return build(dense)
    from .sparse import sparse_hessian  # with SciPy's matrices, for those who ask for them

    return sparse_hessian(dense, sparsity, check_sparsity)


_RETURNED = {
    "hvp": "tangent_of_level({r}, {tag})",
    "grad_and_hvp": "value_of({r}[0], {tag}), value_of({r}[1], {tag}), "
    "tangent_of_level({r}[1], {tag})",
}


class HVP(Tangent):
    """The directional derivative of a gradient, alone or with the value and the gradient."""

    takes_tuples = takes_tangents = True
    dispatcher_class = TupledDispatcher

    def parameters(self):
        return "primals, tangents", {}

    def generate(self, typingctx, argtypes):
        primals, _ = checked_tuples(self, argtypes)
        refuse_constants(f"nd.{self.name}", self.names, primals)
        whole = self.name == "grad_and_hvp"
        along = JVP(self.gradient(self.differentiated(primals), whole), None, name=self.name)
        along.argnums = self.argnums
        along.explicit = self.explicit
        writer = along.writer(typingctx, argtypes)
        return writer.write(value=False, returned=_RETURNED[self.name])

    def gradient(self, argnums, value):
        """The gradient that is differentiated once more, with the value where that is asked for."""
        return build(Jacobian(self.f, argnums, name=self.name, scalar=True, value=value))

    def differentiated(self, primals):
        """The arguments to differentiate by: those given, or all that hold floats."""
        if self.explicit:
            return self.argnums
        return tuple(
            k
            for k, ty in enumerate(primals)
            if k in self.argnums and any(x.kind != "constant" for x in leaves(parse(ty, "")))
        )


@checks_keywords("nd.hvp", "primals, tangents")
def hvp(f, argnums=None):
    """Hessian-vector product of a function that returns a float.

    Parameters
    ----------
    f : function or Numba dispatcher
    argnums : int or tuple of ints, optional
        The arguments to differentiate by; all that hold floats where None.

    Returns
    -------
    dispatcher
        Called with `(primals, tangents)`: all arguments, and one direction for each of `argnums`
        (for every argument where None; those of constant arguments are ignored). Returns a tuple
        with one entry for each argument differentiated by, of its structure and shapes.

    Raises
    ------
    ArgumentError
        As for `jvp`, and where the function does not return a float.
    UnsupportedError
        When compiled, for what cannot be differentiated.

    Examples
    --------
    >>> import numpy as np, numbad as nd
    >>> product = nd.hvp(lambda x: x[0] ** 2 * x[1])
    >>> product((np.array([3.0, 5.0]),), (np.array([1.0, 0.0]),))
    (array([10.,  6.]),)
    """
    return build(HVP(f, argnums, name="hvp"))


@checks_keywords("nd.grad_and_hvp", "primals, tangents")
def grad_and_hvp(f, argnums=None):
    """Value, gradient and Hessian-vector product: `(value, gradient, hvp)`, from one sweep.

    Takes what `hvp` takes; gradient and product are tuples with one entry for each argument
    differentiated by.

    >>> import numbad as nd
    >>> nd.grad_and_hvp(lambda x, y: x * x * y)((3.0, 2.0), (1.0, 0.0))
    (18.0, (12.0, 9.0), (4.0, 6.0))
    """
    return build(HVP(f, argnums, name="grad_and_hvp"))
