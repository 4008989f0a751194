"""`jacobian(..., sparsity=...)`: the Python side, which colours a pattern once and makes the matrices."""

import inspect
import threading
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit, typeof
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import typeof_impl

from ..errors import ArgumentError, SparsityError, UnsupportedError
from ..patterns.colouring import colour_columns
from ..patterns.detect import detect
from ..patterns.pattern import Pattern, pattern_of
from .again import LOCAL, MOST_KEPT, NO_ENTRIES, NO_MEMORY, copied_into, lent
from .compressed import ForwardCompressed, partials_for, places
from .dispatcher import INHERITED, build, parameter_names
from .jacobian import Jacobian
from .pattern_check import check_pattern
from .results import numeric_result, plain_result
from .structure import differentiated, parse

MOST_PLANS = 64
"""Patterns that are kept, for as many shapes and constants."""


@dataclass(frozen=True, eq=False)
class Plan:
    """How the entries of a pattern are evaluated: `entries(colours, starts, slots, *args)`."""

    pattern: Pattern
    entries: object
    colours: np.ndarray
    slots: np.ndarray
    count: int
    n: int  # partials a pass
    one_pass: bool

    def data(self, args, given=NO_ENTRIES):
        """The entries for arguments; SparsityError where the pattern has another shape."""
        data, *shape = self.call(self.colours, self.pattern.indptr, self.slots, args, given)
        refuse_shape(self.pattern.shape, *shape)
        return data

    def matrix(self, args):
        """The matrix for arguments, in the memory of the last one where nobody has that any more."""
        with lent(self) as arrays:
            data, indices, indptr = arrays or (NO_ENTRIES, None, None)
            data = self.data(args, data)
            indices = copied_into(indices, self.pattern.indices)
            indptr = copied_into(indptr, self.pattern.indptr)
            arrays[:] = data, indices, indptr
        return self.pattern.matrix(data, indices, indptr)

    def call(self, colours, starts, slots, args, given=NO_ENTRIES):
        """`(data, rows, columns)` of one call, in memory that this thread keeps for the next one."""
        memory = getattr(LOCAL, "memory", NO_MEMORY)
        LOCAL.memory = NO_MEMORY  # a function called from here may ask for memory as well
        *found, needed = self.entries(colours, starts, slots, memory, given, *args)
        kept = memory.size if memory.size >= needed else needed * (needed <= MOST_KEPT)
        LOCAL.memory = memory if kept == memory.size else np.empty(kept, np.uint8)
        return found


def refuse_shape(shape, rows, columns):
    """SparsityError where a matrix of `rows` (-1 where not known) and `columns` is meant."""
    given = f"nd.jacobian: the sparsity pattern is {shape[0]} x {shape[1]}"
    if columns != shape[1]:
        raise SparsityError(
            f"{given}, but the arguments differentiated by hold {columns} numbers, one a column"
        )
    if rows != shape[0]:
        raise SparsityError(
            f"{given}, but the result of the function holds {rows} numbers, one a row"
        )


