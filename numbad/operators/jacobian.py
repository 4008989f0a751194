"""`grad`, `value_and_grad`, `jacobian`, `value_and_jacobian`: one operator, told apart by what it returns."""

from ..errors import ArgumentError
from .argnums import checked_argnums, checked_out, refuse_starred
from .dispatcher import Operator, build, parameter_names
from .gradient import write_gradient
from .mode import Choice, cheaper, check_mode
from .results import numeric_result, plain_result, refuse_returned, scalar_result
from .rows import write_rows
from .rows_together import goes_together, known_number, write_rows_together
from .structure import Leaf, leaves, parse, refuse_complex, render
from .sweep import Sweep


class Jacobian(Operator):
    """Derivatives of every number of the result by every number of some arguments."""

    def __init__(self, f, argnums, *, name, scalar, value, mode="auto", chunk=None, out=None):
        self.name, self.scalar, self.with_value = name, scalar, value
        super().__init__(f)
        names = parameter_names(self.f.py_func)
        self.single = not isinstance(argnums, tuple | list)
        self.argnums = checked_argnums(name, argnums, names)
        refuse_starred(name, self.f.py_func, self.argnums)
        self.chunk = checked_chunk(chunk)
        self.choice = Choice(check_mode(name, mode, chunk))
        self.out = checked_out(name, out, names)
        if self.out in self.argnums:
            raise ArgumentError(f"nd.{name}: argument {out} cannot be both out= and in argnums")

    def key(self):
        asked = self.name, self.scalar, self.with_value, self.argnums, self.single
        return *asked, self.choice.mode, self.chunk, self.out

    def generate(self, typingctx, argtypes):
        argtypes = tuple(argtypes)
        mode = self.choice.take(argtypes, lambda: self._preferred(typingctx, argtypes))
        if mode == "forward":
            return self._forward(typingctx, argtypes)
        if self.scalar:
            return write_gradient(self, typingctx, argtypes)
        return self._rows(typingctx, argtypes)

    def _rows(self, typingctx, argtypes):
        """Several rows a pass, or one by one where that is all that the code takes."""
        if goes_together(self, argtypes):
            self.choice.take_rows(argtypes, one_by_one=False)
            written = write_rows_together(self, typingctx, argtypes)
            if written is not None:
                return written
        self.choice.take_rows(argtypes, one_by_one=True)
        return write_rows(self, typingctx, argtypes)

    def fall_back(self, argtypes, error):
        return self.choice.fall_back(argtypes, error)

    def _preferred(self, typingctx, argtypes):
        """The mode that should cost less for these types."""
        if self.chunk is not None or self.out is not None:
            return "forward"
        inputs = [parse(argtypes[k], "") for k in self.argnums]
        if self.scalar:
            return cheaper(inputs)
        return cheaper(
            inputs,
            lambda: parse(plain_result(typingctx, self.f, argtypes), ""),
            lambda: known_number(self, typingctx, argtypes),
        )

    def _forward(self, typingctx, argtypes):
        sweep = Sweep(self, typingctx, argtypes, parameter_names(self.f.py_func))
        for k, tree in sweep.trees.items():
            refuse_complex(f"nd.{self.name}", sweep.names[k], tree)
        tree = sweep.run()
        if self.out is not None:
            refuse_returned(self, tree)
            tree = sweep.result_in(self.out)
        elif self.scalar:
            tree = scalar_result(self, tree)
        else:
            tree = numeric_result(self, tree)
        value = sweep.value(tree) if self.with_value else None
        derivative = self._derivative(sweep, tree)
        return sweep.write(f"{value}, {derivative}" if self.with_value else derivative)

    @staticmethod
    def _derivative(sweep, tree):
        if isinstance(tree, Leaf):
            return sweep.derivative(tree, 0)
        sources = {id(leaf): sweep.derivative(leaf, o) for o, leaf in enumerate(leaves(tree))}
        return render(tree, lambda leaf: sources[id(leaf)], sweep.namespace)


def checked_chunk(chunk):
    if chunk is None or (isinstance(chunk, int) and 1 <= chunk <= 64):
        return chunk
    raise ArgumentError(f"chunk is a number of partials from 1 to 64, not {chunk!r}")


def grad(f, argnums=0, mode="auto", *, chunk=None):
    """Gradient of a function that returns a float.

    Parameters
    ----------
    f : function or Numba dispatcher
        Returns a float. Plain Python functions are compiled with `numba.njit`.
    argnums : int or tuple of ints
        Which arguments to differentiate by: floats, arrays of floats, (named) tuples of these, and
        instances of `@jitclass` and `structref` classes with such fields.
    mode : {"auto", "forward", "reverse"}
        Forward mode (dual numbers) costs a sweep for every few inputs, reverse mode (the adjoint)
        one for all of them. "auto" takes forward mode for up to 8 scalars and reverse mode for more, and
        for arrays; where that mode refuses the function, the other one.
    chunk : int, optional
        Partials a pass of forward mode. By default 16, and at most 16 scalars travel in one pass.

    Returns
    -------
    dispatcher
        Takes the arguments of `f`; returns the gradient with the structure of the argument, or a
        tuple of gradients where `argnums` is a tuple. By an instance it is one of the same class, made
        without its `__init__`, that has the gradients by the fields in the fields.

    Raises
    ------
    ArgumentError
        Where the argument holds no floats or the function does not return a float.
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
    return build(
        Jacobian(f, argnums, name="grad", scalar=True, value=False, mode=mode, chunk=chunk)
    )


def value_and_grad(f, argnums=0, mode="auto", *, chunk=None):
    """The value of a function that returns a float, and its gradient, from one sweep.

    Takes what `grad` takes; the result returns `(value, gradient)`.

    >>> import numbad as nd
    >>> nd.value_and_grad(lambda x: x**3)(2.0)
    (8.0, 12.0)
    """
    name = "value_and_grad"
    return build(Jacobian(f, argnums, name=name, scalar=True, value=True, mode=mode, chunk=chunk))


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
    from .sparse import sparse_jacobian  # which makes operators of this module's

    return sparse_jacobian(dense, sparsity, check_sparsity)


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
