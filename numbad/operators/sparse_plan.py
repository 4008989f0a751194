"""How the entries of a pattern are evaluated, in either mode, and which mode takes less time."""

from dataclasses import dataclass

import numpy as np

from ..elementary.option import asked_as
from ..errors import SparsityError
from ..patterns.compression import Compression, by_columns, by_rows
from ..patterns.pattern import Pattern
from .compressed import ForwardCompressed, partials_for, places
from .compressed_rows import ReverseCompressed
from .operator_dispatcher import build
from .reused_memory import LOCAL, MOST_KEPT, NO_ENTRIES, NO_MEMORY, copied_into, lent

COLOURS_A_PULLBACK = 5
"""How many colours of columns take as long as one of rows."""


@dataclass(frozen=True, eq=False)
class SparsePlan:
    """How the entries of a pattern are evaluated: `entries(colours, starts, slots, *args)`."""

    name: str  # of the operator, for messages
    pattern: Pattern
    entries: object
    compression: Compression
    slots: np.ndarray
    n: int  # colours a pass
    one_pass: bool

    @property
    def mode(self):
        """The mode of the passes: "forward" where columns share them, "reverse" where rows do."""
        return self.compression.mode

    @property
    def count(self):
        """How many colours there are."""
        return self.compression.count

    def data(self, args, given=NO_ENTRIES):
        """The entries for arguments; SparsityError where the pattern has another shape."""
        how = self.compression
        into = given if how.order is None else NO_ENTRIES
        data, *shape = self.call(how.colours, how.starts, self.slots, args, into)
        refuse_shape(self.name, self.pattern.shape, *shape)
        if how.order is None:
            return data
        fits = given.size == how.order.size and given.dtype == data.dtype
        return np.take(data, how.order, out=given if fits else None)

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


def refuse_shape(name, shape, rows, columns):
    """SparsityError where a matrix of `rows` (-1 where not known) and `columns` is meant."""
    given = f"{name}: the sparsity pattern is {shape[0]} x {shape[1]}"
    if columns != shape[1]:
        raise SparsityError(
            f"{given}, but the arguments differentiated by hold {columns} numbers, one a column"
        )
    if rows != shape[0]:
        raise SparsityError(
            f"{given}, but the result of the function holds {rows} numbers, one a row"
        )


def forward_plan(dense, pattern, compression, name="nd.jacobian"):
    """The `SparsePlan` of forward passes for a dense `Jacobian` operator."""
    n, one_pass = partials_for(compression.count, dense.chunk)
    options = {"n": n, "one_pass": one_pass, "out": dense.out}
    with asked_as(dense.vector_math):
        entries = build(ForwardCompressed(dense.f, dense.argnums, **options))
    slots = compression.slots
    if one_pass:
        slots = places(compression.starts, slots, n)
    return SparsePlan(name, pattern, entries, compression, slots, n, one_pass)


def reverse_plan(dense, pattern, compression, name="nd.jacobian"):
    """The `SparsePlan` of reverse passes."""
    with asked_as(dense.vector_math):
        entries = build(ReverseCompressed(dense.f, dense.argnums, out=dense.out))
    return SparsePlan(name, pattern, entries, compression, compression.slots, 1, False)


def plans_for(dense, pattern):
    """Plans of a dense `Jacobian` operator, in the order in which they should be tried.

    A further one is for functions that the mode of the first refuses.
    """
    mode = dense.choice.mode
    if mode == "reverse":
        return (reverse_plan(dense, pattern, by_rows(pattern)),)
    columns = by_columns(pattern)
    forward = forward_plan(dense, pattern, columns)
    if mode == "forward" or dense.chunk is not None:
        return (forward,)
    fullest = int(np.bincount(pattern.indices).max(initial=0))  # no fewer colours of rows than that
    if max(fullest, 1) * COLOURS_A_PULLBACK >= columns.count:
        return (forward,)
    rows = by_rows(pattern)
    if rows.count * COLOURS_A_PULLBACK >= columns.count:
        return (forward,)
    return reverse_plan(dense, pattern, rows), forward