class SparseJacobian:
    """What `nd.jacobian(..., sparsity=pattern)` returns: called with the arguments of `f`.

    Inside nopython code it returns the entries alone, in the order of `csr_array.data`.
    """

    detected = False  # whether the pattern is numbad's own

    def __init__(self, dense, pattern, check):
        self.dense, self.f, self.check = dense, dense.f, check
        self._signature = inspect.signature(self.f.py_func)
        self._lock, self._checked = threading.Lock(), set()
        self._plan = None if pattern is None else self._plan_for(pattern)
        self.__name__ = f"jacobian_{self.f.py_func.__name__}"
        self.__doc__ = f"nd.jacobian of {self.f.py_func.__name__}, as a sparse matrix."

    def _plan_for(self, pattern):
        colours, count = colour_columns(pattern)
        n, one_pass = partials_for(count, self.dense.chunk)
        argnums = self.dense.argnums
        entries = ForwardCompressed(self.f, argnums, n=n, one_pass=one_pass, out=self.dense.out)
        colours = colours.astype(np.int16 if count < 2**15 else np.int64)
        slots = colours[pattern.indices]
        if one_pass:
            slots = places(pattern.indptr, slots, n)
        return Plan(pattern, build(entries), colours, slots, count, n, one_pass)

    def plan(self, args):
        """The `Plan` for arguments."""
        return self._plan

    def __call__(self, *args, **kwargs):
        """The matrix; a tuple of one for each of `argnums` where that is a tuple."""
        args = positional(self._signature, args, kwargs)
        plan = self.plan(args)
        if self.check:
            self._check_once(plan, args)
        matrix = plan.matrix(args)
        return matrix if self.dense.single else self._split(matrix, args)

    def _split(self, matrix, args):
        """The columns of each argument."""
        ends = np.cumsum([count_numbers(args[k]) for k in self.dense.argnums])
        starts = (0, *ends[:-1])
        return tuple(matrix[:, a:b] for a, b in zip(starts, ends, strict=True))

    def _check_once(self, plan, args):
        """See that no entry is missing, at the first call with arguments of these shapes."""
        key = id(plan), *(shape_of(a) for a in args)
        if key not in self._checked:
            check_pattern(plan, self.f, self.dense.argnums, args, self.detected)
            self._checked.add(key)

    @cached_property
    def in_nopython(self):
        """A dispatcher that returns the entries, for calls from compiled code."""
        plan = self._plan
        if plan is None:
            raise UnsupportedError(
                'nd.jacobian: sparsity="detect" is for calls from Python; inside compiled code, give '
                "the pattern: sparsity=nd.sparsity(f)(*args)"
            )
        entries, colours, slots = plan.entries, plan.colours, plan.slots
        (rows, columns), starts = plan.pattern.shape, plan.pattern.indptr

        def jacobian_data(*args):
            memory, given = np.empty(0, np.uint8), np.empty(0)
            data, m, n, _ = entries(colours, starts, slots, memory, given, *args)
            if m != rows or n != columns:
                raise SparsityError("nd.jacobian: the sparsity pattern has another shape")
            return data

        options = {k: v for k, v in self.f.targetoptions.items() if k in INHERITED}
        return njit(jacobian_data, **options)


@typeof_impl.register(SparseJacobian)
def _typeof_sparse(value, c):
    return types.Dispatcher(value.in_nopython)


def positional(signature, args, kwargs):
    """All arguments by position, defaults included."""
    if not kwargs and len(args) == len(signature.parameters):
        return args
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def count_numbers(value):
    """How many floats there are in an argument: in an array, a tuple, a float."""
    if isinstance(value, tuple):
        return sum(map(count_numbers, value))
    if isinstance(value, np.ndarray):
        return value.size if value.dtype.kind in "fc" else 0
    return int(isinstance(value, float | complex | np.inexact))


def shape_of(value):
    """What tells arguments apart for which a pattern may have another shape."""
    if isinstance(value, tuple):
        return tuple(map(shape_of, value))
    if isinstance(value, np.ndarray):
        return value.shape
    return type(value)


class DetectingJacobian(SparseJacobian):
    """What `nd.jacobian(..., sparsity="detect")` returns: the pattern is found when it is called."""

    detected = True

    def __init__(self, dense, check):
        super().__init__(dense, None, check)
        self._plans = {}

    def plan(self, args):
        key = tuple(map(constants_of, args))
        plan = self._plans.get(key)
        if plan is None:
            with self._lock:
                plan = self._plans.get(key) or self._detected(key, args)
        return plan

    def _detected(self, key, args):
        plan = self._plan_for(detect(self.f, args, self.dense.argnums, self.dense.out))
        if len(self._plans) >= MOST_PLANS:
            self._plans.pop(next(iter(self._plans)))
        self._plans[key] = plan
        return plan


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


def constants_of(value):
    """What tells arguments apart that may have different patterns; floats have no part in it."""
    if isinstance(value, tuple):
        return (type(value), *map(constants_of, value))
    if isinstance(value, np.ndarray):
        contents = value.tobytes() if value.dtype.kind in "biu" else None
        return value.shape, value.dtype, value.flags.c_contiguous, contents
    if isinstance(value, float | complex | np.inexact):
        return type(value)
    try:
        hash(value)
    except TypeError:  # which detection refuses
        return type(value), id(value)
    return type(value), value


def sparse_jacobian(dense, sparsity, check):
    """The sparse form of a `Jacobian` operator, for what a user gives as `sparsity=`."""
    if dense.choice.mode == "reverse":
        raise ArgumentError(
            'nd.jacobian: with sparsity=, the passes are those of forward mode; leave out mode="reverse"'
        )
    if isinstance(sparsity, str):
        if sparsity != "detect":
            raise SparsityError(
                f'nd.jacobian: sparsity is a SciPy sparse matrix or "detect", not {sparsity!r}'
            )
        return DetectingJacobian(dense, check)
    return SparseJacobian(dense, pattern_of("nd.jacobian", sparsity), check)
