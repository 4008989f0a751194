"""The drift and the diffusion as a user gives them."""

from numbad.ode.compiling import as_dispatcher
from numbad.ode.jumps import note_of_times
from numbad.ode.known_switches import known_switches


def as_model(drift, diffusion):
    """Both as dispatchers; ArgumentError for what is no function."""
    functions = as_dispatcher(drift, "drift"), as_dispatcher(diffusion, "diffusion")
    note_times(functions, ())
    return functions


def note_times(functions, events):
    """Note where functions compare the time with an argument and events do not tell of that."""
    known = known_switches(events)
    for function in functions:
        note_of_times(function, known)
