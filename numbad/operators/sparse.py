"""`jacobian(..., sparsity=...)`: the Python side, which colours a pattern once and makes the matrices."""

import inspect
import threading
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit
from numba.core import types
from numba.core.errors import NumbaError
from numba.extending import overload, typeof_impl

from ..compilation.inherited import inherited_options
from ..errors import ArgumentError, SparsityError, UnsupportedError
from ..patterns.compression import of_symmetric
from ..patterns.detect import detect
from ..patterns.pattern import pattern_of
from ..rules.registry import generation
from .pattern_check import check_pattern
from .sparse_plan import forward_plan, plans_for

MOST_PLANS = 64
"""Patterns that are kept, for as many shapes and constants."""


class SparseJacobian:
    """What `nd.jacobian(..., sparsity=pattern)` returns: called with the arguments of `f`.

    The pattern is detected at calls where it is None. Inside nopython code, the entries alone are
    returned, in the order of `csr_array.data`.
    """

    name = "nd.jacobian"

    def __init__(self, dense, pattern, check):
        self.dense, self.f, self.check = dense, dense.f, check
        self.detected, self._given = pattern is None, pattern
        self._signature = inspect.signature(self.f.py_func)
        self._lock = threading.RLock()
        self._checked = WeakKeyDictionary()  # a plan -> the shapes that it was checked with
        self._plans = {} if pattern is None else {None: self.plans_for(pattern)}
        self.__name__ = f"{self.name.removeprefix('nd.')}_{self.f.py_func.__name__}"
        self.__doc__ = f"{self.name} of {self.f.py_func.__name__}, as a sparse matrix."

    def __reduce__(self):
        return type(self), (self.dense, self._given, self.check)

    def plans_for(self, pattern):
        """The plans of a pattern, in the order in which they should be tried."""
        return plans_for(self.dense, pattern)

    def plan(self, args):
        """The `Plan` for arguments."""
        return self._plans_of(self._key(args), args)[0]

    def _key(self, args):
        """What tells patterns apart; one that was detected in code that is out of date counts no more."""
        return (generation(), *map(constants_of, args)) if self.detected else None

    def _plans_of(self, key, args):
        plans = self._plans.get(key)
        if plans is None:
            with self._lock:
                plans = self._plans.get(key) or self._detected(key, args)
        return plans

    def _detected(self, key, args):
        plans = self.plans_for(detect(self.f, args, self.dense.argnums, self.dense.out))
        if len(self._plans) >= MOST_PLANS:
            self._plans.pop(next(iter(self._plans)))
        self._plans[key] = plans
        return plans

    def __call__(self, *args, **kwargs):
        """The matrix; a tuple of one for each of `argnums` where that is a tuple."""
        args = positional(self._signature, args, kwargs)
        key = self._key(args)
        *others, last = plans = self._plans_of(key, args)
        for plan in others:
            try:
                matrix = self._matrix(plan, args)
                break
            except (ArgumentError, UnsupportedError):  # perhaps of this mode alone
                continue
        else:
            matrix = self._matrix(last, args)
            if others:
                self._plans[key] = plans[-1:]
        return matrix if self.dense.single else self.split(matrix, args)

    def _matrix(self, plan, args):
        if self.check:
            self._check_once(plan, args)
        return plan.matrix(args)

    def split(self, matrix, args):
        """The columns of each argument."""
        return tuple(matrix[:, part] for part in self.parts(args))

    def parts(self, args):
        """The slices of the numbers of each argument."""
        ends = np.cumsum([count_numbers(args[k]) for k in self.dense.argnums])
        return [slice(a, b) for a, b in zip((0, *ends[:-1]), ends, strict=True)]

    def _check_once(self, plan, args):
        """See that no entry is missing, at the first call with arguments of these shapes."""
        checked, case = self._checked.setdefault(plan, set()), (generation(), *map(shape_of, args))
        if case not in checked:
            check_pattern(plan, self.f, self.dense.argnums, args, self.detected)
            checked.add(case)

    @cached_property
    def in_nopython(self):
        """A dispatcher that returns the entries, for calls from compiled code."""
        if self.detected:
            raise UnsupportedError(
                f'{self.name}: sparsity="detect" is for calls from Python; inside compiled code, give '
                f"the pattern: sparsity={self.pattern_source}"
            )
        options = inherited_options(self.f)
        return first_that_compiles(
            [data_in_nopython(p, options) for p in self._plans[None]], options
        )

    pattern_source = "nd.sparsity(f)(*args)"


