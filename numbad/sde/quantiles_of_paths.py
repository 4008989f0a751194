"""Quantiles over many paths, exact, in memory that does not grow with the paths.

A path is a function of the key and its number, so that all paths can be passed through again. The first of
them are a sample, which tells within which bounds the number of a rank will lie: a pass counts what lies
below these, and keeps what lies between. Where that is too much, passes that count alone narrow the bounds
first (after J. I. Munro, M. S. Paterson, Theoretical Computer Science 12 (1980) 315).
"""

import math
from collections import namedtuple
from dataclasses import replace

import numpy as np
from numba.extending import overload, typeof_impl

from numbad.errors import ArgumentError, UnsupportedError
from numbad.operators.operator_dispatcher import as_dispatcher
from numbad.sde.binning import bins_of, columns_of
from numbad.sde.spreading import Chunk, mapping

FROM_PYTHON = (
    "nd.sde.quantiles is for calls of nd.sde.ensemble from Python, outside of functions that are compiled or "
    "differentiated: the quantile of derivatives is not the derivative of a quantile. Way out: return a "
    "probability, a mean, from compiled code"
)

WHOLE = 2**21  # numbers of all paths that are kept without further ado
SAMPLE, KEPT, EDGES = 2**20, 2**20, 2**19  # numbers in the sample, kept by a pass, bounds of bins
_LARGEST = np.int64(2**63 - 1)
_SURE = 6.0  # standard deviations of a sample's rank
_LEAST = 1024  # paths in the sample

Quantiles = namedtuple("Quantiles", "values levels paths failed")
Quantiles.__doc__ = """What `ensemble` returns with reduce=nd.sde.quantiles(...).

`values`, shape (len(levels), len(ts), n), or of a function `of` a path (len(levels),), if it returns a tuple
(len(levels), numbers); the `levels`; how many `paths` they are over, those that stayed finite; `failed`: the
number of the first path that ended in NaN or infinity, -1 if none did.
"""


class QuantileLevels(tuple):
    """The levels of quantiles, and the function of a path that they are `of`: None, or a dispatcher."""

    of = None


def quantiles(*levels, of=None):
    """Quantiles over paths, for `reduce` of `nd.sde.ensemble`.

    Parameters
    ----------
    levels : floats
        Each from 0 to 1: 0.5 is the median.
    of : None or function
        None: of each component at each of `ts`. A function: `of(ys)` gets the array (len(ts), n) of one path
        and returns a float or a tuple of floats, of which quantiles are taken (a loss, of which they are
        the values at risk).

    Returns
    -------
    object
        With `reduce=` it, `nd.sde.ensemble` returns `Quantiles(values, levels, paths, failed)`: exact
        quantiles, those of `numpy.quantile` to the last bit (R. J. Hyndman, Y. Fan, The American Statistician
        50 (1996), definition 7). Up to 2**21 numbers (16 MiB) of all paths are kept. For more, memory does
        not grow with the paths: some are solved first, as a sample that tells where the quantiles will be,
        then all of them; once, where at most 2**20 numbers lie between the sample's bounds, otherwise twice
        or more often, as bounds are narrowed. No derivatives; for calls from Python.

    Raises
    ------
    ArgumentError
        for levels that are none.

    Examples
    --------
    >>> import numbad as nd
    >>> solve = nd.sde.solver(lambda t, y: -y, lambda t, y: 1.0, noise="additive", dt=0.1)
    >>> bands = nd.sde.quantiles(0.05, 0.5, 0.95)
    >>> found = nd.sde.ensemble(solve, 1.0, (0.0, 1.0), (), nd.random.key(0), 10_000, reduce=bands)
    >>> low, median, high = found.values            # each of shape (len(ts), n)
    >>> bool(low[1, 0] < median[1, 0] < high[1, 0]), found.paths
    (True, 10000)
    """
    found = checked_levels("nd.sde.quantiles", levels)
    if of is not None and not callable(of):
        raise ArgumentError(f"of is a function of a path, not {of!r}")
    found.of = None if of is None else as_dispatcher("sde.quantiles", of)
    return found


def checked_levels(name, levels):
    """What a function of this name was given as `QuantileLevels`; raises ArgumentError."""
    for level in levels:
        known = isinstance(level, int | float | np.floating | np.integer)
        if isinstance(level, bool) or not known or not 0.0 <= level <= 1.0:
            raise ArgumentError(f"{name} takes levels from 0 to 1, not {level!r}")
    if not levels:
        raise ArgumentError(f"{name} needs a level, such as 0.5 for the median")
    return QuantileLevels(map(float, levels))


@typeof_impl.register(QuantileLevels)
def _as_constant(levels, context):
    raise UnsupportedError(FROM_PYTHON)


