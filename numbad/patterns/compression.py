"""Where each entry of a sparse matrix is read, once those of one colour are added up.

A pass of forward mode with the columns of one colour as its direction gives a number for each row, the
one entry that the row has in that colour. A pass of reverse mode does the same for columns, with colours of
rows. Either is a `Compression`: lines, and colours to read in each of them.
"""

from dataclasses import dataclass

import numpy as np

from .colouring import colour_columns, colour_symmetric


@dataclass(frozen=True, eq=False)
class Compression:
    """Colours, and the numbers that are read off: in line `i`, colours `slots[starts[i]:starts[i + 1]]`.

    Entry `k` of the pattern is number `order[k]` of those read; number `k` where `order` is None. Lines are
    the rows of the matrix in forward mode, its columns in reverse mode.
    """

    mode: str
    colours: np.ndarray
    count: int
    starts: np.ndarray
    slots: np.ndarray
    order: np.ndarray | None = None


def by_columns(pattern):
    """Columns share passes of forward mode."""
    colours, count = _narrow(*colour_columns(pattern))
    return Compression("forward", colours, count, pattern.indptr, colours[pattern.indices])


def by_rows(pattern):
    """Rows share passes of reverse mode: the columns of the transpose."""
    other = by_columns(pattern.transposed())
    order = np.empty(pattern.indices.size, np.intp)
    order[pattern.by_columns()] = np.arange(order.size)
    return Compression("reverse", other.colours, other.count, other.starts, other.slots, order)


def of_symmetric(pattern):
    """Columns of a symmetric matrix share passes of forward mode; mirror images are read once."""
    colours, count = _narrow(*colour_symmetric(pattern))
    rows, columns = pattern.rows(), pattern.indices.astype(np.int64)
    above, below = np.minimum(rows, columns), np.maximum(rows, columns)
    read = above * count + colours[below]
    alone = _alone(rows * count + colours[columns], read)
    read = np.where(alone, read, below * count + colours[above])
    read, order = np.unique(read, return_inverse=True)
    lines, slots = np.divmod(read, max(count, 1))
    starts = np.searchsorted(lines, np.arange(pattern.shape[0] + 1))
    return Compression(
        "forward",
        colours,
        count,
        starts.astype(pattern.indptr.dtype),
        slots.astype(colours.dtype),
        order.ravel(),
    )


def _alone(every, read):
    """Whether each of the places `read` occurs once among `every` one."""
    places, counts = np.unique(every, return_counts=True)
    return counts[np.searchsorted(places, read)] == 1


def _narrow(colours, count):
    """Colours in few bytes."""
    return colours.astype(np.int16 if count < 2**15 else np.int64), count