class SparseHessian(SparseJacobian):
    """What `nd.hessian(..., sparsity=pattern)` returns: the Jacobian of a gradient.

    An entry and its mirror image are one number, read once.
    """

    name = "nd.hessian"
    pattern_source = "nd.sparsity(nd.grad(f))(*args)"

    def plans_for(self, pattern):
        if not pattern.is_symmetric():
            raise SparsityError(
                "nd.hessian: the sparsity pattern is not symmetric; of one triangle, make the whole: "
                "triangle + triangle.T"
            )
        return (forward_plan(self.dense, pattern, of_symmetric(pattern), self.name),)

    def __call__(self, *args, **kwargs):
        """The matrix; a tuple of rows of blocks where `argnums` is a tuple."""
        args = positional(self._signature, args, kwargs)
        if not all(holds_floats_alone(args[k]) for k in self.dense.argnums):
            raise ArgumentError(
                "nd.hessian: with sparsity=, tuples to differentiate by must hold floats alone"
            )
        return super().__call__(*args)

    def split(self, matrix, args):
        """The rows and columns of each argument."""
        parts = self.parts(args)
        return tuple(tuple(matrix[a, b] for b in parts) for a in parts)


def data_in_nopython(plan, options):
    """A dispatcher that returns the entries of a plan."""
    entries, slots, how = plan.entries, plan.slots, plan.compression
    colours, starts, order = how.colours, how.starts, how.order
    (rows, columns), told = (
        plan.pattern.shape,
        f"{plan.name}: the sparsity pattern has another shape",
    )
    in_order = order is None

    def jacobian_data(*args):
        memory, given = np.empty(0, np.uint8), np.empty(0)
        data, m, n, _ = entries(colours, starts, slots, memory, given, *args)
        if m != rows or n != columns:
            raise SparsityError(told)
        return data if in_order else data[order]

    return njit(jacobian_data, **options)


def first_that_compiles(dispatchers, options):
    """A dispatcher that calls the first of several that has code for the arguments."""
    if len(dispatchers) == 1:
        return dispatchers[0]

    def jacobian_data(*args):
        raise NotImplementedError

    @overload(jacobian_data)
    def choose(*args):
        *others, last = dispatchers
        for dispatcher in others:
            try:
                dispatcher.get_call_template(args, {})
            except (NumbaError, ArgumentError):  # perhaps of this mode alone
                continue
            return lambda *args: dispatcher(*args)
        return lambda *args: last(*args)

    return njit(lambda *args: jacobian_data(*args), **options)


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
    return np.size(value) if _is_float(value) else 0


def holds_floats_alone(value):
    """Whether every member of a tuple is differentiated by; what is no tuple is looked at elsewhere."""
    return not isinstance(value, tuple) or all(
        holds_floats_alone(v) if isinstance(v, tuple) else _is_float(v) for v in value
    )


def _is_float(value):
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex | np.inexact)


def shape_of(value):
    """What tells arguments apart for which a pattern may have another shape."""
    if isinstance(value, tuple):
        return tuple(map(shape_of, value))
    if isinstance(value, np.ndarray):
        return value.shape
    return type(value)


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
    return SparseJacobian(dense, pattern_given("nd.jacobian", sparsity), check)


def sparse_hessian(dense, sparsity, check):
    """The sparse Jacobian of a gradient by the same arguments."""
    return SparseHessian(dense, pattern_given("nd.hessian", sparsity), check)


def pattern_given(name, sparsity):
    """The `Pattern` that a user gives; None where it is to be detected."""
    if not isinstance(sparsity, str):
        return pattern_of(name, sparsity)
    if sparsity != "detect":
        raise SparsityError(
            f'{name}: sparsity is a SciPy sparse matrix or "detect", not {sparsity!r}'
        )
    return None
