"""Lines at which functions that a solver was given switch when the time passes one of their arguments.

The solver notes them, and the user is warned once such a line is differentiated by that argument: derivatives
leave out that the switch moves.
"""

from weakref import WeakKeyDictionary

from numba.core import ir

from ..compilation.notices import warn_once
from .function import is_expr, operands

_lines = WeakKeyDictionary()  # code of a function that was given -> (file, line) -> what to tell


def note_switches(function, places):
    """Note lines of a Python function, or of those that it calls: pairs of a place and what to tell."""
    found = {(loc.filename, loc.line): text for loc, text in places}
    if found:
        _lines.setdefault(function.__code__, {}).update(found)


def warn_of_switches(blocks, is_varied):
    """Warn once of each such line that reads something differentiated for what has no derivative."""
    texts = {place: text for found in list(_lines.values()) for place, text in found.items()}
    if not texts:
        return
    for block in blocks.values():
        for s in block.find_insts(ir.Assign):
            text = texts.get((s.loc.filename, s.loc.line))
            if text is None or is_varied(s.target.name) or not _computes(s.value):
                continue
            if any(is_varied(v.name) for v in operands(s.value) if isinstance(v, ir.Var)):
                warn_once(text, s.loc)


def _computes(value):
    return is_expr(value, "binop", "inplace_binop", "call")
