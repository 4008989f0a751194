"""Turns what Numba says of code that does not compile for dual numbers into a refusal.

The refusal names the construct, the file, the line, the source line itself, and the way out.
"""

import itertools
import os
import re
import threading
import traceback
from collections import deque
from contextlib import contextmanager
from functools import partial

import numba
from numba.core import errors
from numba.core.ir import Loc
from numba.core.types import FunctionType
from numba.np.arrayobj import array_to_array

from ..errors import CacheWarning, NumbadError, NumbadWarning, UnsupportedError
from ..ir.fence import Place, defect, place, readable
from ..ir.ways_out import LITERAL, OF_LITERAL, way_out_of
from ..source import line_of_def
from .dual import duals_in

_LATEST = threading.local()  # the last refusals of nested compilations
_KEPT = 50
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_DUAL = re.compile(r"Dual\((?:differentiated )?(\w+), \d+, \d+\)")
_NOISE = (
    *("During: ", "File ", "<source", "Failed in ", "There are", "Of which"),
    *("Overload ", "With argument", "Rejected ", "No match", "TypingError:", "Return of: "),
)
_LISTING = ("raised from", "def ", "@")  # from here on, Numba shows source
_WAY_OUT = (
    "Way out: write it with scalar operations, loops or functions that numbad differentiates, give "
    "it a rule (nd.scalar_rule, nd.rule), or keep it out of the derivative with nd.stop_gradient."
)
_ARRAYS_MEET = re.compile(
    r"(?:Cannot unify|Can't unify return type) (?=.*array\(float)(?=.*array\(differentiated)"
)
_COPY = (
    "Way out: copy the array of constants ({}), so that derivatives have "
    'a place in it, or differentiate in reverse mode (mode="reverse", nd.vjp).'
)
_WALKED = re.compile(
    r"(?:getiter|getitem|zip|enumerate).*Tuple\((?=.*array\(float)(?=.*array\(differentiated)",
    re.DOTALL,
)
_NOT_WRITTEN_TO = (
    "Way out: do not write to the arrays of a tuple that is walked, or picked from by a number, where some "
    'are constants; or differentiate in reverse mode (mode="reverse", nd.vjp).'
)
_ASSIGNED = "y = y0.copy() in place of y = y0"
_RETURNED = "return y0.copy() in place of return y0"
_NUMBA = os.path.join(os.path.dirname(numba.__file__), "")
_BY_NAME = "Way out: call it by its name, or keep it out of the derivative with nd.stop_gradient."
_MADE_HERE = "Way out: make the list or dictionary in the function."


@contextmanager
def refusing(py_func, dispatcher=None, generated=False):
    """Raise what goes wrong while `py_func` is compiled as an error that a user can act on.

    An error of numbad's own loses what Numba wraps round it on the way out of nested compilations.
    `dispatcher` is what compiles; where its code is `generated` by numbad, the fault is numbad's.
    """
    try:
        yield
    except (MemoryError, CacheWarning):  # which is an error where the user's filters say so
        raise
    except Exception as error:
        refusal = _refusal(py_func, list(_chain(error)), generated)
        _latest().append(refusal)
        if dispatcher is not None:
            _remember(dispatcher, error, refusal)
        raise refusal from refusal.__cause__


def refused_call(construct, fn, way_out):
    """The UnsupportedError for the call of `fn` that Numba types at this moment."""
    loc = errors.loc_info.get("loc")
    if loc is None or loc.filename.startswith("<"):  # in code that numbad wrote
        own = getattr(fn, "py_func", fn)
        loc = place_of_def(own) if hasattr(own, "__code__") else None
    return refused_at(loc, construct, way_out)


def refused_at(loc, construct, way_out):
    """The UnsupportedError for a construct at a place in the user's code."""
    return told(
        UnsupportedError(
            f"forward mode cannot differentiate {construct}: {place(loc)}\nWay out: {way_out}."
        )
    )


def told(error):
    """The error, kept to be found again: out of nested compilations, Numba passes on its text alone."""
    _latest().append(error)
    return error


def _latest():
    if not hasattr(_LATEST, "errors"):
        _LATEST.errors = deque(maxlen=_KEPT)
    return _LATEST.errors


def _remember(dispatcher, error, refusal):
    """Let Numba, which raises a failure again where it meets the types again, raise the refusal."""
    failed = dispatcher._compiler._failed_cache
    failed.update({key: refusal for key, known in failed.items() if known is error})


def told_before(error):
    """The refusal whose text an error of Numba's passes on, or None."""
    text = str(error)
    for refusal in reversed(_latest()):
        if refusal.plain_message.partition("\n")[0] in text:
            return refusal
    return None


