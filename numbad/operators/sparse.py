"""`jacobian(..., sparsity=...)`: the Python side, which colours a pattern once and makes the matrices."""

import inspect
import threading
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import typeof_impl

from ..errors import SparsityError, UnsupportedError
from ..sparsity.colouring import colour_columns
from ..sparsity.pattern import Pattern, pattern_of
from .compressed import ForwardCompressed, partials_for, places
from .dispatcher import INHERITED, build
from .jacobian import Jacobian
from .pattern_check import check_pattern


MOST_KEPT = 1 << 28
"""Bytes that a thread keeps for dual numbers between calls."""

_NONE = np.empty(0, np.uint8)
_local = threading.local()


@dataclass(frozen=True)
class Plan:
    """How the entries of a pattern are evaluated: `entries(colours, starts, slots, *args)`."""

    pattern: Pattern
    entries: object
    colours: np.ndarray
    slots: np.ndarray
    count: int
    n: int  # partials a pass
    one_pass: bool

    def data(self, args):
        """The entries for arguments; SparsityError where the pattern has another shape."""
        data, *shape = self.call(self.colours, self.pattern.indptr, self.slots, args)
        refuse_shape(self.pattern.shape, *shape)
        return data

    def call(self, colours, starts, slots, args):
        """`(data, rows, columns)` of one call, in memory that this thread keeps for the next one."""
        memory = getattr(_local, "memory", _NONE)
        _local.memory = _NONE  # a function called from here may ask for memory as well
        *found, needed = self.entries(colours, starts, slots, memory, *args)
        kept = memory.size if memory.size >= needed else needed * (needed <= MOST_KEPT)
        _local.memory = memory if kept == memory.size else np.empty(kept, np.uint8)
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

    def __init__(self, dense, pattern, check):
        self.dense, self.f, self.check = dense, dense.f, check
        self._signature = inspect.signature(self.f.py_func)
        self._lock, self._checked = threading.Lock(), set()
        self._plan = None if pattern is None else self._plan_for(pattern)
        self.__name__ = f"jacobian_{self.f.py_func.__name__}"
        self.__doc__ = f"nd.jacobian of {self.f.py_func.__name__}, as a sparse matrix."

    def _plan_for(self, pattern):
        colours, count = colour_columns(pattern)
        n, one_pass = partials_for(count)
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
        args = self._arguments(args, kwargs)
        plan = self.plan(args)
        if self.check:
            self._check_once(plan, args)
        matrix = plan.pattern.matrix(plan.data(args))
        return matrix if self.dense.single else self._split(matrix, args)

    def _arguments(self, args, kwargs):
        """All arguments by position, defaults included."""
        if not kwargs and len(args) == len(self._signature.parameters):
            return args
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args

    def _split(self, matrix, args):
        """The columns of each argument."""
        ends = np.cumsum([count_numbers(args[k]) for k in self.dense.argnums])
        starts = (0, *ends[:-1])
        return tuple(matrix[:, a:b] for a, b in zip(starts, ends, strict=True))

    def _check_once(self, plan, args):
        """See that no entry is missing, at the first call with arguments of these shapes."""
        key = tuple(shape_of(a) for a in args)
        if key not in self._checked:
            check_pattern(plan, self.f, self.dense.argnums, args)
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
            data, m, n, _ = entries(colours, starts, slots, np.empty(0, np.uint8), *args)
            if m != rows or n != columns:
                raise ValueError("nd.jacobian: the sparsity pattern has another shape")
            return data

        options = {k: v for k, v in self.f.targetoptions.items() if k in INHERITED}
        return njit(jacobian_data, **options)


@typeof_impl.register(SparseJacobian)
def _typeof_sparse(value, c):
    return types.Dispatcher(value.in_nopython)


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


def sparse_jacobian(dense, sparsity, check):
    """The sparse form of a `Jacobian` operator, for what a user gives as `sparsity=`."""
    if isinstance(sparsity, str):
        raise UnsupportedError("not yet")
    return SparseJacobian(dense, pattern_of("nd.jacobian", sparsity), check)
