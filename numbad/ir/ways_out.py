"""What to do about what Numba says of code that it does not compile."""

import re

from . import counterparts

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

LITERAL = "an argument that Numba must know as a literal"
OF_LITERAL = "write the value in the code, or make it a global variable"


def way_out_of(text):
    """The way out of what Numba says, without a full stop, where numbad knows one; else None."""
    tells = (
        _of_global,
        _of_list,
        counterparts.of_attribute,
        counterparts.of_capture,
        _of_special,
        _of_generator,
        _of_statement,
    )
    return next(filter(None, (tell(text) for tell in tells)), None)


def _of_global(text):
    found = _GLOBAL.search(text)
    if found is None:
        return None
    name, kind = found.groups()
    if kind == "function":
        return counterparts.of_call(text) or (
            f"compile it too: write @numba.njit above its definition, or {name} = numba.njit({name})"
        )
    if kind.startswith("scipy.interpolate."):
        return f"np.interp, or a loop over the arrays that it is made of, of a spline {name}.x and {name}.c"
    made = f"{name}.to_numpy()" if kind.startswith("pandas.") else "the numbers that you need of it"
    return f"Numba takes {_KNOWN} as globals: pass {made} as an argument, or make it a global"


def _of_list(text):
    found = _LIST.search(text)
    return found and f"make it an array, {found[1]} = np.array({found[1]}), or a tuple"


def _of_special(text):
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
