"""What numbad has in place of functions of SciPy, and of its own for Python, in compiled code."""

import re

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
_CALL = re.compile(r"(?:(\w+)\.)?(\w+)\(")
_MARKED = re.compile(r"^(.*)\n *\^", re.MULTILINE)


def of_attribute(text):
    """The way out of what Numba says of a module's function that it has no code for."""
    found = _ATTRIBUTE.search(text)
    return found and _OF_MODULES.get(found[2], {}).get(found[1])


def of_call(text):
    """The way out where a function is handed to one of SciPy's in the line that Numba shows, else None."""
    for line in _MARKED.findall(text):
        for module, name in _CALL.findall(line):
            instead = _SDE if (module, name) == ("sde", "solver") else _BY_NAME.get(name)
            if instead is not None and module not in ("nd", "numbad"):
                return f"in place of {name}, if that is SciPy's or numbad's, {instead}"
    return None


def of_capture(text):
    """The same where the function that is handed over has values from around it."""
    return of_call(text) if "in a function that may escape" in text else None
