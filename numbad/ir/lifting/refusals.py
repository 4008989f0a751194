"""What closures must not do where they are handed to operators in compiled code."""

from inspect import CO_VARARGS, CO_VARKEYWORDS

from numba.core import ir

from ...errors import UnsupportedError
from ..fence import place
from .appended_arguments import by_name
from .cells import assigned_within, lost_by_calls
from .function_meaning import Applied, Closure, innermost, is_temporary

_STARRED = CO_VARARGS | CO_VARKEYWORDS
_CHANGES = "captures '{}', which may be assigned again after the function is made"
_CHANGES_WITHIN = "has one within it that captures '{}', which may be assigned again after that"
_NEW_NAME = "give what is captured a name that is assigned once"


def refusal(meaning, told, loc, way_out):
    """The error for a function that is handed to an operator."""
    return UnsupportedError(
        f"'{innermost(meaning).name}', given to an operator in compiled code, {told}: {place(loc)}\n"
        f"Way out: {way_out}, or make what is captured an argument."
    )


def unknown_option(functional, name, loc):
    return UnsupportedError(
        f"{functional.name} in compiled code needs its option '{name}' when the code is compiled: "
        f"{place(loc)}\nWay out: write the value in the call, or make it a global variable."
    )


def handed_on(functional, names, loc):
    """The error where an operator's result is not called."""
    captured = ", ".join(f"'{name}'" for name in names)
    return UnsupportedError(
        f"{functional.name} is given a function that captures {captured}, and its result is not called "
        f"there, but passed on: {place(loc)}\nWay out: call it in the function that makes it, or "
        "make what is captured an argument."
    )


def closures_in(meaning):
    """A closure, and those that it captures."""
    if isinstance(meaning, Closure):
        yield meaning
    for part in getattr(meaning, "parts", ()):
        yield from closures_in(part)


def check_code(meaning, in_place):
    """Raise for what lifted code cannot do; `in_place`: where Numba puts it in place of a call."""
    for closure in closures_in(meaning):
        code, loc = closure.code, closure.statement.loc
        if code.co_flags & _STARRED or code.co_kwonlyargcount:
            told = "takes '*args', or arguments by name alone"
            raise refusal(closure, told, loc, "give its arguments names")
        if assigned := assigned_within(code):
            told = f"assigns to '{min(assigned)}' (nonlocal)"
            raise refusal(closure, told, loc, "return the value")
        if in_place and (name := lost_by_calls(code)) is not None:
            raise refusal(closure, _CHANGES_WITHIN.format(name), loc, _NEW_NAME)


def check_values(meaning, var):
    """Raise where what a closure sees of a variable may be old; it is not if called where it is made.

    `var` is the variable that holds the function where it is called.
    """
    at_once, found = is_temporary(var), meaning
    while isinstance(found, Applied):
        functional, expr = found.functional, found.statement.value
        at_once &= is_temporary(by_name(functional.parameters, expr)[functional.parameters[0]])
        found = found.function
    for closure in closures_in(meaning):
        if closure.lost is not None and not (at_once and closure is found):
            told = _CHANGES.format(closure.lost)
            raise refusal(closure, told, closure.statement.loc, _NEW_NAME)


def check_single(functional, var, meanings, loc):
    """Raise where a variable holds one closure or another."""
    places = meanings.defined.get(var.name, ())
    made = [(meanings.statement(where).value, where) for where in places]
    made = [meanings.of(v, where) if isinstance(v, ir.Var) else v for v, where in made]
    if len(made) > 1 and any(map(_captures, made)):
        raise UnsupportedError(
            f"{functional.name} is given a function that is chosen at run time, and one of the choices "
            f"captures variables: {place(loc)}\nWay out: call {functional.name} in each branch."
        )


def _captures(value):
    if isinstance(value, ir.Expr):
        return value.op == "make_function" and value.closure is not None
    return isinstance(value, Closure) and bool(value.cells)
