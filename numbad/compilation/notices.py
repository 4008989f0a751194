"""Warnings about a user's code, told once, and again where the compiled code comes from the disk."""

import sys
import warnings

from numba.core.ir import Loc

from ..errors import ControlDependenceWarning

_told = set()

_since = []
"""All that there was to tell while functions were being compiled: (text, file, line, category)."""

_OWN = "numba", "numbad"


def warn_once(text, loc, category=ControlDependenceWarning):
    """Once as long as the filters say so; Python itself forgets what it told when any filter changes."""
    _since.append((text, loc.filename, loc.line, category))
    _tell(*_since[-1])


def users_line():
    """The line of the user's that what is being compiled is called from."""
    frame = sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _OWN:
        frame = frame.f_back
    return Loc(frame.f_code.co_filename, frame.f_lineno)


def _tell(text, file, line, category=ControlDependenceWarning):
    key = text, category, line
    if (file, key) not in _told:
        registry = {}
        warnings.warn_explicit(text, category, file, line, registry=registry)
        if key in registry:
            _told.add((file, key))


def mark():
    """A moment, for `since`."""
    return len(_since)


def since(moment):
    """What there was to tell since then, each once."""
    return list(dict.fromkeys(_since[moment:]))


def tell_again(found):
    """Tell what `since` had found when code was compiled that is now loaded."""
    for each in found:
        _since.append(each)  # whoever loads it may be compiled, and kept, in turn
        _tell(*each)
