"""Numba's errors about a user's function, shortened, with the user's line."""

import inspect
import linecache
import re

from numba.core import errors, types

from numbad.errors import ModelError, NumbadError
from numbad.ir.mixed_lists import in_words
from numbad.ir.ways_out import way_out_of

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_HEADING = "Failed in nopython mode pipeline"
_TAIL = ("During: ", 'File "', "There are ", "<source elided>")
_LONGEST = 4

CANNOT_COMPILE = "Numba cannot compile"  # how the message begins


IN_PLACE = "to write the result into an argument, as fun(t, y, dy, *args), set inplace=True"


def returned_type(typingctx, fun, given, called=None, hint=""):
    """The type that a user's function returns for arguments of given types.

    Raises ModelError, in the user's terms, where it does not compile. `called` is the dispatcher that is
    called in its place, if there is one; `hint` is told where one argument is missing.
    """
    try:
        resolved = typingctx.resolve_function_type(types.Dispatcher(called or fun), given, {})
    except NumbadError:
        raise
    except (errors.NumbaError, errors.UnsupportedBytecodeError, TypeError) as error:
        raise cannot_compile(fun, given, error, hint) from error
    except AssertionError as error:
        known = in_words(error)
        raise (error if known is error else cannot_compile(fun, given, known)) from None
    return resolved.return_type


def cannot_compile(fun, given, error, hint=""):
    """The ModelError for a right-hand side that does not compile for arguments of given types."""
    given = list(given)
    causes = list(_causes(error))
    file, line = _place(fun.py_func.__code__, causes)
    source = linecache.getline(file, line).strip()
    shown = f"\n    {source}" if source else ""
    arguments = ", ".join(str(ty) for ty in given)
    way_out = next(filter(None, (way_out_of(str(cause)) for cause in causes)), None)
    ending = f"\nWay out: {way_out}" if way_out else ""
    return ModelError(
        f"{CANNOT_COMPILE} {fun.py_func.__name__}({arguments}): "
        f'File "{file}", line {line}:{shown}\n{_miscounted(fun.py_func, given, hint) or _reason(error)}'
        f"{_list_among(given)}{ending}"
    )


def _list_among(given):
    """What to say where an argument is a list."""
    if not any(isinstance(ty, types.List | types.ListType) for ty in given):
        return ""
    return (
        "\nA list is one argument: args=tuple(...) hands over its items as arguments of their own, and "
        "args=(np.array(...),) an array of them"
    )


def _miscounted(function, given, hint):
    """What to say where the arguments are not as many as the parameters, else an empty text."""
    signature = inspect.signature(function)
    try:
        signature.bind(*given)
    except TypeError as error:
        name = function.__name__
        return (
            f"{name}{signature} is called with {len(given)} arguments: {error}\n"
            f"Each item of args is an argument of its own: args=(a, b) calls {name}(..., a, b), "
            "and args=(p,) hands over one tuple or array p"
            f"{f'; {hint}' if hint and len(signature.parameters) == len(given) + 1 else ''}"
        )
    return ""


def _causes(error):
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _place(code, causes):
    """The file and line that the innermost error about the function's own file names."""
    for cause in reversed(causes):
        loc = getattr(cause, "loc", None)
        if isinstance(cause, errors.NumbaError) and loc and loc.filename == code.co_filename:
            return loc.filename, loc.line
    return code.co_filename, code.co_firstlineno


def _reason(error):
    """The first lines of a message, up to where Numba starts to tell where it came from."""
    kept = []
    for line in _COLOUR.sub("", str(error)).splitlines():
        text = line.strip()
        if text.startswith(_TAIL):
            break
        if text and not text.startswith(_HEADING):
            kept.append(text.removeprefix(">>> "))
    return "\n".join(kept[:_LONGEST]) or type(error).__name__