def _refusal(py_func, causes, generated):
    found = next((c for c in causes if isinstance(c, NumbadError)), None)
    found = found or next(filter(None, map(told_before, causes)), None)
    if found is not None:
        refusal = type(found)(found.plain_message)
        refusal.__cause__ = found.__cause__
        return refusal
    warned = next((c for c in causes if isinstance(c, NumbadWarning)), None)
    if warned is not None:  # the user's filters make errors of warnings
        return UnsupportedError(str(warned))
    not_compiled = partial(_not_compiled, py_func)
    for known in (not_compiled, _asked_as_literal, _called_by_address, _array_kept):
        refusal = next(filter(None, map(known, causes)), None)
        if refusal is not None:
            return refusal
    where = _place(py_func, causes)
    for cause in causes:
        if isinstance(cause, errors.NumbaError) and (way_out := way_out_of(str(cause))):
            told = _in_words(_reason([cause]))
            return UnsupportedError(
                f"Numba does not compile this: {place(where)}\n{told}\nWay out: {way_out}."
            )
    if _is_defect(causes, generated):
        return defect(py_func.__name__, where, causes[0], _in_words(_reason(causes)))
    reason = _in_words(_reason(causes))
    way_out = _WAY_OUT
    if _ARRAYS_MEET.search(reason):
        way_out = _COPY.format(_RETURNED if "return type" in reason else _ASSIGNED)
    elif _WALKED.search(reason):
        way_out = _NOT_WRITTEN_TO
    return UnsupportedError(
        f"cannot differentiate {py_func.__name__}: {place(where)}\n{reason}\n{way_out}"
    )


def _not_compiled(py_func, cause):
    """The refusal of what Numba does not compile and tells by errors of other kinds, or None."""
    if isinstance(cause, errors.UnsupportedBytecodeError):
        told, _, at = str(cause).rpartition(". Raised from ")
        file, _, line = at.rstrip(")").rpartition(" (")
        begins = Loc(py_func.__code__.co_filename, line_of_def(py_func))
        where = Loc(file, int(line)) if line.isdigit() else begins
        way_out = "what Numba compiles: its reference manual lists the statements"
    elif isinstance(cause, AttributeError) and (asked := _asked_of_module(cause)):
        told, where, way_out = cause, asked[0], "a name that the module has"
    else:
        return None
    return UnsupportedError(
        f"cannot differentiate what Numba does not compile: {place(where)}\n{told}\nWay out: {way_out}."
    )


def _asked_as_literal(cause):
    """The refusal of an argument whose value Numba asks for, which is not in the code, or None."""
    if not isinstance(cause, errors.ForceLiteralArg):
        return None
    return UnsupportedError(
        f"forward mode cannot differentiate {LITERAL}: {place(cause.loc)}\nWay out: {OF_LITERAL}."
    )


def _asked_of_module(error):
    """`(place,)` of the user's code that asks a module for a name that it lacks, else ()."""
    frames = _frames(error)
    if not any(frame.f_code.co_name == "resolve_module_constants" for frame in frames):
        return ()
    return (_typed(frames),)


def _frames(error):
    return [frame for frame, _ in traceback.walk_tb(error.__traceback__)]


def _typed(frames):
    """The place of the user's code that Numba was typing in these frames, or None."""
    typed = (getattr(frame.f_locals.get("self"), "loc", None) for frame in reversed(frames))
    places = (loc for loc in typed if isinstance(loc, Loc))
    return next((loc for loc in places if not loc.filename.startswith(_NUMBA)), None)


def _called_by_address(cause):
    """The refusal of the call of a function of which compiled code knows the address alone, or None.

    Its type says so by a ValueError, where what it is given is a dual number.
    """
    frames = _frames(cause) if isinstance(cause, ValueError) else ()
    if not frames or frames[-1].f_code is not FunctionType.get_call_type.__code__:
        return None
    return UnsupportedError(
        "forward mode cannot differentiate a function that is known by its address alone: "
        f"{place(_typed(frames))}\n{_BY_NAME}"
    )


def _array_kept(cause):
    """The refusal of an array of duals that is put into an argument's list or dictionary, or None.

    Numba's code for these finds no conversion to their arrays only when it is written out.
    """
    frames = _frames(cause) if isinstance(cause, AssertionError) else ()
    if not frames or frames[-1].f_code is not array_to_array.__code__:
        return None
    if not any(duals_in(frames[-1].f_locals["fromty"])):
        return None
    return UnsupportedError(
        "forward mode cannot differentiate a differentiated array that is put into a list or dictionary of "
        f"arrays of constants, an argument: {place(_typed(frames))}\n{_MADE_HERE}"
    )


def _is_defect(causes, generated):
    """Whether code of numbad's failed, rather than Numba on code of the user's."""
    if any(getattr(cause, "of_the_primal", False) for cause in causes):
        return False
    return generated or not any(isinstance(cause, errors.NumbaError) for cause in causes)


def _in_words(text):
    """The text with dual numbers called differentiated floats; one word serves for all levels."""
    found = 1
    while found:
        text, found = _DUAL.subn(r"differentiated \1", text)
    return readable(text)


def _chain(error):
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _place(py_func, causes):
    """The place of the deepest cause that is known or in the function's file, else its `def`."""
    code = py_func.__code__
    for cause in reversed(causes):
        loc = getattr(cause, "loc", None)
        if loc and loc.line and (isinstance(loc, Place) or loc.filename == code.co_filename):
            return Place.of(loc)
    return place_of_def(py_func)


def place_of_def(py_func):
    return Place(py_func.__code__.co_filename, line_of_def(py_func))


def reason(error):
    """What Numba says in an error, in a few lines."""
    return _in_words(_reason([error]))


def _reason(causes):
    """Numba's own message, without colour and without its long tail."""
    for cause in causes:
        if isinstance(cause, errors.NumbaError):
            text = _COLOUR.sub("", str(cause))
            lines = [t.rstrip() for t in text.splitlines() if t.strip()]
            told = itertools.takewhile(lambda t: not t.lstrip().startswith(_LISTING), lines)
            return "\n".join([t for t in told if not t.lstrip(" -").startswith(_NOISE)][:6])
    return f"{type(causes[0]).__name__}: {causes[0]}"
