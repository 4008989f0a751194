"""What Numba says of the user's function itself, with a way out where numbad knows one."""

import re

_GLOBAL = re.compile(
    r"Untyped global name '(\w+)'.*Cannot determine Numba type of <class '([\w.]+)'>"
)
_LIST = re.compile(r"The use of a reflected list\S* type, assigned to variable '(\w+)' in globals")
_ATTRIBUTE = re.compile(r"Unknown attribute '(\w+)' of type Module\(<module 'scipy\.special")
_KNOWN = "numbers, arrays, tuples and compiled functions"


def with_way_out(error):
    """The error, its message with a last line on what to do."""
    way_out = next(
        filter(None, (tell(str(error)) for tell in (_of_global, _of_list, _of_scipy))), None
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
