"""Warnings about a user's code, told once, and again where the compiled code comes from the disk."""

import warnings

from ..errors import ControlDependenceWarning

_told = set()

_since = []
"""All that there was to tell while functions were being compiled, one after the other: (text, file, line)."""


def warn_once(text, loc):
    """Once as long as the filters say so; Python itself forgets what it told when any filter changes."""
    _since.append((text, loc.filename, loc.line))
    _tell(*_since[-1])


def _tell(text, file, line):
    key = text, ControlDependenceWarning, line
    if (file, key) not in _told:
        registry = {}
        warnings.warn_explicit(text, ControlDependenceWarning, file, line, registry=registry)
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
