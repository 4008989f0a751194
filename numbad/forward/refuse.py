"""Turns what Numba says of code that does not compile for dual numbers into a refusal.

The refusal names the construct, the file, the line, the source line itself, and the way out.
"""

import itertools
import linecache
import re
import threading
from contextlib import contextmanager

from numba.core import errors

from ..errors import NumbadError, UnsupportedError

_LATEST = threading.local()  # the last refusal of a nested compilation
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_DUAL = re.compile(r"Dual\((?:differentiated )?(\w+), \d+, \d+\)")
_NOISE = (
    *("During: ", "File ", "<source", "Failed in nopython", "There are", "Of which"),
    *("Overload ", "With argument", "Rejected ", "No match", "TypingError:"),
)
_LISTING = ("raised from", "def ", "@")  # from here on, Numba shows source
_WAY_OUT = (
    "Way out: write it with scalar operations, loops or functions that numbad differentiates, give "
    "it a rule (nd.scalar_rule, nd.rule), or keep it out of the derivative with nd.stop_gradient."
)


@contextmanager
def refusing(py_func):
    """Raise what goes wrong while `py_func` is compiled as an error that a user can act on.

    An error of numbad's own loses what Numba wraps round it on the way out of nested compilations.
    """
    try:
        yield
    except Exception as error:
        _LATEST.error = _refusal(py_func, list(_chain(error)))
        raise _LATEST.error from None


def _refusal(py_func, causes):
    latest = getattr(_LATEST, "error", None)
    if latest is not None:
        opening = latest.plain_message.partition("\n")[0]
        if any(opening in str(cause) for cause in causes):  # Numba passed on its text alone
            causes.append(latest)
    for cause in causes:
        if isinstance(cause, NumbadError):
            return type(cause)(cause.plain_message)
    file, line = _place(py_func, causes)
    source = linecache.getline(file, line).strip()
    shown = f"\n    {source}" if source else ""
    return UnsupportedError(
        f'cannot differentiate {py_func.__name__}: File "{file}", line {line}:{shown}\n'
        f"{_in_words(_reason(causes))}\n{_WAY_OUT}"
    )


def _in_words(text):
    """The text with dual numbers called differentiated floats; one word serves for all levels."""
    found = 1
    while found:
        text, found = _DUAL.subn(r"differentiated \1", text)
    return text


def _chain(error):
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _place(py_func, causes):
    """The file and line of the deepest cause within the function's own file, else its first line."""
    code = py_func.__code__
    for cause in reversed(causes):
        loc = getattr(cause, "loc", None)
        if loc is not None and loc.filename == code.co_filename and loc.line:
            return loc.filename, loc.line
    return code.co_filename, code.co_firstlineno


def _reason(causes):
    """Numba's own message, without colour and without its long tail."""
    for cause in causes:
        if isinstance(cause, errors.NumbaError):
            text = _COLOUR.sub("", str(cause))
            lines = [t.rstrip() for t in text.splitlines() if t.strip()]
            told = itertools.takewhile(lambda t: not t.lstrip().startswith(_LISTING), lines)
            return "\n".join([t for t in told if not t.lstrip(" -").startswith(_NOISE)][:6])
    return f"{type(causes[0]).__name__}: {causes[0]}"
