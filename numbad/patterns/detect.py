"""Which numbers of a result depend on which numbers of the arguments: the pattern of a Jacobian.

The program is run on sets of column numbers in place of floats. Ints, bools, strings and arrays of ints are
known, floats are not, so that every branch on them is taken both ways. What comes out holds for all
values of the floats: it may hold an entry that is zero, and lacks none.
"""

import threading

import numpy as np
from numba import typeof
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.np.numpy_support import from_dtype

from ..errors import SparsityError, UnsupportedError
from . import sets
from .interactions import Interactions
from .machine import Machine, told
from .pattern import from_entries
from .program import program_of
from .values import (
    NOTHING,
    Array,
    Conflict,
    Either,
    UnknownNumber,
    deps_of,
    is_known,
    new_array,
    parts,
)

_lock = threading.RLock()  # programs are made as they are run


class ColumnNumbers:
    """Hands out the numbers of columns."""

    def __init__(self):
        self.count = 0

    def next(self):
        self.count += 1
        return UnknownNumber(frozenset([self.count - 1]))


def detect(dispatcher, args, argnums, out=None):
    """The `Pattern` of the Jacobian of a dispatcher by arguments `argnums`, for these arguments.

    Rows are the numbers of the result, or of argument `out`. Raises UnsupportedError where the code
    holds what cannot be followed, SparsityError where it raises whatever the floats are. Of the gradients
    of functions, by these arguments, the pattern is that of the Hessian.
    """
    with _lock:
        if is_gradient(dispatcher, argnums, out):
            return _detect_hessian(dispatcher.operator.f, args, argnums)
        if hasattr(dispatcher, "operator"):
            raise UnsupportedError(
                f"nd.sparsity cannot see through nd.{dispatcher.operator.name}, but for nd.grad by the "
                "same argnums; give the pattern yourself, nd.jacobian(f, sparsity=matrix)"
            )
        return _detect(dispatcher, args, argnums, out)


def is_gradient(dispatcher, argnums, out=None):
    """Whether a dispatcher is the gradient alone of a function, by these arguments."""
    operator = getattr(dispatcher, "operator", None)
    return (
        getattr(operator, "scalar", False)
        and not operator.with_value
        and operator.argnums == tuple(argnums)
        and out is None
        and not hasattr(operator.f, "operator")
    )


def _detect(dispatcher, args, argnums, out):
    count, returned, given, program = _run(dispatcher, args, argnums, Machine(program_of))
    result = returned if out is None else given[out]
    return _of_rows(numbers(result, program), count)


def _detect_hessian(dispatcher, args, argnums):
    found = Interactions()
    count, *_ = _run(dispatcher, args, argnums, Machine(program_of, found))
    return _of_rows(found.rows(count), count)


def _of_rows(rows, columns):
    """The pattern whose rows are these sets."""
    found = [sets.members(r) for r in rows]
    places = np.repeat(np.arange(len(rows)), [r.size for r in found])
    columns_of = np.concatenate([np.zeros(0, np.int64), *found])
    return from_entries((len(rows), columns), places, columns_of)


def _run(dispatcher, args, argnums, machine):
    """How many columns there are, the result, the arguments after the call, and the program."""
    argtypes = tuple(types.unliteral(typeof(a)) for a in args)
    program = program_of(dispatcher, argtypes)
    columns = ColumnNumbers()
    values = {k: abstract(args[k], columns) for k in argnums}
    given = [values[k] if k in values else abstract(a, None) for k, a in enumerate(args)]
    before = [list(a.cells) for a in _arrays(given)]
    with np.errstate(all="ignore"):
        try:
            returned = machine.call(dispatcher, argtypes, given)
        except RecursionError:
            raise UnsupportedError(told("calls nested this deep", program.loc)) from None
    if returned is None:
        raise SparsityError(
            f"nd.sparsity: {dispatcher.py_func.__name__} raises an exception for arguments of these "
            "shapes and constants"
        )
    _refuse_shared(dispatcher, args, list(_arrays(given)), before)
    return columns.count, returned[0], given, program


def abstract(value, columns):
    """An argument as a value of the interpretation; its floats are columns, where there are `columns`."""
    if isinstance(value, tuple):
        return tuple(abstract(v, columns) for v in value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        scalar = from_dtype(value.dtype)
        if value.dtype.kind in "biu":
            return new_array(value.shape, value.ravel().tolist(), scalar)
        cells = [columns.next() if columns else NOTHING for _ in range(value.size)]
        return new_array(value.shape, cells, scalar)
    if isinstance(value, bool | int | np.bool_ | np.integer):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float | complex | np.inexact):
        return columns.next() if columns else NOTHING
    if value is None or isinstance(value, str | Dispatcher):
        return value
    raise UnsupportedError(
        f"nd.sparsity: an argument of type {type(value).__name__} cannot be followed; give the "
        "pattern yourself, nd.jacobian(f, sparsity=matrix)"
    )


def numbers(value, program):
    """The sets of the numbers of a result, in C order, one row each."""
    if type(value) is tuple:
        return [deps for member in value for deps in numbers(member, program)]
    if isinstance(value, Array | Either):
        columns = zip(*(array.values() for array in parts(value)), strict=True)
        return [sets.union_all(map(deps_of, each)) for each in columns]
    if type(value) is UnknownNumber or is_known(value):
        return [deps_of(value)]
    if isinstance(value, Conflict):
        raise UnsupportedError(
            told(
                f"a result that is one {value.kind} or another, depending on a branch", program.loc
            )
        )
    return []


def _arrays(values):
    for value in values:
        if type(value) is Array:
            yield value
        elif type(value) is tuple:
            yield from _arrays(value)


def _refuse_shared(dispatcher, args, arrays, before):
    """Arguments that share memory have cells of their own here, which is wrong if one is changed."""
    changed = [
        any(new is not old for new, old in zip(a.cells, known, strict=True))
        for a, known in zip(arrays, before, strict=True)
    ]
    if not any(changed):
        return
    given = list(_given_arrays(args))
    for i, a in enumerate(given):
        for k in range(i):
            if (changed[i] or changed[k]) and np.may_share_memory(a, given[k]):
                raise UnsupportedError(
                    f"nd.sparsity: {dispatcher.py_func.__name__} changes one of two arguments that "
                    "share memory; pass a copy of one of them"
                )


def _given_arrays(values):
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from _given_arrays(value)
