"""What numbad has in place of functions of SciPy, and of its own for Python, in compiled code."""

import os
import re
import sys
from types import ModuleType

_ODE = (
    "nd.ode.solver: write solve = nd.ode.solver(fun) before the function, solve(y0, ts, args) in it"
)
_SDE = "a solver made before the function, which may then call solve(y0, ts, args, key)"
_FIT = "an nd.ode.solver and a loss of your own: fits are run from Python"

# By module, so that a function of the user's that is called `root` is told apart where it can be.
_OF_MODULES = {
    "scipy.integrate": {
        **dict.fromkeys(("solve_ivp", "odeint", "ode", "RK45", "Radau", "BDF", "LSODA"), _ODE),
        **dict.fromkeys(("quad", "quad_vec", "romberg", "fixed_quad"), "nd.quad"),
        **dict.fromkeys(("dblquad", "nquad"), "nd.quad of a function that calls nd.quad"),
    },
    "scipy.optimize": {
        **dict.fromkeys(
            ("root", "root_scalar", "fsolve", "newton", "brentq", "bisect", "toms748"), "nd.root"
        ),
        "fixed_point": "nd.fixed_point",
        "minimize": "nd.minimize",
        "minimize_scalar": "nd.minimize_scalar",
        "least_squares": "nd.minimize of the sum of squares",
        "curve_fit": "nd.minimize of the sum of squares",
    },
    "numbad.ode": {"solve_ivp": _ODE},
    "numbad.sde": {"solver": _SDE},
    "numbad.fit": {"fit_ode": _FIT, "fit_sde": _FIT},
}
_BY_NAME = {
    name: way_out
    for module, functions in _OF_MODULES.items()
    if module.startswith("scipy")
    for name, way_out in functions.items()
}
_ATTRIBUTE = re.compile(r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'")
_CALL = re.compile(r"([\w.]+)\(")
_FILE = re.compile(r'^File "([^"]+)", line \d+', re.MULTILINE)
_MARKED = re.compile(r"^(.*)\n *\^", re.MULTILINE)


def of_attribute(text):
    """The way out of what Numba says of a module's function that it has no code for."""
    found = _ATTRIBUTE.search(text)
    return found and _OF_MODULES.get(found[2], {}).get(found[1])


def of_call(text):
    """The way out where a function is handed to one of SciPy's in the line that Numba shows, else None."""
    names = _names_in_file(text)
    for line in _MARKED.findall(text):
        for called in _CALL.findall(line):
            found = _of_name(called.split("."), names)
            if found is not None:
                return found
    return None


def _of_name(path, names):
    """The way out for a call of `path`, such as ["optimize", "root"], in a file whose names are given."""
    if path[0] not in names:  # a name of a function's own
        if path[:-1] in (["nd"], ["numbad"]):
            return None
        instead = _SDE if path[-2:] == ["sde", "solver"] else _BY_NAME.get(path[-1])
        return instead and f"in place of {path[-1]}, if that is SciPy's or numbad's, {instead}"
    meant = names[path[0]]
    for name in path[1:]:
        meant = getattr(meant, name, None) if isinstance(meant, ModuleType) else None
    home, name = getattr(meant, "__module__", None) or "", getattr(meant, "__name__", None)
    if home.startswith("scipy."):
        instead = _BY_NAME.get(name)
        return instead and f"in place of SciPy's {name}, {instead}"
    ways_out = (ways for module, ways in _OF_MODULES.items() if home.startswith(module))
    instead = next(ways_out, {}).get(name)
    return instead and f"in place of numbad's {name}, {instead}"


def _names_in_file(text):
    """What the names of the module mean whose file Numba names; those of `__main__` for a notebook's cell."""
    files = {os.path.abspath(file) for file in _FILE.findall(text)}
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get("__file__") in files:
            return vars(module)
    return vars(sys.modules["__main__"])


def of_capture(text):
    """The same where the function that is handed over has values from around it."""
    return of_call(text) if "in a function that may escape" in text else None
