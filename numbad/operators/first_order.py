"""`grad`, `value_and_grad`, `jacobian`, `value_and_jacobian`: one operator, told apart by what it returns."""

from ..keywords import checks_keywords
from .jacobian_operator import Jacobian
from .operator_dispatcher import build


@checks_keywords("nd.grad", "*args")
def grad(f, argnums=0, mode="auto", *, chunk=None, has_aux=False):
    """Gradient of a function that returns a float.

    Parameters
    ----------
    f : function or Numba dispatcher
        Returns a float. Plain Python functions are compiled with `numba.njit`.
    argnums : int or tuple of ints
        Which arguments to differentiate by: floats, arrays of floats, (named) tuples of these, and
        instances of `@jitclass` and `structref` classes with such fields. Those of `*args` are counted on:
        `f(t, *p)` by `p[0]` and `p[1]` is by arguments 1 and 2.
    mode : {"auto", "forward", "reverse"}
        Forward mode (dual numbers) costs a sweep for every few inputs, reverse mode (the adjoint)
        one for all of them. "auto" takes forward mode for up to 8 scalars and reverse mode for more, and
        for arrays; where that mode refuses the function, the other one.
    chunk : int, optional
        Partials a pass of forward mode. By default at most 16 scalars travel in one pass, and arrays in
        passes of 8: for many inputs of a function whose own work is dear, 16 are up to twice as fast.
    has_aux : bool
        Whether `f` returns `(value, aux)`: a float to differentiate, and numbers, arrays or tuples of these
        to look at beside it: predictions, parts of a loss. No derivative of `aux` is taken.

    Returns
    -------
    dispatcher
        Takes the arguments of `f`; returns the gradient with the structure of the argument, or a
        tuple of gradients where `argnums` is a tuple. By an instance it is one of the same class, made
        without its `__init__`, that has the gradients by the fields in the fields. With `has_aux`,
        `(gradient, aux)`.

    Raises
    ------
    ArgumentError
        Where the argument holds no floats or the function does not return a float; with `has_aux`, a
        pair of a float and something.
    UnsupportedError
        When compiled, for what cannot be differentiated.

    Examples
    --------
    >>> import numbad as nd
    >>> def f(x, y):
    ...     return x * x * y
    >>> nd.grad(f, argnums=(0, 1))(3.0, 2.0)
    (12.0, 9.0)
    """
    options = {"mode": mode, "chunk": chunk, "has_aux": has_aux}
    return build(Jacobian(f, argnums, name="grad", scalar=True, value=False, **options))


@checks_keywords("nd.value_and_grad", "*args")
def value_and_grad(f, argnums=0, mode="auto", *, chunk=None, has_aux=False):
    """The value of a function that returns a float, and its gradient, from one sweep.

    Takes what `grad` takes; the result returns `(value, gradient)`; with `has_aux`,
    `((value, aux), gradient)`.

    >>> import numbad as nd
    >>> nd.value_and_grad(lambda x: x**3)(2.0)
    (8.0, 12.0)
    >>> nd.value_and_grad(lambda x: (x**3, x + 1.0), has_aux=True)(2.0)
    ((8.0, 3.0), 12.0)
    """
    options = {"mode": mode, "chunk": chunk, "has_aux": has_aux}
    name = "value_and_grad"
    return build(Jacobian(f, argnums, name=name, scalar=True, value=True, **options))


@checks_keywords("nd.jacobian", "*args")
def jacobian(
    f, argnums=0, mode="auto", sparsity=None, *, out=None, chunk=None, check_sparsity=True
):
    """Jacobian of a function that returns a float, an array, or a tuple of these.

    Parameters
    ----------
    f, argnums, mode, chunk
        As for `grad`.
    sparsity : sparse matrix or "detect", optional
        Where the Jacobian may differ from zero: a SciPy sparse matrix, one row a number of the
        result, one column a number of the arguments, both in C order. Columns that meet in no row
        are evaluated together in forward mode, rows that meet in no column in reverse mode, and calls
        from Python return a `scipy.sparse.csr_array`; mode "auto" takes the mode that should cost
        less, or the other one where that is refused. "detect" finds the pattern as `nd.sparsity`
        does, at the first call and whenever a shape or a constant argument changes. docs/sparse.md.
    out : int, optional
        For a function that writes its result into an argument: that argument's number. The result
        takes all of `f`'s arguments and writes the value into this one.
    check_sparsity : bool
        Whether the first call for given shapes sees that the given pattern leaves out no
        derivative that differs from zero there.

    Returns
    -------
    dispatcher
        Returns an array of shape `result.shape + argument.shape`; with the structure of the
        result, and within it of the arguments, where these are tuples. With `sparsity`, a
        function that returns a `csr_array`, or a tuple of one for each of `argnums` where that is a
        tuple; in nopython code, the array of its entries. The members of a result that is a tuple follow
        one another in its rows.

    Raises
    ------
    ArgumentError
        Where an argument holds no floats, or the result is none that has a derivative: None, a list.
    UnsupportedError
        When compiled, for what cannot be differentiated.
    SparsityError
        Where the pattern has another shape than the Jacobian, or leaves an entry out.

    Examples
    --------
    >>> import numpy as np, numbad as nd
    >>> def f(x):
    ...     return x * x[::-1]
    >>> nd.jacobian(f)(np.array([1.0, 2.0]))
    array([[2., 1.],
           [2., 1.]])
    >>> nd.jacobian(lambda x, y: (x * y, (x + y,)), argnums=(0, 1))(2.0, 3.0)
    ((3.0, 2.0), ((1.0, 1.0),))
    """
    options = {"mode": mode, "chunk": chunk, "out": out}
    dense = Jacobian(f, argnums, name="jacobian", scalar=False, value=False, **options)
    if sparsity is None:
        return build(dense)
    from .sparse import sparse_jacobian  # with SciPy's matrices, for those who ask for them

    return sparse_jacobian(dense, sparsity, check_sparsity)


@checks_keywords("nd.value_and_jacobian", "*args")
def value_and_jacobian(f, argnums=0, mode="auto", *, out=None, chunk=None):
    """The value of a function and its Jacobian, from one sweep: `(value, jacobian)`.

    Takes what `jacobian` takes.

    >>> import numbad as nd
    >>> nd.value_and_jacobian(lambda x, y: (x * y, x + y), argnums=(0, 1))(2.0, 3.0)
    ((6.0, 5.0), ((3.0, 2.0), (1.0, 1.0)))
    """
    options = {"mode": mode, "chunk": chunk, "out": out}
    name = "value_and_jacobian"
    return build(Jacobian(f, argnums, name=name, scalar=False, value=True, **options))
