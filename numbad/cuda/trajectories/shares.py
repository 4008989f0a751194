"""Shares of an ensemble for the workers of an executor, which have a GPU each."""

from collections import namedtuple

import numpy as np

from numbad.cuda.trajectories.portions import FEWEST, portions

# So many shares where the user does not say how large one is: an executor does not tell its workers.
SHARES = 16


class Asked(namedtuple("Asked", "solve y0s args keys precision derivatives reduce loss")):
    """What an ensemble is asked for, which can be pickled as far as the functions can."""

    __slots__ = ()

    def rows(self, first, number, count):
        """The same for some of `count` trajectories."""
        y0s, args, keys = (
            _rows(value, first, number, count) for value in (self.y0s, self.args, self.keys)
        )
        return self._replace(y0s=y0s, args=args, keys=keys)


def _rows(value, first, number, count):
    if isinstance(value, tuple):
        members = [_rows(member, first, number, count) for member in value]
        return value._make(members) if hasattr(value, "_fields") else tuple(members)
    many = value is not None and np.ndim(value) and np.shape(value)[0] == count
    return np.asarray(value)[first : first + number] if many else value


def shares(executor, work, asked, ts, count, block):
    """Yield (first, number, what `work(asked, ts, first)` returns) of each share, in order."""
    size = block or max(-(-count // SHARES), FEWEST)
    futures = {
        executor.submit(work, asked.rows(first, number, count), ts, first): (first, number)
        for first, number in portions(count, size)
    }
    try:
        for future, place in futures.items():
            yield *place, future.result()
    finally:
        for future in futures:
            future.cancel()
