"""Which states are solved in another form than that of `y0`, and the solver for them."""

import numpy as np

from numbad.ode.complex_states import complex_form, is_complex_state, settings_of_parts
from numbad.ode.events import event
from numbad.ode.matrix_states import is_matrix, matrix_form
from numbad.ode.state_forms import solver_of_form, translated

CONTINUOUS = ("interpolating", "gauss", "quadrature", "backsolve")  # adjoints that are integrated


def has_other_form(y0, problem):
    """Whether a state of a type is one that `of_other_form` solves for.

    Implicit methods need a Jacobian by the parts of complex numbers, continuous adjoints integrate those, and
    sensitivities are by them.
    """
    own = not problem.tableau.is_implicit and problem.adjoint in ("auto", "discrete")
    return is_matrix(y0) or (is_complex_state(y0) and not own)


def of_other_form(build, problem, settings, events, argtypes, keeps=False):
    """The jitted `solve(y0, ts, args)` for an initial state of another form, of types without duals.

    `build(problem, settings, events)` is the solver for the form that it takes; `keeps`, whether it returns
    events.
    """
    y0, own = argtypes[0], settings
    if is_matrix(y0):
        form = matrix_form(y0)
    else:
        form, own = complex_form(y0, problem.inplace), settings_of_parts(settings)

    def build_for(changed, events):
        return build(changed, own, events)

    return solver_of_form(form, build_for, problem, events, keeps, argtypes)


def is_solved_by_parts(y0, tableau):
    """Whether an array is a complex state, of which a method takes the real and imaginary parts."""
    return np.iscomplexobj(y0) and tableau.is_implicit


def by_parts(problem, settings, conditions, y0, args):
    """The problem, settings and conditions of events for the parts of a complex state, of given types."""
    events = tuple(map(event, conditions))
    problem, events = translated(complex_form(y0, False), problem, events, y0, args)
    return problem, settings_of_parts(settings), tuple(each.condition for each in events)