@overload(quantiles, strict=False)
def _in_nopython(*levels, of=None):
    raise UnsupportedError(FROM_PYTHON)


def quantiles_of(plan, levels, y0, times, args, key, paths, executor, progress):
    """The quantiles of what `plan` makes of each path."""
    chunk = Chunk(bins_of, plan, y0, args, times, key, paths)
    columns = columns_of(plan, y0, chunk.outputs)
    shape = (chunk.outputs, -1) if levels.of is None else (-1,)
    with mapping(executor) as run:
        passes = _Passes(chunk, columns, run, progress)
        found = _kept(passes, levels) if paths * columns <= WHOLE else _searched(passes, levels)
    values = found.reshape(len(levels), *shape)
    if levels.of is not None and columns == 1:
        values = values[:, 0]
    return Quantiles(values, tuple(levels), passes.good, passes.failed)


class _Passes:
    """Paths, to be passed through as often as need be; `good` and `failed` are those of the last pass."""

    def __init__(self, chunk, columns, run, progress):
        self.chunk, self.columns, self.run, self.progress = chunk, columns, run, progress
        self.good, self.failed = 0, -1

    def all_numbers(self, paths):
        """What is made of the first paths, those that stay finite: an array with a column for each number."""
        edges, keep = np.empty((self.columns, 0)), np.ones((self.columns, 1), bool)
        return self.sort(edges, keep, paths)[1].reshape(-1, self.columns)

    def sort(self, edges, keep, paths=None):
        """Counts of all bins, the numbers in those to keep, and the columns of these."""
        chunk = replace(self.chunk, paths=paths or self.chunk.paths, more=(edges, keep))
        counts, kept, self.good, self.failed = np.zeros(keep.shape, np.int64), [], 0, -1
        for found, numbers, columns, good, bad in chunk.parts(self.run, self.progress):
            counts += found
            kept.append((numbers, columns))
            self.good += good
            if self.failed < 0:
                self.failed = bad
        numbers, columns = (np.concatenate(rows) for rows in zip(*kept, strict=True))
        return counts, numbers, columns


def _kept(passes, levels):
    numbers = passes.all_numbers(passes.chunk.paths)
    if not len(numbers):
        return np.full((len(levels), passes.columns), np.nan)
    return np.quantile(numbers, levels, axis=0)


def _searched(passes, levels):
    """The same, of numbers that are not kept: those of so many ranks are sought, pass after pass."""
    paths, columns = passes.chunk.paths, passes.columns
    sample = passes.all_numbers(_sample_size(levels, paths, columns, passes.chunk.size))
    edges, keep = _bins_by_sample(sample, levels, paths)
    del sample
    search = _Ranks(levels, columns)
    while search.left.any():
        found = passes.sort(edges, keep)
        if not passes.good:
            return np.full((len(levels), columns), np.nan)
        search.look(passes.good, edges, keep, *found)
        edges, keep = search.bins()
    return search.values()


def _sample_size(levels, paths, columns, size):
    """So many paths, in whole blocks, that half of what may be kept lies between their bounds."""
    spread = sum(2.0 * _SURE * math.sqrt(level * (1.0 - level)) for level in levels)
    enough = (2.0 * spread * paths * columns / KEPT) ** 2
    blocks = math.ceil(min(max(enough, _LEAST), SAMPLE / columns) / size)
    return min(paths, blocks * size)


def _bins_by_sample(sample, levels, paths):
    """Edges and what to keep for the first pass through all paths: all between bounds, or bins to count."""
    rows = np.sort(sample, axis=0).T.copy()
    windows = [[_window(row, level) for level in levels] for row in rows]
    pairs = list(zip(rows, windows, strict=True))
    inside = sum(_inside(row, *ends) for row, of_levels in pairs for ends in of_levels)
    if len(sample) and paths * inside <= KEPT * len(sample):
        return _between(windows)
    most = _most(len(rows), len(levels))
    return _counting([_edges(row, ends, most) for row, ends in pairs])


