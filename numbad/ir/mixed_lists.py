"""What Numba's bare assertion about lists within a list means, in words and with its place."""

import traceback

from numba.core.errors import LoweringError
from numba.core.ir import Loc
from numba.cpython.listobj import list_to_list

_TEXT = (
    "Numba makes no list of lists of which some hold integers alone and others floats. "
    "Way out: write np.array([[0.0, 1.0], [-1.0, 0.0]]) for np.array([[0, 1.0], [-1, 0]])."
)


def in_words(error):
    """The error that an AssertionError of Numba's stands for; any other error as it is."""
    if not isinstance(error, AssertionError):
        return error
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames or frames[-1].f_code is not list_to_list.__code__:
        return error
    places = (getattr(frame.f_locals.get("self"), "loc", None) for frame in reversed(frames))
    return LoweringError(_TEXT, next((loc for loc in places if isinstance(loc, Loc)), None))
