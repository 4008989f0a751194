"""Users' functions take the time first, as for `scipy.integrate.solve_ivp`; `odeint` has it second."""

from numbad.errors import ModelError
from numbad.operators.operator_dispatcher import parameter_names

_TIME_FIRST = ("fun", "drift", "diffusion", "condition", "change", "rate")
_STATES = ("y", "x", "u", "z", "s", "state")


def refuse_time_second(function, name):
    """Raise ModelError for a function of (t, y, ...) whose parameters are named (y, t, ...)."""
    given = parameter_names(function)
    if name not in _TIME_FIRST or given[1:2] != ["t"] or given[0].lower() not in _STATES:
        return
    state, _, *others = given
    turned = ", ".join(["t", state, *others])
    raise ModelError(
        f"{name} is called with the time first, and {function.__name__} has the parameters "
        f"({', '.join(given)}), as scipy.integrate.odeint has them. Way out: ({turned}); if {state} is the "
        "time, another name for it"
    )
