"""`brownian_path` and `brownian_increments`: the Brownian motion behind a solution, at any time."""

import math

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import overload

from numbad.errors import ArgumentError, DataError
from numbad.forward.dual import Dual
from numbad.random.generator_compiling import HOW_TO_MAKE_A_KEY
from numbad.sde.brownian import pair_of_cell
from numbad.sde.brownian_tree import draw, nothing_kept
from numbad.sde.grid import as_floats, as_times, constant, of_times, place
from numbad.sde.path_source import check_path, is_numbered

_MOST = 2.0**31  # cells from time 0


def brownian_path(key, ts, dt=1.0, channel=0):
    """The Brownian motion W of a key at any times, with W(0) = 0.

    It is what drives a solution of `nd.sde.solver` with that key and `dt`: a function of the key, `dt` and
    the time alone, the same bits in whatever order it is looked at.

    Parameters
    ----------
    key : numpy.uint64 or (numpy.uint64, int)
        From `nd.random.key`, or with the number of a path, as `nd.sde.ensemble` counts them.
    ts : float or array, shape (m,)
        Times, in any order, negative ones as well. Each costs some nanoseconds for every `dt` from 0 to it.
    dt : float
        The width of the cells in which the path is drawn, in units of t: that of the solver. A path is
        resolved to 2**-30 of it.
    channel : int
        Which one of the Brownian motions: that of component `channel`, or column of a matrix of noise.

    Returns
    -------
    float or array, shape (m,)
        In units of sqrt(t). No derivative by `ts` exists; asking for one raises.

    Raises
    ------
    ArgumentError
        for what is no key.
    DataError
        for times that are not finite or farther than 2**31 cells from 0, a `dt` that is not positive.

    Notes
    -----
    A virtual Brownian tree: Li, Wong, Chen & Duvenaud, arXiv:2001.01328.

    Examples
    --------
    >>> import numpy as np
    >>> import numbad as nd
    >>> key = nd.random.key(5)
    >>> w = nd.sde.brownian_path(key, np.array([0.0, 1.0, 0.25]))
    >>> float(w[0]), bool(w[2] == nd.sde.brownian_path(key, 0.25))
    (0.0, True)
    """
    is_one = np.ndim(ts) == 0
    times = as_floats((float(ts),) if is_one else ts)
    found = _path(times, *_checked("brownian_path", key), dt, channel)
    return float(found[0]) if is_one else found


def brownian_increments(key, ts, dt=1.0, channel=0):
    """(W, H) over the intervals between times: increments and space-time Levy areas.

    H is the mean of W(s) - W(start) over an interval less half of its increment: normal with a twelfth of the
    variance of W, and independent of W. Both may be given to a solver in place of a key.

    Parameters
    ----------
    key, dt, channel
        As for `brownian_path`.
    ts : array or tuple, shape (m,)
        Times that increase strictly.

    Returns
    -------
    tuple of two arrays, shape (m - 1,)

    Raises
    ------
    ArgumentError
        for what is no key.
    DataError
        for times that do not increase.

    Examples
    --------
    >>> import numpy as np
    >>> import numbad as nd
    >>> key = nd.random.key(5)
    >>> w, h = nd.sde.brownian_increments(key, np.array([0.0, 0.25, 1.0]))
    >>> whole, _ = nd.sde.brownian_increments(key, (0.0, 1.0))
    >>> bool(abs(w.sum() - whole[0]) < 1e-15), h.shape
    (True, (2,))
    """
    return _increments(as_times(ts), *_checked("brownian_increments", key), dt, channel)


def _checked(name, key):
    """A key and the number of a path; ArgumentError where a value is none."""
    numbered = isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], int | np.integer)
    found = key if numbered else (key, 0)
    if not isinstance(found[0], np.uint64):
        raise ArgumentError(
            f"nd.sde.{name} takes a key or (key, path), not {key!r}; {HOW_TO_MAKE_A_KEY}"
        )
    return found[0], check_path(found[1])


@of_times
def _path(times, key, number, dt, channel):
    """W at times in any order: that of whole cells from 0 on, and of what is left."""
    _check(times, dt, channel)
    kept, out = nothing_kept(1, channel), np.empty(times.size)
    w, h = np.empty((1, 1)), np.empty((1, 1))
    cell, begun = 0, 0.0
    for i in range(times.size):
        last, part = place(times[i], dt)
        if abs(last) < abs(cell) or last * cell < 0:
            cell, begun = 0, 0.0
        while cell < last:
            begun += pair_of_cell(key, number, channel, cell, dt)[0]
            cell += 1
        while cell > last:
            cell -= 1
            begun -= pair_of_cell(key, number, channel, cell, dt)[0]
        out[i] = begun
        if part > 0.0:
            draw(kept, key, number, dt, 1.0, (cell, 0.0), (cell, part), w, h, 0)
            out[i] += w[0, 0]
    return out


@of_times
def _increments(times, key, number, dt, channel):
    """W and H between times that increase."""
    _check(times, dt, channel)
    kept, steps = nothing_kept(1, channel), times.size - 1
    ws, hs = np.empty((steps, 1)), np.empty((steps, 1))
    for k in range(steps):
        begin, end = place(times[k], dt), place(times[k + 1], dt)
        draw(kept, key, number, dt, 1.0, begin, end, ws, hs, k)
    return ws[:, 0].copy(), hs[:, 0].copy()


@constant
def _check(times, dt, channel):
    if not 0.0 < dt < math.inf:
        raise DataError("dt, the width of the cells of a path, must be positive and finite")
    if channel < 0:
        raise DataError("channel is the number of a Brownian motion, from 0 on")
    for t in times:
        if not abs(t) / dt < _MOST:
            raise DataError("times must be finite, and not farther from 0 than 2**31 dt")


@overload(brownian_path)
def _path_in_nopython(key, ts, dt=1.0, channel=0):
    key_and_path, is_float = of_key(key), isinstance(ts, types.Float | types.Integer | Dual)

    def at_one(key, ts, dt=1.0, channel=0):
        key, number = key_and_path(key)
        return _path(as_floats((ts,)), key, number, dt, channel)[0]

    def at_all(key, ts, dt=1.0, channel=0):
        key, number = key_and_path(key)
        return _path(as_floats(ts), key, number, dt, channel)

    return at_one if is_float else at_all


@overload(brownian_increments)
def _increments_in_nopython(key, ts, dt=1.0, channel=0):
    key_and_path = of_key(key)

    def call(key, ts, dt=1.0, channel=0):
        key, number = key_and_path(key)
        return _increments(as_times(ts), key, number, dt, channel)

    return call


def of_key(key):
    """A function that tells the key and the number of a path, for the type of what is given as a key."""
    if key == types.uint64:
        return only_key
    if is_numbered(key):
        return numbered_key
    raise ArgumentError(f"here is a key or (key, path) needed, not {key}; {HOW_TO_MAKE_A_KEY}")


@njit
def only_key(key):
    return key, 0


@njit
def numbered_key(key):
    return key[0], check_path(key[1])
