"""Numba's errors about a user's function, shortened, with the user's line."""

import linecache

from numbad.errors import ModelError
from numbad.forward.refuse import _chain, _place, _reason


def cannot_compile(fun, given, error):
    """The ModelError for a right-hand side that does not compile for arguments of given types."""
    causes = list(_chain(error))
    file, line = _place(fun.py_func, causes)
    source = linecache.getline(file, line).strip()
    shown = f"\n    {source}" if source else ""
    arguments = ", ".join(str(ty) for ty in given)
    return ModelError(
        f"Numba cannot compile {fun.py_func.__name__}({arguments}): "
        f'File "{file}", line {line}:{shown}\n{_reason(causes)}'
    )
