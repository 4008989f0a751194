"""What Numba says of the user's function itself, with a way out where numbad knows one."""

import re

from numba.core import types

from ..errors import ArgumentError
from .describe import describe, hint, of_lists

_GLOBAL = re.compile(
    r"Untyped global name '(\w+)'.*Cannot determine Numba type of <class '([\w.]+)'>"
)
_LIST = re.compile(r"The use of a reflected list\S* type, assigned to variable '(\w+)' in globals")
_ATTRIBUTE = re.compile(r"Unknown attribute '(\w+)' of type Module\(<module 'scipy\.special")
_GENERATOR = re.compile(r"(?:global|freevar)\((\w+): Generator\(")
_OTHERS = (
    (
        "The use of yield in a closure is unsupported",
        "a list comprehension in place of the generator expression: sum([... for ...])",
    ),
    (
        "Exception matching is limited to",
        "`except Exception:` or `except:`, since Numba knows no other class there, or an `if`",
    ),
)
_KNOWN = "numbers, arrays, tuples and compiled functions"


def with_way_out(error):
    """The error, its message with a last line on what to do."""
    way_out = next(
        filter(
            None,
            (
                tell(str(error))
                for tell in (_of_global, _of_list, _of_scipy, _of_generator, _of_statement)
            ),
        ),
        None,
    )
    if way_out is not None:
        error.patch_message(f"{str(error).rstrip()}\n\nWay out: {way_out}.")
    return error


def _of_global(text):
    found = _GLOBAL.search(text)
    if found is None:
        return None
    name, kind = found.groups()
    if kind == "function":
        return f"compile it too: write @numba.njit above its definition, or {name} = numba.njit({name})"
    made = f"{name}.to_numpy()" if kind.startswith("pandas.") else "the numbers that you need of it"
    return f"Numba takes {_KNOWN} as globals: pass {made} as an argument, or make it a global"


def _of_list(text):
    found = _LIST.search(text)
    return found and f"make it an array, {found[1]} = np.array({found[1]}), or a tuple"


def _of_scipy(text):
    found = _ATTRIBUTE.search(text)
    return (
        found
        and f"the functions of nd.special, whose documentation lists them; {found[1]} is not among them"
    )


def _of_generator(text):
    found = _GENERATOR.search(text)
    return found and (
        f"Numba takes a np.random.Generator from Python as an argument alone: pass {found[1]} as an argument"
    )


def _of_statement(text):
    return next((way_out for said, way_out in _OTHERS if said in text), None)


def without_code(text):
    """Whether a text is what Numba says where it has no code for a value or a function of certain types."""
    return "OverloadSelector object at" in text


def refuse_untyped(function, names, tys):
    """ArgumentError where an argument of a function is nothing that Numba takes from Python."""
    for name, ty in zip(names, tys, strict=False):
        nested = of_lists(ty) and getattr(ty, "reflected", False)
        if nested or isinstance(getattr(ty, "dtype", ty), types.PyObject):
            raise ArgumentError(
                f"argument '{name}' of {function} is {describe(ty)}, which compiled code does not "
                f"take{hint(ty)}"
            )