def _most(columns, brackets):
    """How many edges a column may have."""
    return max(8 * brackets, EDGES // columns)


def _window(row, level):
    """Bounds of the quantile, as far as a sorted sample can tell; the upper one is outside."""
    centre = level * (len(row) - 1)
    reach = _SURE * math.sqrt(level * (1.0 - level) * len(row)) + 2.0
    low, high = math.floor(centre - reach), math.ceil(centre + reach)
    return (
        row[low] if low >= 0 else -np.inf,
        np.nextafter(row[high], np.inf) if high < len(row) else np.inf,
    )


def _is_one(low, high):
    """Whether there is one number between two bounds."""
    return np.nextafter(low, np.inf) >= high


def _inside(row, low, high):
    """How many numbers of the sample would be kept between two bounds."""
    return 0 if _is_one(low, high) else np.subtract(*np.searchsorted(row, (high, low)))


def _edges(row, windows, most):
    """Edges of bins that hold alike many numbers of the sample; a number that is there often has its own."""
    each = max(1, most // (2 * len(windows)) - 1)
    found = []
    for low, high in windows:
        first, last = np.searchsorted(row, (low, high))
        chosen = row[np.linspace(first, last - 1, min(each, last - first)).astype(int)]
        found += [[low, high], chosen, np.nextafter(chosen, np.inf)]
    return np.unique(np.concatenate(found))


def _counting(edges):
    """A table of edges, with nothing to keep; infinity, which no number reaches, fills it up."""
    table = np.full((len(edges), max(map(len, edges))), np.inf)
    for row, given in zip(table, edges, strict=True):
        row[: len(given)] = given
    return table, np.zeros((len(edges), table.shape[1] + 1), bool)


def _between(windows):
    """The table of the bounds of each column, where what is between two of them is to be kept."""
    edges, keep = _counting([np.unique(ends) for ends in windows])
    for row, kept, ends in zip(edges, keep, windows, strict=True):
        for low, high in ends:
            if not _is_one(low, high):
                kept[np.searchsorted(row, low) + 1 : np.searchsorted(row, high) + 1] = True
    return edges, keep


class _Ranks:
    """The numbers of some ranks in each column: found, or between bounds."""

    def __init__(self, levels, columns):
        self.levels, self.ranks = levels, None
        self.left = np.ones((columns, 1), bool)

    def _begin(self, good):
        """Ranks are known when the number of finite paths is."""
        self.places = np.array(self.levels) * (good - 1)
        self.below = np.floor(self.places).astype(np.int64)
        self.ranks = np.unique([self.below, np.minimum(self.below + 1, good - 1)])
        shape = len(self.left), len(self.ranks)
        self.left, self.inside = np.ones(shape, bool), np.empty(shape, np.int64)
        self.found, self.low, self.high = (np.empty(shape) for _ in range(3))

    def look(self, good, edges, keep, counts, numbers, columns):
        """Find what a pass has kept, or bins of one number; bounds of the others."""
        if self.ranks is None:
            self._begin(good)
        numbers = numbers[np.lexsort((numbers, columns))]
        kept = np.where(keep, counts, 0)
        starts = (np.cumsum(kept) - kept.ravel()).reshape(kept.shape)
        for j, row in enumerate(edges):
            left = np.flatnonzero(self.left[j])
            total = counts[j].cumsum()
            bins = np.searchsorted(total, self.ranks[left], side="right")
            ends = np.concatenate([[-np.inf], row, [np.inf]])
            low, high = ends[bins], ends[bins + 1]
            self.low[j, left], self.high[j, left] = low, high
            self.inside[j, left], self.found[j, left] = counts[j, bins], low
            here = keep[j, bins]
            within = self.ranks[left] - total[bins] + counts[j, bins]
            self.found[j, left[here]] = numbers[(starts[j, bins] + within)[here]]
            self.left[j, left] = ~(here | _is_one(low, high))

    def bins(self):
        """Edges and what to keep for the next pass."""
        brackets, inside = [], 0
        for left, *bounds in zip(self.left, self.low, self.high, self.inside, strict=True):
            rows = dict.fromkeys(zip(*(row[left].tolist() for row in bounds), strict=True))
            brackets.append([(low, high) for low, high, _ in rows])
            inside += sum(count for *_, count in rows)
        if inside <= KEPT:
            return _between(brackets)
        most = _most(len(brackets), max(map(len, brackets)))
        return _counting([_divided(ends, most) for ends in brackets])

    def values(self):
        """The quantiles, as NumPy has them between two numbers."""
        columns = []
        for place, below in zip(self.places, self.below, strict=True):
            first, last = np.searchsorted(self.ranks, (below, min(below + 1, self.ranks[-1])))
            columns.append(np.quantile(self.found[:, [first, last]], place - below, axis=1))
        return np.array(columns)


def _divided(brackets, most):
    """Edges within bounds, evenly spaced in the order of all floats, so that few passes get to one."""
    edges = [np.empty(0)]
    for low, high in brackets:
        first, last = (int(place) for place in _places(np.array([low, high])))
        step = -(-(last - first) // (most // len(brackets) - 2))
        count = -(-(last - first) // step)
        edges += [_floats(first + step * np.arange(count)), [high]]
    return np.unique(np.concatenate(edges))


def _places(floats):
    """Integers in the order of floats."""
    bits = floats.view(np.int64)
    return np.where(bits < 0, -1 - (bits & _LARGEST), bits)


def _floats(places):
    return np.where(places < 0, (-1 - places) | ~_LARGEST, places).view(np.float64)
