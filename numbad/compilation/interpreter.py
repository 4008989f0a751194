"""What Python itself costs as code is compiled or loaded: collections of garbage, and memory for frames."""

import gc
from functools import wraps

# Slots of a frame: with one of so many CPython maps 1 MiB at once (`push_chunk` in Python/pystate.c), and
# half of that is left for the frames above it, a thousand of usual size. Pages are used as they are touched.
_SLOTS = 2**16


def at_full_speed(function):
    """The function, which compiles or imports, called so that Python does not disturb it.

    A collection would walk over all that Numba knows, hundreds of times; they wait until it has returned.
    """

    @wraps(function)
    def called(*args):
        if not gc.isenabled():
            return function(*args)
        gc.disable()
        try:
            return function(*args)
        finally:
            gc.enable()

    return with_room_for_frames(called)


def with_room_for_frames(function):
    """The Python function with a frame that claims many slots, and touches none.

    CPython keeps frames in pieces of 16 KiB and gives one back to the system as soon as its last frame has
    returned. Compilers call deeply: where a loop calls functions from the end of a piece, each call asks
    the system for memory, 8 % of the time that an operator takes to compile. Above this frame there is one
    large piece.
    """
    function.__code__ = function.__code__.replace(co_stacksize=_SLOTS)
    return function
