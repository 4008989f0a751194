"""Names of compiled functions that no other process gives.

Numba tells two functions of one name and types apart by a number that starts at 1 in each process.
Code from two processes that meet in a third, out of a cache, would be confused by the linker: the
same name, other code. So the count starts elsewhere in every process, and forked children start anew.
"""

import os
import re
from itertools import count

from numba.core.bytecode import FunctionIdentity

_NUMBERED = re.compile(r"B(\d+)v(\d+)")
_LEAST = 2**40  # whatever was compiled before this module was imported has smaller numbers

_DIGITS = (
    10**18
)  # all have as many digits, so that one can take the place of another in LLVM's texts

_GENERATED = ("__numba_", "jitclass")  # what Numba writes for the user's code


def _start():
    first = _DIGITS + int.from_bytes(os.urandom(6), "little") * 2**12
    FunctionIdentity._unique_ids = count(first)


_start()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start)


class Renumbering:
    """A function that gives names, and texts, with the number of one function that of another."""

    def __init__(self, before, number):
        self.number = number
        self._before, self._after = _tag(before), _tag(number)

    def __call__(self, text):
        return text.replace(self._before, self._after)


def _tag(number):
    return f"B{len(str(number)) + 1}v{number}"


def are_unique(code):
    """Whether no function in an LLVM module has a name that another process may give to other code."""
    return not any(_is_ambiguous(f.name) for f in code.functions if not f.is_declaration)


def _is_ambiguous(name):
    if name.startswith("_ZN5numba") and not any(kind in name for kind in _GENERATED):
        return False  # Numba's own implementations: the types of their arguments say all
    numbers = (int(n) for length, n in _NUMBERED.findall(name) if int(length) == len(n) + 1)
    return any(number < _LEAST for number in numbers)
