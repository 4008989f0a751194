"""The code that sorts what is made of paths into bins: counts of all, and the numbers in some."""

import numpy as np

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.sde.block_source import block_of
from numbad.sde.ensemble_source import number_of_path, numbers_in_path
from numbad.sde.model_names import function_of


@jit(error_model="numpy", nogil=True)
def _put(number, edges, keep, counts, kept, columns, used):
    """Count what a path gave into bins; returns the arrays of what is kept, grown if need be."""
    if used + number.size > kept.size:
        more, rows = np.empty(2 * kept.size + number.size), kept.size
        more[:rows] = kept
        places = np.empty(more.size, np.int32)
        places[:rows] = columns
        kept, columns = more, places
    for j in range(number.size):
        low, high = 0, edges.shape[1]
        while low < high:
            middle = (low + high) >> 1
            if edges[j, middle] <= number[j]:
                low = middle + 1
            else:
                high = middle
        counts[j, low] += 1
        if keep[j, low]:
            kept[used], columns[used] = number[j], j
            used += 1
    return kept, columns, used


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def bins_of(ensemble, y0, args):
    """`bins(y0, args, steps, channels, size, key, paths, start, stop, edges, keep)` of some blocks.

    Each number of a path that is finite is a column with a row of `edges`, which ascend; bin i is from edge
    i - 1 up to, not including, edge i. Returns how many numbers each bin has, those in the bins to `keep`,
    path by path, and their columns, how many paths are finite, and the first that is not or -1.
    """
    half = ensemble.mirrored
    path = "first // 2 + p % (count // 2)" if half else "first + p"
    lines = [
        "k = keep.shape[0]",
        "counts, number = np.zeros(keep.shape, np.int64), np.empty(k)",
        "rows = size * k if edges.shape[1] else (stop - start) * size * k",
        "kept, columns, used = np.empty(rows), np.empty(rows, np.int32), 0",
        "good, bad = 0, -1",
        "for b in range(start, stop):",
        "    first = b * size",
        "    count = min(size, paths - first)",
        "    ys = block(y0, args, steps, channels, key, first, count)",
        "    for p in range(count):",
        *(
            "        " + line
            for line in number_of_path(ensemble.reduce, "p", "number[{}] = {}", "")
        ),
        "        finite = True",
        "        for j in range(k):",
        "            if not abs(number[j]) < np.inf:",
        "                finite = False",
        "        if finite:",
        "            good += 1",
        "            kept, columns, used = put(number, edges, keep, counts, kept, columns, used)",
        "        else:",
        f"            bad = {path} if bad < 0 else min(bad, {path})",
        "return counts, kept[:used].copy(), columns[:used].copy(), good, bad",
    ]
    namespace = {"block": block_of(ensemble, y0, args), "reduce": ensemble.reduce, "put": _put}
    head = "bins(y0, args, steps, channels, size, key, paths, start, stop, edges, keep)"
    return jit(error_model="numpy", nogil=True)(function_of(head, lines, namespace))


def columns_of(ensemble, y0, outputs):
    """How many numbers are made of a path, for the initial state (not its type) and so many outputs."""
    count = np.size(y0) if not isinstance(y0, tuple) else len(y0)
    return numbers_in_path(ensemble.reduce) if callable(ensemble.reduce) else outputs * count
